import * as v from 'valibot'
import { OPERATIONS, STATE_CHOICES } from '../base/vocabulary.ts'
import { PLAN_ACTIONS } from '../plan/actions.ts'

const LISTED_ACTIONS = PLAN_ACTIONS.filter((action) => action !== 'read' && action !== 'none')
const texts = v.fallback(v.array(v.string()), [])
const count = v.pipe(v.number(), v.integer(), v.minValue(0))

const changeList = v.object({
  entries: v.array(
    v.object({
      address: v.string(),
      action: v.picklist(LISTED_ACTIONS),
      previous_address: v.exactOptional(v.string()),
      import_id: v.exactOptional(v.nullable(v.string())),
      replace_paths: v.exactOptional(v.array(v.string())),
      replace_reason: v.exactOptional(v.string()),
      delete_reason: v.exactOptional(v.string()),
      keeps_old: v.exactOptional(v.literal(true)),
    }),
  ),
  total: count,
  counts: v.object(v.entriesFromList(['create', 'update', 'delete', 'replace', 'move', 'import', 'forget'], count)),
})

const stateQuestion = v.object({
  /** The request to send again with a choice. */
  mode: v.picklist(OPERATIONS),
  is_partial: v.boolean(),
  /** Type of the repository's own backend. */
  backend: v.string(),
  /** Null when the state could not be read. */
  serial: v.nullable(count),
  resources: v.nullable(count),
  choices: v.array(v.picklist(STATE_CHOICES)),
})

/**
 * The result of a round, with masked texts. Modes and their steps fill it in while the round runs. It is stored with
 * the round, for the pull request and for later rounds.
 */
export type RoundResult = v.InferOutput<typeof storedResult>

const storedResult = v.object({
  /** The generator's summary of all attempts; empty when nothing was built. */
  summary: v.fallback(v.string(), ''),
  /** Assumptions of the generator where the request was ambiguous. */
  assumptions: texts,
  /** What the round left out or could not check, one sentence each; a report begins with them. */
  gaps: texts,
  /** Corrections of later attempts, one remark each. */
  repairs: texts,
  /** Changes made outside of the code that the round wrote into the code before the review. */
  drift: texts,
  /** Addresses that the reviewed plan destroys unasked. */
  losses: texts,
  /** Computed remarks for reviewers, for example dropped targets and files that no plan covers. */
  notes: texts,
  /** Computed changes of the reviewed plan; absent when the round reviewed none. */
  changes: v.fallback(v.optional(changeList), undefined),
  /** The state elsewhere for which the round has stopped; absent when it has not. */
  state_question: v.fallback(v.optional(stateQuestion), undefined),
})

export const emptyResult = (): RoundResult => ({
  summary: '',
  assumptions: [],
  gaps: [],
  repairs: [],
  drift: [],
  losses: [],
  notes: [],
})

/** Reads the stored result of a round, null for none. Missing and malformed parts (other releases) count as empty. */
export function readRoundResult(stored: unknown): RoundResult | null {
  const read = v.safeParse(storedResult, stored)
  return read.success ? read.output : null
}
