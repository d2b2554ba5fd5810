import type { PlanDocument, Round, Session } from '../../../client/api/schemas.ts'
import { useJsonArtifact } from '../../../client/sessions/use-artifact.ts'
import { useReviewAddress } from '../review-address.ts'

/** The plan of a round that is shown, as data as soon as it was read. `document` is null until then, and on a fault. */
export function useChosenPlan(session: Session, round: Round) {
  const { search } = useReviewAddress()
  const { plan, plans } = choosePlan(round, search.plan)
  const read = useJsonArtifact<PlanDocument>(session.uuid, plan?.document_url ?? null)
  const document = isPlanDocument(read.data) ? read.data : null
  return { plan, plans, read, document }
}

export type RoundPlan = Round['plans'][number]

/** The plans of a round that can be read as data, and the one to show: what the address names, else the last one. */
export function choosePlan(round: Round, id: unknown): { plan: RoundPlan | null; plans: RoundPlan[] } {
  const plans = round.plans.filter(({ document_url }) => document_url !== null)
  return { plan: plans.find((plan) => plan.id === Number(id)) ?? plans.at(-1) ?? null, plans }
}

/** Returns true for a plan document of a known version. */
export function isPlanDocument(value: unknown): value is PlanDocument {
  const document = value as Partial<PlanDocument> | null | undefined
  return document?.schema_version === 1 && Array.isArray(document.resources) && typeof document.summary === 'object'
}
