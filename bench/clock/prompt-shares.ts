import { countTokens, createPrefixMemory, layOut, partsOf, sharedPrefix } from '../../dev/scripted-model/clock.ts'
import type { Question } from '../../dev/scripted-model/conversation.ts'

/** A call of a round, in the order in which the calls began. */
export interface ChainCall {
  chain: string
  question: Question
}

/** The parts of which the input of a call consists. */
export const KINDS = ['tools', 'system', 'conventions', 'task', 'tree', 'files', 'plan', 'history'] as const
export type Kind = (typeof KINDS)[number]
export type Shares = Record<Kind, number>

/** Sections of the system text that are the platform's own; the others hold prompt bodies. */
const OWN_SECTIONS = ['Role', 'Rules', 'Data', 'Finish']

/** What the data blocks of a query hold, by label. Those of other labels are the task. */
const LABELS: Record<string, Kind> = {
  'repository files': 'tree',
  'blocks of the repository': 'tree',
  repository: 'tree',
  'relevant files': 'files',
  'provider schema': 'files',
  providers: 'files',
  plan: 'plan',
  'changes of this session': 'plan',
  'branch diff': 'plan',
  'drift document': 'plan',
  findings: 'plan',
}
const BLOCK = /<<<DATA ([^\n]*?) ([0-9a-f]{16})\n[\s\S]*?\n\2 DATA>>>/g

/** Results of tools, by the name of the tool. Those of other tools are the history of the chain. */
const RESULTS: Record<string, Kind> = {
  list_dir: 'tree',
  bulk_grep_search: 'tree',
  read_file: 'files',
  resource_schema: 'files',
  diff_history: 'plan',
  last_plan: 'plan',
}

/** Returns the tokens of a call by kind. Their sum may differ from that of the call by what encloses the texts. */
export function kindsOf({ tools, messages }: Question): Shares {
  const shares = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Shares
  const add = (kind: Kind, text: string) => {
    shares[kind] += countTokens(text)
  }
  for (const tool of tools) add('tools', JSON.stringify(tool))
  const firstCall = messages.findIndex(({ calls }) => calls.length > 0)
  const before = firstCall < 0 ? messages : messages.slice(0, firstCall)
  const queryAt = before.findLastIndex(({ role }) => role === 'user')
  const called = new Map(messages.flatMap(({ calls }) => calls.map(({ id, name }) => [id, name])))
  for (const [index, message] of messages.entries()) {
    const text = message.text ?? ''
    if (message.role === 'system')
      for (const section of text.split(/^(?=## )/m))
        add(OWN_SECTIONS.some((title) => section.startsWith(`## ${title}\n`)) ? 'system' : 'conventions', section)
    else if (message.role === 'tool') add(RESULTS[called.get(message.answers ?? '') ?? ''] ?? 'history', text)
    else if (message.role === 'user' && index >= queryAt) {
      for (const [whole, label = ''] of text.matchAll(BLOCK)) add(LABELS[label] ?? 'task', whole)
      add('task', text.replaceAll(BLOCK, ''))
    } else add('history', text + message.calls.map((call) => JSON.stringify(call)).join(''))
  }
  return shares
}

/** The input of some calls in characters, and how much of it was known. */
export interface Known {
  calls: number
  length: number
  known: number
}

/** Returns how much of the calls of each chain, its first one left out, is the beginning of the call before it. */
export function knownOfChains(calls: readonly ChainCall[]): Map<string, Known> {
  const chains = new Map<string, Known>()
  const last = new Map<string, string>()
  for (const { chain, question } of calls) {
    const text = layOut(question)
    const before = last.get(chain)
    last.set(chain, text)
    if (before === undefined) continue
    const { calls: count, length, known } = chains.get(chain) ?? { calls: 0, length: 0, known: 0 }
    const shared = sharedPrefix(before, text)
    chains.set(chain, { calls: count + 1, length: length + text.length, known: known + shared })
  }
  return chains
}

/**
 * Returns how much of all calls is the beginning of some earlier call to the same model.
 * @param before calls that were made before them, for example in other rounds
 */
export function knownOfRound(calls: readonly ChainCall[], before: readonly ChainCall[] = []): Known {
  const memory = createPrefixMemory()
  for (const { question } of before) memory.add(question.model, layOut(question))
  const total: Known = { calls: calls.length, length: 0, known: 0 }
  for (const { question } of calls) {
    const text = layOut(question)
    total.length += text.length
    total.known += memory.add(question.model, text)
  }
  return total
}

export const shareOf = ({ length, known }: Pick<Known, 'length' | 'known'>): number => (length > 0 ? known / length : 1)

/** Adds up several counts. */
export const sumKnown = (all: Iterable<Known>): Known =>
  [...all].reduce(
    (sum, one) => ({ calls: sum.calls + one.calls, length: sum.length + one.length, known: sum.known + one.known }),
    { calls: 0, length: 0, known: 0 },
  )

/** Names what a call of a chain has in place of the beginning of the call before it, for whoever mends it. */
export function firstDifference(before: Question, after: Question): string | null {
  const [old, now] = [partsOf(before), partsOf(after)]
  const index = old.findIndex((part, at) => part !== now[at])
  if (index < 0) return null
  const at = sharedPrefix(old[index] ?? '', now[index] ?? '')
  return `part ${index + 1} of ${old.length}: ${(now[index] ?? 'nothing').slice(Math.max(0, at - 40), at + 80)}`
}
