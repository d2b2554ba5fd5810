import { joinNames } from '../../base/text.ts'
import { RESOURCE_ADDRESS } from '../../hcl/address.ts'
import { stripBackticks } from '../addresses.ts'
import { describesCode, type ResourceChange } from '../plan.ts'
import { changesByAddress, isCreated, stateIdentifiers } from '../planned-changes.ts'
import { findContradiction, namedIn } from './identity.ts'
import { identityOf, isArgument } from './inventory.ts'
import type { Failure, Pair, PairContext } from './pairs.ts'

const NO_SUCH_RESOURCE = 'the plan has no such resource'

/** Reports whether a pair was refused for an invented address, which is no fault of the code. */
export const isInvented = ({ error }: Failure): boolean => error === NO_SUCH_RESOURCE

/** Reports whether the text has the form of a managed resource's address. */
export const isResourceAddress = (text: string): boolean => isArgument(text) && RESOURCE_ADDRESS.test(text)

/**
 * Selects the proposed pairs that may be given to the engine. The identifier must be waiting, the plan must create the
 * address (where the plan describes the code), and kind and name in the block must not contradict the identifier. Of
 * several claims on one block, or on one identifier, the only one of which the block has the text stands, or none.
 * @returns `refused`: pairs with the reason; `foreign`: identifiers that are not waiting
 */
export function checkPairs(
  proposals: readonly Pair[],
  { cloud, pending, plan }: PairContext,
): { pairs: Pair[]; refused: Failure[]; foreign: string[] } {
  const identity = identityOf(cloud)
  const waiting = new Map(pending.map((id) => [identity(id), id]))
  const changes = changesByAddress(plan)
  const state = stateIdentifiers(plan)
  const foreign = new Set<string>()
  const refused = new Map<string, Failure>()
  const claims = new Map<string, Claim>()
  for (const proposal of proposals) {
    const resource_id = waiting.get(identity(proposal.resource_id.trim()))
    if (resource_id === undefined) {
      foreign.add(toShortLine(proposal.resource_id.trim()))
      continue
    }
    const address = stripBackticks(proposal.address)
    const change = changes.get(address)
    const error =
      addressFault(address, state, change) ??
      (describesCode(plan) ? creationFault(change) : null) ??
      (change && findContradiction(cloud, change, resource_id, pending)) ??
      null
    if (error !== null) refused.set(resource_id, { address: toShortLine(address), resource_id, error })
    else {
      const isLiteral = change !== undefined && namedIn(cloud, change, resource_id) !== null
      claims.set(JSON.stringify([address, resource_id]), { address, resource_id, isLiteral })
    }
  }
  const { pairs, doubtful } = settleClaims([...claims.values()])
  for (const failure of doubtful) refused.set(failure.resource_id, failure)
  for (const { resource_id } of pairs) refused.delete(resource_id)
  return { pairs, refused: [...refused.values()], foreign: [...foreign] }
}

/** A proposed pair of which each part is valid. */
interface Claim extends Pair {
  /** True if the block has the identifier, or the name in it, as text. */
  isLiteral: boolean
}

/** Decides between claims on one block or on one identifier. */
function settleClaims(claims: readonly Claim[]): { pairs: Pair[]; doubtful: Failure[] } {
  const isRival = (a: Claim, b: Claim) => a !== b && (a.address === b.address || a.resource_id === b.resource_id)
  const beaten = new Map<Claim, Claim>()
  for (const claim of claims) {
    const literal = claims.filter((other) => other.isLiteral && isRival(claim, other))
    if (!claim.isLiteral && literal[0]) beaten.set(claim, literal[0])
  }
  const standing = claims.filter((claim) => !beaten.has(claim))
  const pairs: Pair[] = []
  const doubtful: Failure[] = []
  for (const claim of claims) {
    const { address, resource_id } = claim
    const better = beaten.get(claim)
    const rivals = standing.filter((other) => isRival(claim, other))
    if (better) doubtful.push({ address, resource_id, error: describeBetter(claim, better) })
    else if (rivals.length > 0) doubtful.push({ address, resource_id, error: describeRivals(claim, rivals) })
    else pairs.push({ address, resource_id })
  }
  return { pairs, doubtful }
}

const describeBetter = ({ address }: Claim, better: Claim): string =>
  better.address === address
    ? `the block has the name of ${better.resource_id}`
    : `its name stands in the block ${better.address}`

function describeRivals(claim: Claim, rivals: readonly Claim[]): string {
  const ids = rivals.filter(({ address }) => address === claim.address).map(({ resource_id }) => resource_id)
  if (ids.length > 0)
    return `the block describes one object, and was matched with ${joinNames([claim.resource_id, ...ids].sort(), MAX_NAMED)}`
  return `it was matched with several blocks: ${joinNames([claim, ...rivals].map(({ address }) => address).sort(), MAX_NAMED)}`
}

const MAX_NAMED = 10

function addressFault(
  address: string,
  state: ReturnType<typeof stateIdentifiers>,
  change: ResourceChange | undefined,
): string | null {
  if (!isResourceAddress(address)) return 'this is no address of a resource'
  if (state.has(address)) return 'the address is managed already'
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
