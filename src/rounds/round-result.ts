import * as v from 'valibot'
import { PLAN_ACTIONS } from '../plan/actions.ts'
import type { ChangeList, ListedAction } from '../plan/change-list.ts'

/**
 * The result of a round, with masked texts. Modes and their steps fill it in while the round runs. It is stored with
 * the round, for the pull request and for later rounds.
 */
export interface RoundResult {
  /** The generator's summary of all attempts; empty when nothing was built. */
  summary: string
  /** Assumptions of the generator where the request was ambiguous. */
  assumptions: string[]
  /** Corrections of later attempts, one remark each. */
  repairs: string[]
  /** Changes made outside of the code that the round wrote into the code before the review. */
  drift: string[]
  /** Computed remarks for reviewers, for example dropped targets and files that no plan covers. */
  notes: string[]
  /** Computed changes of the reviewed plan; absent when the round reviewed none. */
  changes?: ChangeList
}

export const emptyResult = (): RoundResult => ({ summary: '', assumptions: [], repairs: [], drift: [], notes: [] })

const isListed = (action: (typeof PLAN_ACTIONS)[number]): action is ListedAction =>
  action !== 'read' && action !== 'none'
const LISTED_ACTIONS = PLAN_ACTIONS.filter(isListed)
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
      keeps_old: v.exactOptional(v.literal(true)),
    }),
  ),
  total: count,
  counts: v.object(v.entriesFromList(['create', 'update', 'delete', 'replace', 'move', 'import', 'forget'], count)),
})

const storedResult = v.object({
  summary: v.fallback(v.string(), ''),
  assumptions: texts,
  repairs: texts,
  drift: texts,
  notes: texts,
  changes: v.fallback(v.optional(changeList), undefined),
})

/** Reads the stored result of a round, null for none. Missing and malformed parts (other releases) count as empty. */
export function readRoundResult(stored: unknown): RoundResult | null {
  const read = v.safeParse(storedResult, stored)
  if (!read.success) return null
  const { changes, ...result } = read.output
  return changes === undefined ? result : { ...result, changes: changes satisfies ChangeList }
}
