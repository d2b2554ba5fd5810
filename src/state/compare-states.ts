import type { StateVersion } from '../pins/types.ts'
import type { EngineState } from './parse-state.ts'

/** What happened to the objects of a state. Names only: values may be secret. */
export interface StateMoves {
  added: string[]
  removed: string[]
  changed: { address: string; attributes: string[] }[]
}

/** Whether a state is no longer the one of `before`. A lineage that is not known yet is no other one. */
export function hasMoved(before: StateVersion, now: StateVersion): boolean {
  const another = before.lineage !== '' && now.lineage !== '' && before.lineage !== now.lineage
  return another || before.serial !== now.serial
}

export function compareStates(before: EngineState, now: EngineState): StateMoves {
  const added = [...now.objects.keys()].filter((address) => !before.objects.has(address))
  const removed = [...before.objects.keys()].filter((address) => !now.objects.has(address))
  const changed = [...now.objects].flatMap(([address, attributes]) => {
    const earlier = before.objects.get(address)
    if (!earlier) return []
    const names = new Set([...Object.keys(earlier), ...Object.keys(attributes)])
    const differing = [...names].filter((name) => earlier[name] !== attributes[name])
    return differing.length > 0 ? [{ address, attributes: differing.sort() }] : []
  })
  return { added: added.sort(), removed: removed.sort(), changed }
}

/** How many of each kind are named. */
const MAX_NAMED = 50

/** The same in a sentence; says so when no object differs. */
export function describeMoves({ added, removed, changed }: StateMoves): string {
  const parts = [
    named('added', added),
    named('removed', removed),
    named(
      'changed',
      changed.map(({ address, attributes }) => `${address} (${attributes.join(', ')})`),
    ),
  ].filter((part) => part !== '')
  return parts.length > 0 ? `Since then: ${parts.join('; ')}.` : 'No managed object differs.'
}

function named(what: string, list: readonly string[]): string {
  if (list.length === 0) return ''
  const more = list.length > MAX_NAMED ? ` and ${list.length - MAX_NAMED} more` : ''
  return `${what} ${list.slice(0, MAX_NAMED).join(', ')}${more}`
}
