import { bareName } from '../addresses.ts'
import { describesCode, type Plan, type ResourceChange } from '../plan.ts'
import { changesByAddress, isCreated, stateOf } from './alignment.ts'
import { isArgument } from './identifiers.ts'

/** An identifier and the resource block it is imported to. */
export interface Pair {
  address: string
  resource_id: string
}

export interface Failure extends Pair {
  error: string
}

const INDEX = String.raw`(?:\[(?:\d+|"(?:\\.|[^"\\])*")\])?`
const NAME = String.raw`[\p{L}_][\p{L}\p{N}_-]*`
const ADDRESS = new RegExp(String.raw`^(?:module\.${NAME}${INDEX}\.)*(?!data\.|module\.)${NAME}\.${NAME}${INDEX}$`, 'u')

/** Whether the text has the form of the address of one managed resource. */
export const isResourceAddress = (text: string): boolean => isArgument(text) && ADDRESS.test(text)

/**
 * Which of the pairs that a model named may be handed to the engine: the identifier waits for an import,
 * the address is one that the plan would create (as far as the plan tells what the code declares), and each of both
 * is used once. Identifiers that nobody asked for are left out; a pair with a wrong address is refused with the reason.
 */
export function checkPairs(
  told: readonly Pair[],
  given: { pending: readonly string[]; plan: Plan; identity: (id: string) => string },
): { pairs: Pair[]; refused: Failure[]; foreign: number } {
  const pending = new Map(given.pending.map((id) => [given.identity(id), id]))
  const state = stateOf(given.plan)
  const changes = changesByAddress(given.plan)
  const pairs = new Map<string, Pair>()
  const refused = new Map<string, Failure>()
  const used = new Set<string>()
  let foreign = 0
  for (const pair of told) {
    const resourceId = pending.get(given.identity(pair.resource_id.trim()))
    if (resourceId === undefined) foreign++
    if (resourceId === undefined || pairs.has(resourceId)) continue
    const address = bareName(pair.address)
    const error =
      fault(address, state, changes, used) ?? (describesCode(given.plan) ? notCreated(changes.get(address)) : null)
    if (error !== null) {
      refused.set(resourceId, { address: shown(address), resource_id: resourceId, error })
      continue
    }
    used.add(address)
    pairs.set(resourceId, { address, resource_id: resourceId })
    refused.delete(resourceId)
  }
  return { pairs: [...pairs.values()], refused: [...refused.values()], foreign }
}

function fault(
  address: string,
  state: ReturnType<typeof stateOf>,
  changes: ReturnType<typeof changesByAddress>,
  used: ReadonlySet<string>,
): string | null {
  if (!isResourceAddress(address)) return 'this is no address of a resource'
  if (used.has(address)) return 'the address is given to another identifier too'
  if (state.has(address)) return 'the address is managed already'
  const change = changes.get(address)
  return change?.change.importing
    ? 'the resource has an `import` block, which has to be removed: the platform imports'
    : null
}

function notCreated(change: ResourceChange | undefined): string | null {
  if (!change) return 'the plan has no such resource'
  return isCreated(change) ? null : 'the plan does not create this resource'
}

/** Without the quotes of prose. */

const MAX_SHOWN = 200

/** What a model wrote, on one line. */
const shown = (text: string) => {
  const line = text.toWellFormed().replaceAll(/\p{Cc}+/gu, ' ')
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…`.toWellFormed() : line
}

/** What came of one attempt to import. */
export interface ImportAttempt {
  imported: readonly Pair[]
  failures: readonly Failure[]
  /** Identifiers that were given no address. */
  unaddressed: readonly string[]
  /** Imported, and destroyed by the plan: their block is gone. */
  lost: readonly Pair[]
}

/** What the generator is told: the imported list, each failure, and what else is left. */
export function importFeedback({ imported, failures, unaddressed, lost }: ImportAttempt): string {
  const blocks = [
    block('Imported, leave their blocks where they are:', imported.map(named)),
    block(
      'Imported, but their block is gone, so that the plan destroys them. Put the block back at the same address:',
      lost.map(named),
    ),
    block(
      'Not imported:',
      failures.map((failure) => `${named(failure)}: ${failure.error}`),
    ),
    block('No resource block of the plan was found for these identifiers:', unaddressed),
  ]
  return blocks.filter((text) => text !== '').join('\n\n')
}

const named = ({ address, resource_id }: Pair) => `\`${address}\` (${resource_id})`
const block = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : [title, ...lines.map((line) => `- ${line}`)].join('\n')
