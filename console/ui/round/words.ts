const CHAINS: Record<string, string> = {
  REQUESTS_FILTER: 'checks the request',
  INTENT_CHECK: 'turns the request into conditions',
  PROMPT_COMPOSITOR: 'prepares the task',
  IAC_GENERATOR: 'writes the code',
  TARGET_GENERATOR: 'chooses the targets',
  REPORT_GENERATOR: 'writes the report',
  COMPLIANCE_CHECKER: 'audits the plan',
  TASK_SPLITTER: 'splits what differs into tasks',
  FILTER_DRIFT_EXCEPTIONS: 'sorts out exceptions',
  FILTER_RECONCILIATION: 'compares what is left',
  IMPORT_ADDRESSES: 'names the resources',
  IMPORT_FILTER: 'chooses what to import',
  PR_GENERATOR: 'words the pull request',
}

const TOOLS: Record<string, string> = {
  read_file: 'reads',
  list_dir: 'lists',
  bulk_grep_search: 'searches',
  diff_history: 'reads the history',
  resource_schema: 'reads a schema',
  web_search: 'searches the web',
  write_to_file: 'writes',
  replace_in_file: 'edits',
  delete_file: 'deletes',
  task_complete: 'is done',
}

const STEPS: Record<string, string> = {
  generate: 'Write',
  init: 'Prepare',
  validate: 'Validate',
  plan: 'Plan',
  show: 'Read plan',
  import: 'Import',
  check: 'Check',
  apply: 'Apply',
}

const plain = (name: string): string => name.toLowerCase().replaceAll('_', ' ')
const lookUp = (table: Record<string, string>, name: string): string =>
  Object.hasOwn(table, name) ? (table[name] as string) : plain(name)

/** What a chain does, after "the model". Unknown ones keep their own name. */
export const chainName = (chain: string): string => lookUp(CHAINS, chain)
/** What a tool does, in a word; null for one that only hands over an answer, or that is not known. */
export const toolVerb = (tool: string): string | null => (Object.hasOwn(TOOLS, tool) ? lookUp(TOOLS, tool) : null)
export const plainName = plain
export const stepName = (step: string): string => lookUp(STEPS, step)

const READING = new Set(['read_file', 'list_dir', 'bulk_grep_search', 'diff_history', 'resource_schema', 'web_search'])
export const isReading = (tool: string): boolean => READING.has(tool)
