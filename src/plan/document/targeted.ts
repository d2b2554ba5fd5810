import type { ResourceChange } from '../plan.ts'

/** A target may end before any of these characters of an address: before an index, or behind the name of a module. */
const CUTS = /\[(?:"(?:\\.|[^"\\])*"|\d+)\]|\./g
const MODULE_END = /(?:^|\.)module\.[^.[\]]+(?:\[(?:"(?:\\.|[^"\\])*"|\d+)\])?$/
const MAX_CUTS = 100

/**
 * Makes a test whether a target names a resource, by its address or by that of its block or of a module around it.
 * It takes as long for many targets as for one. Without targets everything is named.
 */
export function createTargetTest(targets: readonly string[]): (resource: ResourceChange) => boolean {
  if (targets.length === 0) return () => true
  const named = new Set(targets)
  const isNamed = (address: string): boolean => {
    if (named.has(address)) return true
    let cuts = 0
    for (const { 0: text, index } of address.matchAll(CUTS)) {
      if (++cuts > MAX_CUTS) return false
      const outer = address.slice(0, index)
      if (named.has(outer) && (text !== '.' || MODULE_END.test(outer))) return true
    }
    return false
  }
  return ({ address, previous_address }) =>
    isNamed(address) || (previous_address !== undefined && isNamed(previous_address))
}
