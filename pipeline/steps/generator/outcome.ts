import { cutMiddle } from '../../../src/base/text.ts'
import { withoutWarnings } from './diagnose.ts'
import type { Judged } from './ratchet.ts'

/** What is said of the validation of an attempt; `feedback` is the objection of one that is not `ok`. */
type Outcome = Judged & { feedback?: string }

/** Says which checks a plan has lost that an earlier one passed. */
export const describeLoss = (lost: readonly string[], attempt: number | undefined): string =>
  `The plan has lost what that of attempt ${attempt} had: ${lost.join('; ')}.`

/** Describes, in a few words and unmasked, what became of an attempt. */
export function outcomeOf({ feedback = '', ...validation }: Outcome, lost: readonly string[]): string {
  if (lost.length > 0 && (validation.ok || !validation.step))
    return `was not taken, because it lost: ${lost.join('; ')}`
  if (validation.ok) {
    const lacks = [...(validation.verdicts ?? [])].filter(([, isPassed]) => !isPassed).map(([name]) => name)
    return lacks.length === 0 ? 'was accepted' : `was accepted, although it lacks: ${lacks.join('; ')}`
  }
  const [first = ''] = withoutWarnings(feedback).match(/(?<=Error: ).+/) ?? feedback.split('\n')
  const words = cutMiddle(first.replace(/^- /, '').replace(/\.$/, ''), MAX_OUTCOME)
  if (validation.step) return `failed at ${validation.step}: ${words}`
  if (validation.unloaded !== undefined) return `was not planned: ${words}`
  return `was valid, but not what was asked for: ${words}`
}

const MAX_OUTCOME = 160
