import type { PlannedResource } from '../../../client/api/schemas.ts'
import { actionName } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { SearchField } from '../../../ui/controls.tsx'
import { useTyped } from '../../../ui/filters.tsx'
import { excerpt, formatNumber, plural } from '../../../ui/words.ts'
import { useReviewAddress } from '../review-address.ts'
import { type Filter, hasAction, isFiltered, modulesOf, ORDER, readFilter, writeFilter } from './plan-filter.ts'

/** The maximum length of the list of modules. For more modules there is the search. */
const MAX_MODULES = 300

interface ToolsProps {
  resources: readonly PlannedResource[]
  filter: Filter
  shown: number
  onAll: (open: boolean) => void
}

export function ListTools({ resources, filter, shown, onAll }: ToolsProps) {
  const { change } = useReviewAddress()
  const set = (values: Partial<Filter>) => change(writeFilter({ ...filter, ...values }))
  const [typed, setTyped] = useTyped(filter.search, (search) => set({ search }))
  return (
    <div class="review-tools">
      <SearchField
        class="review-search"
        aria-label="Search resources"
        placeholder="Search addresses, attributes, values"
        value={typed}
        onSearch={setTyped}
      />
      <Modules modules={modulesOf(resources)} module={filter.module} onModule={(module) => set({ module })} />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset draws a frame of its own */}
      <div role="group" aria-label="Filter" class="review-chips">
        {chipsOf(resources, filter).map(({ name, count, on, values }) => (
          <Button key={name} small class="review-chip" aria-pressed={on} onClick={() => set(values)}>
            {name} <span class="number quiet">{formatNumber(count)}</span>
          </Button>
        ))}
      </div>
      <p class="small quiet review-shown">
        <span role="status">
          {shown === resources.length
            ? plural(shown, 'resource')
            : `${formatNumber(shown)} of ${plural(resources.length, 'resource')}`}
        </span>
        {isFiltered(filter) && (
          <Button kind="quiet" small onClick={() => change(writeFilter(readFilter({})))}>
            Clear the filter
          </Button>
        )}
        <Button kind="quiet" small onClick={() => onAll(true)}>
          Expand all
        </Button>
        <Button kind="quiet" small onClick={() => onAll(false)}>
          Collapse all
        </Button>
        <span class="review-keys">
          <kbd>↑</kbd> <kbd>↓</kbd> or <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> opens
        </span>
      </p>
    </div>
  )
}

interface ModulesProps extends Pick<Filter, 'module'> {
  modules: readonly string[]
  onModule: (module: string | null) => void
}

function Modules({ modules, module, onModule }: ModulesProps) {
  if (modules.length === 0) return null
  const listed = new Set([...modules.slice(0, MAX_MODULES), ...(module ? [module] : [])])
  return (
    <select
      class="review-module"
      aria-label="Module"
      value={module ?? '*'}
      onChange={({ currentTarget: { value } }) => onModule(value === '*' ? null : value)}
    >
      <option value="*">All modules</option>
      <option value="">No module</option>
      {[...listed].map((address) => (
        <option key={address} value={address}>
          {excerpt(address, 80)}
        </option>
      ))}
    </select>
  )
}

/** Returns a chip for each part of the filter that occurs or is set, with the filter that it sets. */
function chipsOf(resources: readonly PlannedResource[], filter: Filter) {
  const { actions, critical, findings, outside } = filter
  const chip = (name: string, on: boolean, values: Partial<Filter>, fits: (resource: PlannedResource) => boolean) => ({
    ...{ name, on, values },
    count: resources.filter(fits).length,
  })
  return [
    ...ORDER.map((action) => {
      const on = actions.includes(action)
      const others = on ? actions.filter((other) => other !== action) : [...actions, action]
      return chip(actionName(action), on, { actions: others }, (resource) => hasAction(resource, action))
    }),
    chip('critical', critical, { critical: !critical }, ({ is_critical }) => is_critical),
    chip('with findings', findings, { findings: !findings }, (resource) => resource.findings.length > 0),
    chip('outside the targets', outside, { outside: !outside }, ({ is_targeted }) => !is_targeted),
  ].filter(({ count, on }) => count > 0 || on)
}
