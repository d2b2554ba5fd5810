import { hasMoved, type StateVersion } from '../../plan/state/state.ts'
import type { EngineInfo } from '../../services/iac/contract.ts'

/**
 * Says in a sentence that the engine is not the one that made a plan any more, because another one may read the plan
 * differently; null when it is the same.
 * @param now null when the iac service does not tell its engine
 */
export function describeOtherEngine(sealed: EngineInfo, now: EngineInfo | null): string | null {
  if (now?.name === sealed.name && now.version === sealed.version) return null
  const current = now === null ? 'an engine that does not tell its version' : `${now.name} ${now.version}`
  return `the plan was made by ${sealed.name} ${sealed.version}, and the iac service runs ${current} now.`
}

/** Says in a sentence that the state is not the one that a plan was made from any more; null when it is the same. */
export function describeMovedState(sealed: StateVersion, now: StateVersion): string | null {
  if (!hasMoved(sealed, now)) return null
  return `the state moved after the plan was made (serial ${sealed.serial} then, ${now.serial} now).`
}
