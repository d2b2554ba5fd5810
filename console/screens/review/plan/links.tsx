import { Link } from '@tanstack/react-router'
import type { ComponentChildren } from 'preact'
import { shorten, visibleText } from '../../../ui/words/text.ts'

interface FilterLinkProps {
  /** Search parameters of the plan's list, see `filter.ts`. */
  filter: Record<string, unknown>
  class?: string
  children: ComponentChildren
}

/** Leads to the plan with this filter and no other, in the same round and plan. */
export const FilterLink = ({ filter, children, ...rest }: FilterLinkProps) => (
  <Link
    {...rest}
    to={'.' as never}
    search={((before: Record<string, unknown>) => ({ round: before.round, plan: before.plan, ...filter })) as never}
    resetScroll={false}
    activeProps={{}}
  >
    {children}
  </Link>
)

/** Leads to a resource of the plan, which is opened there. */
export const ResourceLink = ({ address }: { address: string }) => (
  <FilterLink filter={{ resource: address }} class="mono">
    {visibleText(shorten(address, 300))}
  </FilterLink>
)
