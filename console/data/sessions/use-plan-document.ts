import type { PlanDocument, Round } from '../../api/types.ts'
import { useJsonArtifact } from './use-artifact.ts'

/** Whether a round has a plan that can be read as data. */
export const hasDocument = (round: Round): boolean => round.plans.some(({ document_url }) => document_url !== null)

/** The plan of a round that was made last and can be read: the one that was reviewed. */
export function usePlanDocument(sessionId: string, round: Round | null) {
  const url = round?.plans.findLast(({ document_url }) => document_url !== null)?.document_url ?? null
  return useJsonArtifact<PlanDocument>(sessionId, url)
}
