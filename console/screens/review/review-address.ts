import type { PlanDocument, Round, Session } from '../../client/api/schemas.ts'
import { useJsonArtifact } from '../../client/sessions/use-artifact.ts'
import { useAnySearch, useSearchChange } from '../../client/use-address.ts'

export const PARTS = ['plan', 'code', 'report', 'compliance'] as const
export type Part = (typeof PARTS)[number]

/** True for a round with something to review. The report of an apply has its own screen. */
export const isReviewable = ({ plans, code_changes, compliance_checks, reports }: Round): boolean =>
  plans.length + code_changes.length + compliance_checks.length > 0 || reports.some(({ type }) => type !== 'apply')

/** Returns the state of this screen, which is in the address. */
export function useReviewAddress() {
  const search = useAnySearch()
  const part = PARTS.find((known) => known === search.part) ?? 'plan'
  return { search, part, change: useSearchChange() }
}

/** Returns an address of this screen to share, without filters, which could hide its target. */
export function linkTo(values: Record<string, string | number | undefined>): string {
  const { origin, pathname } = window.location
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return `${origin}${pathname}?${new URLSearchParams(given)}`
}

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
