import type { PlanDocument, Session } from '../../client/api/client.ts'
import { isLoss, isUnknownLoss } from '../../ui/plan/values.ts'

type SealReason = NonNullable<NonNullable<Session['seal']>['reason']>

const ADVICE: Record<SealReason, [advice: string, remedy: Remedy]> = {
  used: [
    'A plan is applied once. Request the next change in a further round, which saves a plan of its own.',
    'rounds',
  ],
  discarded: ['Request the change again: a further round plans against the present state.', 'rounds'],
  superseded: ['Review and apply the plan of the later round, or request the change again.', 'rounds'],
  session_failed: ['This session accepts no further round. Open a new one with the same request.', 'start'],
  not_reviewed: ['Wait for the round to end. If it ended early, request the change again.', 'rounds'],
  newer_commit: ['Request a further round, which plans the code as it is now.', 'rounds'],
  state_moved: ['Request a further round, which plans on the state as it is now.', 'rounds'],
  engine_changed: ['Request a further round, which plans with the present engine.', 'rounds'],
}

type Remedy = 'rounds' | 'locked' | 'start'
export type Refusal = ReturnType<typeof refuse>

/** Returns the reason why a plan cannot be applied now, and the screen of the remedy; null if there is none. */
export const refuse = (reason: string, advice: string, remedy: Remedy | null = null) => ({ reason, advice, remedy })

export const LOCKED = refuse(
  'This session is locked.',
  'A user with the panel role editor has to unlock it, or a further round has to pass the checks.',
  'locked',
)

/** Returns the first reason why an apply would be refused; null when none is known. */
export function findRefusal(session: Session, isOwn: boolean): Refusal | null {
  const { seal } = session
  if (!isOwn) return refuse('This session belongs to somebody else.', 'Only its owner may apply.')
  if (session.in_flight)
    return refuse('A round of this session is running.', 'Wait for it to end, or stop it.', 'rounds')
  if (!seal) return refuse('There is no saved plan.', 'A round that passes every check saves its plan.', 'rounds')
  if (session.current_status === 'failed') return refuse('The last round failed.', ...ADVICE.session_failed)
  // A used plan stays used, even after the lock is removed.
  if (!seal.valid && seal.reason !== 'newer_commit')
    return refuse(
      seal.explanation ?? 'The saved plan is no longer valid.',
      ...(ADVICE[seal.reason ?? 'discarded'] ?? ADVICE.discarded),
    )
  if (session.is_blocked) return LOCKED
  return seal.valid ? null : refuse(seal.explanation ?? 'The branch has changed since.', ...ADVICE.newer_commit)
}

export type Losses = ReturnType<typeof findLosses>

/**
 * Returns the resources that an apply destroys; the critical ones of them hold data or grant access, of the unknown
 * ones that cannot be told.
 */
export function findLosses(document: PlanDocument) {
  const destroyed = document.resources.filter(isLoss)
  return {
    destroyed,
    critical: destroyed.filter(({ is_critical }) => is_critical),
    unknown: destroyed.filter(isUnknownLoss),
  }
}

/**
 * Returns the text to type before something is destroyed: the number of resources, or the one address if it
 * can be typed. Null: a plain confirmation is enough.
 * @param losses null when the plan cannot be read, so that the losses are unknown
 */
export function confirmationFor(losses: Losses | null): string | null {
  if (losses === null) return 'apply'
  const [first] = losses.destroyed
  if (!first) return null
  const canBeTyped = losses.destroyed.length === 1 && /^[\x20-\x7e]{1,80}$/.test(first.address)
  return canBeTyped ? first.address : String(losses.destroyed.length)
}

/** True if the typed text matches, ignoring surrounding spaces and separators of thousands. */
export const isConfirmed = (wanted: string | null, typed: string): boolean =>
  wanted === null || typed.trim() === wanted || (/^\d+$/.test(wanted) && typed.replaceAll(/[\s,.']/g, '') === wanted)
