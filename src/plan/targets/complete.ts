import { withoutIndexes } from '../addresses.ts'
import type { CodeChanges } from '../code/changes.ts'
import { covers, MAX_TARGETS } from './targets.ts'

/**
 * Adds targets that the code proves missing: changed blocks, and both sides of added moves, unless a target covers them
 * or is a part of them. An empty proposal means the whole root and stays empty; too many targets become none.
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

/** Removes repeated targets; returns none (the whole root) when there are too many. */
export function limitTargets(targets: readonly string[]): string[] {
  const unique = [...new Set(targets)]
  return unique.length <= MAX_TARGETS ? unique : []
}
