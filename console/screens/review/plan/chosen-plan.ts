import type { PlanDocument, Round } from '../../../client/api/types.ts'

export type RoundPlan = Round['plans'][number]

/** The plans of a round that can be read as data, and the one to show: what the address names, else the last one. */
export function choosePlan(round: Round, id: unknown): { plan: RoundPlan | null; plans: RoundPlan[] } {
  const plans = round.plans.filter(({ document_url }) => document_url !== null)
  return { plan: plans.find((plan) => plan.id === Number(id)) ?? plans.at(-1) ?? null, plans }
}

/** Whether something is a plan of a form that this console knows. */
export function isPlanDocument(value: unknown): value is PlanDocument {
  const document = value as Partial<PlanDocument> | null | undefined
  return document?.schema_version === 1 && Array.isArray(document.resources) && typeof document.summary === 'object'
}
