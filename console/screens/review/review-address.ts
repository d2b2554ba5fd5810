import type { Round } from '../../client/api/schemas.ts'
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
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return `${origin}${pathname}?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}
