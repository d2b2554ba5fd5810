import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Round } from '../../client/api/types.ts'

export const PARTS = ['plan', 'code', 'report', 'compliance'] as const
export type Part = (typeof PARTS)[number]

/** Whether a round left something that can be judged. The report of an apply has a screen of its own. */
export const isReviewable = ({ plans, code_changes, compliance_checks, reports }: Round): boolean =>
  plans.length + code_changes.length + compliance_checks.length > 0 || reports.some(({ type }) => type !== 'apply')

/** The state of this screen, which is its address. Changes of it leave the page where it was scrolled to. */
export function useReviewAddress() {
  const search = useSearch({ strict: false }) as Record<string, unknown>
  const navigate = useNavigate()
  const change = (values: Record<string, unknown>, { replace = true } = {}) =>
    void navigate({
      to: '.',
      search: ((before: Record<string, unknown>) => ({ ...before, ...values })) as never,
      replace,
      resetScroll: false,
    })
  const part = PARTS.find((known) => known === search.part) ?? 'plan'
  return { search, part, change }
}

/** The address of something on this screen, to give to somebody else: without filters, which could hide it. */
export function linkTo(values: Record<string, string | number | undefined>): string {
  const { origin, pathname } = window.location
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return `${origin}${pathname}?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}
