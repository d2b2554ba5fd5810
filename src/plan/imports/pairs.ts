import { stripBackticks, withoutIndexes } from '../addresses.ts'
import { describesCode, type Plan, type ResourceChange } from '../plan.ts'
import { changesByAddress, isCreated, stateIdentifiers } from '../planned-changes.ts'
import { findUnplannedBlocks } from '../targets.ts'
import { isArgument } from './identifiers.ts'

/** An identifier and the resource block to import it to. */
export interface Pair {
  address: string
  resource_id: string
}

export interface Failure extends Pair {
  error: string
}

const NO_SUCH_RESOURCE = 'the plan has no such resource'

/** Reports whether a pair was refused for an invented address, which is no fault of the code. */
export const isInvented = ({ error }: Failure): boolean => error === NO_SUCH_RESOURCE

const INDEX = String.raw`(?:\[(?:\d+|"(?:\\.|[^"\\])*")\])?`
const NAME = String.raw`[\p{L}_][\p{L}\p{N}_-]*`
const ADDRESS = new RegExp(String.raw`^(?:module\.${NAME}${INDEX}\.)*(?!data\.|module\.)${NAME}\.${NAME}${INDEX}$`, 'u')

/** Reports whether the text has the form of a managed resource's address. */
export const isResourceAddress = (text: string): boolean => isArgument(text) && ADDRESS.test(text)

/**
 * Selects the proposed pairs that may be given to the engine. The identifier must be waiting, the plan must create the
 * address (where the plan describes the code), and neither may repeat. Wrong addresses are refused with a reason;
 * identifiers that are not waiting are only counted, in `foreign`.
 */
export function checkPairs(
  proposals: readonly Pair[],
  context: { pending: readonly string[]; plan: Plan; identity: (id: string) => string },
): { pairs: Pair[]; refused: Failure[]; foreign: number } {
  const pending = new Map(context.pending.map((id) => [context.identity(id), id]))
  const state = stateIdentifiers(context.plan)
  const changes = changesByAddress(context.plan)
  const pairs = new Map<string, Pair>()
  const refused = new Map<string, Failure>()
  const used = new Set<string>()
  let foreign = 0
  for (const pair of proposals) {
    const resourceId = pending.get(context.identity(pair.resource_id.trim()))
    if (resourceId === undefined) foreign++
    if (resourceId === undefined || pairs.has(resourceId)) continue
    const address = stripBackticks(pair.address)
    const error =
      addressFault(address, state, changes, used) ??
      (describesCode(context.plan) ? creationFault(changes.get(address)) : null)
    if (error !== null) {
      refused.set(resourceId, { address: toShortLine(address), resource_id: resourceId, error })
      continue
    }
    used.add(address)
    pairs.set(resourceId, { address, resource_id: resourceId })
    refused.delete(resourceId)
  }
  return { pairs: [...pairs.values()], refused: [...refused.values()], foreign }
}

function addressFault(
  address: string,
  state: ReturnType<typeof stateIdentifiers>,
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

function creationFault(change: ResourceChange | undefined): string | null {
  if (!change) return NO_SUCH_RESOURCE
  return isCreated(change) ? null : 'the plan does not create this resource'
}

const MAX_SHOWN = 200

/** Turns text of a model into one line of at most 200 characters. */
const toShortLine = (text: string) => {
  const line = text.toWellFormed().replaceAll(/\p{Cc}+/gu, ' ')
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN)}…`.toWellFormed() : line
}

/** Returns proposed blocks that the code declares but a targeted plan lacks; its configuration is complete. */
export function findUnplanned(
  proposals: readonly Pair[],
  context: { pending: readonly string[]; plan: Plan; identity: (id: string) => string },
): string[] {
  const pending = new Set(context.pending.map((id) => context.identity(id)))
  const blocks = new Set(findUnplannedBlocks(context.plan))
  const named = proposals
    .filter(({ resource_id }) => pending.has(context.identity(resource_id.trim())))
    .map(({ address }) => withoutIndexes(stripBackticks(address)))
  return [...new Set(named)].filter((address) => blocks.has(address))
}

/** The result of one import attempt. */
interface ImportAttempt {
  imported: readonly Pair[]
  failures: readonly Failure[]
  /** Identifiers without a proposed address. */
  unaddressed: readonly string[]
  /** Earlier imports whose block is gone from the code, so that the plan destroys them. */
  lost: readonly Pair[]
}

/** Returns the text for the generator: imports, losses, failures, and identifiers without an address. */
export function importFeedback({ imported, failures, unaddressed, lost }: ImportAttempt): string {
  const blocks = [
    renderBlock('Imported, leave their blocks where they are:', imported.map(describePair)),
    renderBlock(
      'Imported, but their block is gone, so that the plan destroys them. Put the block back at the same address:',
      lost.map(describePair),
    ),
    renderBlock(
      'Not imported:',
      failures.map((failure) => `${describePair(failure)}: ${failure.error}`),
    ),
    renderBlock('No resource block of the plan was found for these identifiers:', unaddressed),
  ]
  return blocks.filter((text) => text !== '').join('\n\n')
}

const describePair = ({ address, resource_id }: Pair) => `\`${address}\` (${resource_id})`
const renderBlock = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? '' : [title, ...lines.map((line) => `- ${line}`)].join('\n')
