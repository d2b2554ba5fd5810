import { cutMiddle } from '../../../src/base/text.ts'
import type { Diagnostic } from '../../../src/plan/diagnostics/diagnostic.ts'
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

/** Tells how many of the errors the code had before the session. */
export const areOlder = (errors: readonly Diagnostic[]): 'all' | 'some' | 'none' => {
  const older = errors.filter((one) => one.older).length
  if (older === 0) return 'none'
  return older === errors.length ? 'all' : 'some'
}

const MAX_ERRORS = 5

/** Says why nothing was planned, in sentences of code, and then what the author of the code says about it. */
export function describeUnchanged(errors: readonly Diagnostic[], words: string): string {
  // Errors without a place are about those with one, as when init says that the configuration has problems.
  const placed = errors.filter(({ file }) => file !== null)
  const named = placed.length > 0 ? placed : errors
  const places = named.slice(0, MAX_ERRORS).map(({ summary, file, line }) => {
    const place = file === null ? '' : `${file}${line === null ? '' : `:${line}`}: `
    return `${place}${summary.replace(/[.:]+$/, '')}`
  })
  const more = named.length > MAX_ERRORS ? [`and ${named.length - MAX_ERRORS} more`] : []
  const list = places.length === 0 ? '' : ` (${[...places, ...more].join('; ')})`
  const age = areOlder(errors)
  const origin = {
    all: 'errors that the code had before this session',
    some: 'errors, some of which the code had before this session',
    none: 'errors',
  }
  return `Nothing was planned: the engine does not accept the code because of ${origin[age]}${list}, and the last attempt changed nothing. ${words}`.trim()
}
