import type { Masker } from '../../base/masking.ts'
import { cutMiddle } from '../../base/text.ts'
import { planFacts } from '../../plan/facts.ts'
import type { Plan } from '../../plan/plan.ts'
import type { BeyondTargets } from '../../plan/targets/targets.ts'

/** Longest plan text that is shown to a model. */
const MAX_PLAN_CHARS = 400_000

interface ReadablePlan {
  plan: Plan
  /** As the engine printed it, masked. */
  text: string
  reference: { targets: readonly string[] }
  beyond?: BeyondTargets | null
}

/** Writes a plan for a model: what code computed from it, then its text, cut in the middle when it is too long. */
export function describePlan({ plan, text, reference, beyond }: ReadablePlan, masker: Pick<Masker, 'text'>): string {
  const facts = masker.text(planFacts(plan, reference.targets, beyond))
  return `Computed from the plan: ${facts}\n\n${cutMiddle(withoutTargetingWarning(text), MAX_PLAN_CHARS)}`
}

const TARGETING_WARNING =
  /^╷\n│ Warning: Resource targeting is in effect\n(?:│.*\n)*╵\n?|^Warning: Resource targeting is in effect\n[^╷]{0,1000}?\bpart of an error message\.\n*/gm

/**
 * Leaves out the engine's warning that a plan with targets may not be all that the code asks for. The platform plans
 * with targets by design, and plans the whole root beside it.
 */
const withoutTargetingWarning = (text: string): string => text.replaceAll(TARGETING_WARNING, '')
