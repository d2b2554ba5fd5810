import { itemsOf, type Json, memberOf, parseJson } from '../../../src/base/json.ts'
import { findBlock, headerOf, searchReplace, setAttribute, shownDiff, touches } from '../blocks.ts'
import {
  bulletsIn,
  type Conversation,
  call,
  complete,
  dataBlocks,
  jsonIn,
  oneCall,
  type Reply,
  readFiles,
  type Step,
} from '../conversation.ts'
import { selectResources } from './import.ts'

const operations = (list: string[], explanation: string): Reply =>
  oneCall('report_decomposed_task_operations', { operations: list, explanation })

/**
 * Answers splitter and filters, which share a result tool and differ in their data, their other tools and their rules.
 */
export function decompose(conversation: Conversation): Reply {
  const { tools, query, data, system, steps } = conversation
  const identifiers = dataBlocks(system).get('identifiers')
  if (identifiers !== undefined) {
    const { selected, explanation } = selectResources(identifiers, query)
    return operations(selected, explanation)
  }
  if (data.has('drift document')) return splitDrift(query)
  return tools.has('diff_history') || steps.length > 0
    ? dropOwnChanges(conversation)
    : operations([...numbered(query).keys()], '')
}

/** Describes each operation in words, followed by its values as JSON and by what the rules have the splitter say. */
function splitDrift(query: string): Reply {
  const list = itemsOf(jsonIn(query, '[')).map((entry) => {
    const [address, changes] = [String(memberOf(entry, 'address')), memberOf(entry, 'changes')]
    const values = changes === undefined ? '' : ` with ${JSON.stringify(changes)}`
    return `${address}: ${memberOf(entry, 'action')}${values}${address.endsWith(']') ? ONE_OF_SEVERAL : ''}`
  })
  return operations(list, 'One operation for each address.')
}

function dropOwnChanges(conversation: Conversation): Reply {
  const diff = shownDiff(conversation.data.get('branch diff'))
  const others = [...numbered(conversation.query)].filter(([, operation]) => !touches(diff, operation))
  const list = others.map(([number]) => number)
  return operations(list, 'Dropped what only undoes the changes of this session.')
}

/** Reads the operations of a filter, by number. */
function numbered(query: string): Map<string, string> {
  const entries = Object.entries((jsonIn(query, '{') ?? {}) as Record<string, Json>)
  return new Map(entries.map(([number, entry]) => [number, show(memberOf(entry, 'operation') ?? entry)]))
}

/** An operation as the splitter wrote it: address, action and values. */
interface Operation {
  address: string
  action: string
  changed: Record<string, { old_value: unknown; new_value: unknown }>
  /** True if something other than values has changed. */
  other: boolean
}

const ONE_OF_SEVERAL = ' (one instance of several: its key or number changes, and the block stays)'

const FORM = /^(\S+): (update|delete|create) resource(?: with (\{[\s\S]*\}))?(?: \(one instance of several: .*\))?$/

/** Reads the operations of a drift task; null if the query is none. */
export function driftTask(query: string): Operation[] | null {
  const entries = bulletsIn(query).map((entry) => FORM.exec(entry))
  if (entries.length === 0 || entries.some((entry) => entry === null)) return null
  return entries.map((entry) => {
    const [, address = '', action = '', json = '{}'] = entry ?? []
    const { changed = {}, ...rest } = (parseJson(json) ?? {}) as { changed?: Operation['changed'] }
    return { address, action, changed, other: action !== 'update' || Object.keys(rest).length > 0 }
  })
}

/** IAC_GENERATOR in drift rounds: finds the files, reads them and writes the values of the infrastructure. */
export function mendDrift(task: readonly Operation[], { steps }: Conversation): Reply {
  const headers = task.map(({ address }) => headerOf(address)).filter((header) => header !== null)
  if (steps.length === 0) return headers.length > 0 ? searchFor(headers) : notRecorded(task)
  const files = [
    ...new Set((steps[0]?.result.match(/^[^:\n]+\.tf(?=:\d+:)/gm) ?? []).filter((file) => !file.includes('/'))),
  ]
  if (steps.length === 1 && files.length > 0) return readFiles(files)
  if (steps.some((step) => step.name === 'replace_in_file')) return complete('done', summaryOf(task))
  const edits = files.flatMap((file) => editsOf(task, file, steps))
  return edits.length > 0 ? { calls: edits } : notRecorded(task)
}

const notRecorded = (task: readonly Operation[]): Reply =>
  complete(
    'not done',
    'The scripted model writes changed values into blocks of the root and nothing else: ' +
      `${task.map(({ address }) => address).join(', ')} is left as it is.`,
  )

const searchFor = (headers: readonly string[]): Reply =>
  oneCall('bulk_grep_search', {
    searches: headers.map((header) => ({
      query: `^${header.replace(/[{"]/g, '\\$&')}`,
      include_pattern: '*.tf',
      case_sensitive: true,
    })),
    explanation: 'To find the files of the operations.',
  })

/** Makes all edits of a file in one call. */
function editsOf(task: readonly Operation[], file: string, steps: readonly Step[]) {
  const text = steps.find((step) => step.name === 'read_file' && step.args.target_file === file)?.result ?? ''
  const replaced = task.flatMap((operation) => {
    const header = headerOf(operation.address)
    const block = header && findBlock(text, header)
    const mended = block && mendBlock(block, operation)
    return block && mended ? [searchReplace(block, mended)] : []
  })
  return replaced.length > 0 ? [call('replace_in_file', { target_file: file, diff: replaced.join('\n') })] : []
}

/** Writes every changed value into a block; null if one of them cannot be written. */
function mendBlock(block: string, { changed, other }: Operation): string | null {
  if (other) return null
  let text: string | null = block
  for (const [path, { old_value, new_value }] of Object.entries(changed))
    text = text && setAttribute(text, path, old_value, new_value)
  return text === block ? null : text
}

const summaryOf = (task: readonly Operation[]): string =>
  task
    .map(({ address, changed }) => {
      const values = Object.entries(changed).map(
        ([path, { old_value, new_value }]) => `${path} from ${show(old_value)} to ${show(new_value)}`,
      )
      return `${address}: ${values.join(', ')}, as it really runs.`
    })
    .join('\n')

const show = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
