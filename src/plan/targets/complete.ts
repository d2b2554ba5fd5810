import { withoutIndexes } from '../addresses.ts'
import type { CodeChanges } from '../code/changes.ts'
import { covers, MAX_TARGETS } from './targets.ts'

/**
 * Adds to proposed targets what the code says that they miss: blocks that the session changed, and both sides of the
 * moves that it added. A block counts as named when a target includes it or is a part of it. An empty proposal means
 * the whole root and stays empty; so does the answer when there would be too many targets.
 */
export function completeTargets(
  proposed: readonly string[],
  { blocks, moved }: Pick<CodeChanges, 'blocks' | 'moved'>,
): string[] {
  if (proposed.length === 0) return []
  const targets = [...proposed]
  const addMissing = (address: string, isNamed: (target: string) => boolean) => {
    if (!targets.some(isNamed)) targets.push(address)
  }
  for (const { address, exact } of blocks)
    addMissing(address, (target) => covers(target, exact) || covers(exact, withoutIndexes(target)))
  for (const side of moved) addMissing(side, (target) => covers(target, side))
  return limitTargets(targets)
}

/** Targets without repeats; none, which stands for the whole root, when there are too many. */
export function limitTargets(targets: readonly string[]): string[] {
  const unique = [...new Set(targets)]
  return unique.length <= MAX_TARGETS ? unique : []
}
