import type { DriftReport } from '../../../src/reports/schemas.ts'
import { type Reply, type Script, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import { textsOf } from './artifacts.ts'
import { accept, done, operations, type Scripts, targets } from './scripts.ts'
import { appliedRepository, type RoundOptions, runFirst, type SessionRequest, type Stack, startStack } from './stack.ts'

/** Two resources whose inputs were changed, and the answers of a well-behaved model in a drift round about them. */

const block = (name: string, input: string) => `resource "terraform_data" "${name}" {\n  input = "${input}"\n}\n`
export const code = (greeting: string, farewell: string) => block('greeting', greeting) + block('farewell', farewell)
export const CODE = code('hello', 'goodbye')
export const GREETING = 'terraform_data.greeting'
export const FAREWELL = 'terraform_data.farewell'

/** Creates a repository whose state was applied and then changed behind the engine's back. */
export async function driftedRepository(
  stack: Stack,
  files: Record<string, string> = { 'main.tf': CODE },
  edit = (state: string) => state.replaceAll('"hello"', '"hello by hand"').replaceAll('"goodbye"', '"goodbye by hand"'),
): Promise<string> {
  return await appliedRepository(stack, files, edit)
}

/** Starts a stack with one drifted repository, which most rounds of a file share: rounds never change its state. */
export async function startDriftedStack() {
  const stack = await startStack()
  try {
    const repo_uri = await driftedRepository(stack)
    return { ...stack, drifted: repo_uri, full: { repo_uri, ...full }, partial: { repo_uri, ...partial } }
  } catch (error) {
    await stack.close()
    throw error
  }
}

export const replace = (from: string, to: string, target_file = 'main.tf'): Reply => ({
  calls: [['replace_in_file', { target_file, diff: `<<<<<<< SEARCH\n${from}\n=======\n${to}\n>>>>>>> REPLACE` }]],
})
/** Writes the changed value into the code. */
export const takeOver = (word: 'hello' | 'goodbye') => replace(`  input = "${word}"`, `  input = "${word} by hand"`)

type Splitting = (sent: { address: string; action: string }[]) => Reply
/** Answers operations by number. */
type Excepting = (sent: ReadonlyMap<string, string>) => Reply

/** Answers for splitter and exception filter, which share a sentinel and differ in the tools beside it. */
export const decompose =
  (
    split: Splitting = (sent) => operations(sent.map(({ address, action }) => `${action} ${address}`)),
    except: Excepting = (sent) => operations([...sent.keys()]),
  ): Script =>
  ({ tools, messages }) => {
    const query = messages.at(-1)?.content ?? ''
    const sent = (open: '[' | '{', close: string) =>
      JSON.parse(query.slice(query.indexOf(open), query.lastIndexOf(close) + 1))
    if (tools?.some(({ name }) => name === 'web_search')) return split(sent('[', ']'))
    const numbered = Object.entries<string | { operation: string }>(sent('{', '}'))
    return except(
      new Map(numbered.map(([number, entry]) => [number, typeof entry === 'string' ? entry : entry.operation])),
    )
  }
/** Makes an exception filter that leaves out operations that name this address. */
export const excepting = (address: string, rule: string): Script =>
  decompose(undefined, (sent) => {
    const kept = [...sent].filter(([, text]) => !text.includes(address)).map(([number]) => number)
    return operations(kept, kept.length < sent.size ? `${address}: ${rule}` : '')
  })

export const driftReport = (changes: Partial<Record<keyof DriftReport, unknown>> = {}): Reply => ({
  args: {
    summary: 'All differences were looked at.',
    status: 'Succeeded',
    remediated_resources: [],
    unreconciled_drift: [],
    whitelisted_exceptions: [],
    ...changes,
  },
})
export const remediated = (resource_address: string, attribute_modified = 'input') => ({
  file_path: './main.tf',
  resource_address,
  changes: [
    {
      attribute_modified,
      change_description: `Took over ${attribute_modified}.`,
      details: [],
      reason: 'Changed by hand.',
    },
  ],
})

/** Makes a full round that remediates both resources in one task. */
export const driftScripts = (changes: Scripts = {}): Scripts => ({
  status: { text: 'One sentence.' },
  requests_filter: accept,
  generate_engine_targets: targets(GREETING),
  construct_information: { args: { templates: [], abbreviations: [] } },
  report_decomposed_task_operations: decompose(),
  task_complete: [takeOver('hello'), takeOver('goodbye'), done('Took both over.')],
  generate_engine_drift_report: driftReport({ remediated_resources: [remediated(GREETING), remediated(FAREWELL)] }),
  ...changes,
})

export const driftLlm = (changes: Scripts = {}) => scriptedLlm(driftScripts(changes))

/** Runs a drift round with these answers, over the whole drifted repository unless the request is another one. */
export const runDrift = (stack: Stack & { full: SessionRequest }, scripts: Scripts = {}, options: RoundOptions = {}) =>
  runFirst(stack, driftScripts(scripts), { request: stack.full, ...options })

/** Reads the stored report of the last drift round. */
export async function driftReportOf(stack: Stack, uuid: string): Promise<DriftReport> {
  const reports = await textsOf(stack, uuid, 'report')
  return JSON.parse(reports.at(-1) ?? 'null')
}

export const ASSESSING = 'Assessing drift on the targeted infrastructure.'
export const IN_SYNC = 'No drift found; the targeted infrastructure is synchronized.'
export const EXCEPTED = 'Drift check completed; the remaining differences are covered by the drift exception rules.'

/** Requests of a round over the whole root, and of one over the resources that the request names. */
export const full = { mode: 'drift', query: 'Mend all drift' } as const
export const partial = { mode: 'drift', query: 'Mend the greeting', is_partial: true } as const

export const fileOn = (stack: Stack, repo_uri: string, branch: string) =>
  stack.git(repo_uri, 'show', `${branch}:main.tf`)
