import { Link } from '@tanstack/react-router'
import type { ComponentChildren } from 'preact'
import type { PlanDocument, Round } from '../../client/api/client.ts'
import { useJsonArtifact } from '../../client/sessions/use-session.ts'
import { type AnySearch, useAnySearch } from '../../client/use-address.ts'
import { excerpt, visibleText } from '../../ui/words.ts'
import { useOpenSession } from '../session/open-session.tsx'
import { choosePlan, isPlanDocument } from './plan/plan-filter.ts'

interface FilterLinkProps {
  /** The search parameters of the review. */
  filter: AnySearch
  class?: string
  children: ComponentChildren
}

/** Links to this filter alone, in the same round and plan. */
export const FilterLink = ({ filter, ...rest }: FilterLinkProps) => (
  <Link
    {...rest}
    to="."
    search={({ round, plan }) => ({ round, plan, part: 'plan', ...filter })}
    resetScroll={false}
    activeProps={{}}
  />
)

/** Links to a resource of the plan and opens it there. */
export const ResourceLink = ({ address }: { address: string }) => (
  <FilterLink filter={{ resource: address }} class="mono report-link">
    {excerpt(address, 300)}
  </FilterLink>
)

/** Links to a line of the code of the same round. */
export const LineLink = ({ file, line }: { file: string; line: number }) => (
  <FilterLink filter={{ part: 'code', plan: undefined, file, line }} class="mono report-link">
    {visibleText(`${file}:${line}`)}
  </FilterLink>
)

/** Returns an address of this screen to share, without filters, which could hide its target. */
export function linkTo(values: Record<string, string | number | undefined>): string {
  const { origin, pathname } = window.location
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return `${origin}${pathname}?${new URLSearchParams(given)}`
}

/** Reads the selected plan of a round as data. `document` is null until it is loaded, and on failure. */
export function useChosenPlan(round: Round) {
  const { session } = useOpenSession()
  const { plan, plans } = choosePlan(round, useAnySearch().plan)
  const read = useJsonArtifact<PlanDocument>(session.uuid, plan?.document_url ?? null)
  const document = isPlanDocument(read.data) ? read.data : null
  return { plan, plans, read, document }
}
