import type { PlanDocument, Round, Session } from '../../../client/api/types.ts'
import { useJsonArtifact } from '../../../client/sessions/use-artifact.ts'
import { useReviewAddress } from '../use-review.ts'
import { choosePlan, isPlanDocument } from './chosen-plan.ts'

/** The plan of a round that is shown, as data as soon as it was read. `document` is null until then, and on a fault. */
export function useChosenPlan(session: Session, round: Round) {
  const { search } = useReviewAddress()
  const { plan, plans } = choosePlan(round, search.plan)
  const read = useJsonArtifact<PlanDocument>(session.uuid, plan?.document_url ?? null)
  const document = isPlanDocument(read.data) ? read.data : null
  return { plan, plans, read, document }
}
