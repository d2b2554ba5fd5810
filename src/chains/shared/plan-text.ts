import type { Masker } from '../../base/masking.ts'
import { cutMiddle } from '../../base/text.ts'
import { planFacts } from '../../plan/change-list.ts'
import type { Plan } from '../../plan/plan.ts'
import type { BeyondTargets } from '../../plan/targets.ts'

const MAX_PLAN_CHARS = 400_000

interface ReadablePlan {
  plan: Plan
  /** The engine's text, masked. */
  text: string
  reference: { targets: readonly string[] }
  beyond?: BeyondTargets | null
}

/** Writes a plan for a model: computed facts, then its text, cut in the middle when it is too long. */
export function describePlan({ plan, text, reference, beyond }: ReadablePlan, masker: Pick<Masker, 'text'>): string {
  const facts = masker.text(planFacts(plan, reference.targets, beyond))
  return `Computed from the plan: ${facts}\n\n${cutMiddle(withoutTargetingWarning(text), MAX_PLAN_CHARS)}`
}

const TARGETING_WARNING =
  /^╷\n│ Warning: Resource targeting is in effect\n(?:│.*\n)*╵\n?|^Warning: Resource targeting is in effect\n[^╷]{0,1000}?\bpart of an error message\.\n*/gm

/** Removes the engine's warning about a plan with targets, because the platform plans the whole root as well. */
const withoutTargetingWarning = (text: string): string => text.replaceAll(TARGETING_WARNING, '')
