import { Link } from '@tanstack/react-router'
import type { ComponentChildren } from 'preact'
import type { AnySearch } from '../../client/use-address.ts'
import { excerpt, visibleText } from '../../ui/words.ts'

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
