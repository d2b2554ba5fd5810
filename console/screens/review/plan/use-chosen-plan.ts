import type { PlanDocument, Round, Session } from '../../../client/api/schemas.ts'
import { useJsonArtifact } from '../../../client/sessions/use-artifact.ts'
import { useReviewAddress } from '../review-address.ts'

/** Reads the selected plan of a round as data. `document` is null until it is loaded, and on failure. */
export function useChosenPlan(session: Session, round: Round) {
  const { search } = useReviewAddress()
  const { plan, plans } = choosePlan(round, search.plan)
  const read = useJsonArtifact<PlanDocument>(session.uuid, plan?.document_url ?? null)
  const document = isPlanDocument(read.data) ? read.data : null
  return { plan, plans, read, document }
}

export type RoundPlan = Round['plans'][number]

/** Returns the readable plans of a round and the one to show: the one that the address names, otherwise the last. */
export function choosePlan(round: Round, id: unknown): { plan: RoundPlan | null; plans: RoundPlan[] } {
  const plans = round.plans.filter(({ document_url }) => document_url !== null)
  return { plan: plans.find((plan) => plan.id === Number(id)) ?? plans.at(-1) ?? null, plans }
}

/** Returns true for a plan document of a known version. */
export function isPlanDocument(value: unknown): value is PlanDocument {
  const document = value as Partial<PlanDocument> | null | undefined
  return document?.schema_version === 1 && Array.isArray(document.resources) && typeof document.summary === 'object'
}
