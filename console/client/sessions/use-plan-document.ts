import type { QueryClient } from '@tanstack/preact-query'
import type { PlanDocument, Round, Session } from '../api/types.ts'
import type { Platform } from '../platform.ts'
import { artifactQuery, useJsonArtifact } from './use-artifact.ts'

/** Whether a round has a plan that can be read as data. */
export const hasDocument = (round: Round): boolean => round.plans.some(({ document_url }) => document_url !== null)

const lastDocument = (round: Round | null | undefined): string | null =>
  round?.plans.findLast(({ document_url }) => document_url !== null)?.document_url ?? null

/** The plan of a round that was made last and can be read: the one that was reviewed. */
export const usePlanDocument = (sessionId: string, round: Round | null) =>
  useJsonArtifact<PlanDocument>(sessionId, lastDocument(round))

/** Asks for the plan of the newest round that has one, before a screen that shows it is drawn. */
export function askForPlan({ auth }: Platform, client: QueryClient, { uuid, rounds }: Session): void {
  const url = lastDocument(rounds.findLast(hasDocument))
  if (url !== null) void client.prefetchQuery(artifactQuery(auth, client, uuid, url))
}
