import { useEffect, useRef, useState } from 'preact/hooks'
import type { Action, PlanDocument } from '../../../client/api/schemas.ts'
import { actionName } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { excerpt, formatNumber, plural } from '../../../ui/words.ts'
import { useReviewAddress } from '../review-address.ts'
import {
  FILTER_ACTIONS,
  type Filter,
  hasAction,
  isFiltered,
  modulesOf,
  readFilter,
  writeFilter,
} from './plan-filter.ts'

/** The delay after the last key before the address changes. */
const TYPED_MS = 200
/** The maximum length of the list of modules. For more modules there is the search. */
const MAX_MODULES = 300

interface ToolsProps {
  document: PlanDocument
  filter: Filter
  shown: number
  onAll: (open: boolean) => void
}

export function ListTools({ document, filter, shown, onAll }: ToolsProps) {
  const { change } = useReviewAddress()
  const set = (values: Partial<Filter>) => change(writeFilter({ ...filter, ...values }))
  return (
    <div class="review-tools">
      <SearchField text={filter.search} onSearch={(search) => set({ search })} />
      <Modules document={document} module={filter.module} onModule={(module) => set({ module })} />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset draws a frame of its own */}
      <div role="group" aria-label="Filter" class="review-chips">
        <ActionChips document={document} filter={filter} onActions={(actions) => set({ actions })} />
        <OtherChips document={document} filter={filter} onSet={set} />
      </div>
      <p class="small quiet review-shown">
        <span role="status">
          {shown === document.resources.length
            ? plural(shown, 'resource')
            : `${formatNumber(shown)} of ${plural(document.resources.length, 'resource')}`}
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

/** Shows the search field. Its text reaches the address after a delay. */
function SearchField({ text, onSearch }: { text: string; onSearch: (text: string) => void }) {
  const [typed, setTyped] = useState(text)
  const written = useRef(text)
  useEffect(() => {
    if (text === written.current) return
    written.current = text
    setTyped(text)
  }, [text])
  useEffect(() => {
    if (typed === written.current) return
    const timer = setTimeout(() => {
      written.current = typed
      onSearch(typed)
    }, TYPED_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <input
      type="search"
      class="review-search"
      aria-label="Search resources"
      placeholder="Search addresses, attributes, values"
      value={typed}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
    />
  )
}

interface ModulesProps {
  document: PlanDocument
  module: string | null
  onModule: (module: string | null) => void
}

function Modules({ document: { resources }, module, onModule }: ModulesProps) {
  const known = modulesOf(resources)
  if (known.length === 0) return null
  const modules = known.slice(0, MAX_MODULES)
  if (module && !modules.includes(module)) modules.push(module)
  return (
    <select
      class="review-module"
      aria-label="Module"
      value={module ?? '*'}
      onChange={({ currentTarget: { value } }) => onModule(value === '*' ? null : value)}
    >
      <option value="*">All modules</option>
      <option value="">No module</option>
      {modules.map((address) => (
        <option key={address} value={address}>
          {excerpt(address, 80)}
        </option>
      ))}
    </select>
  )
}

interface ChipProps {
  name: string
  count: number
  on: boolean
  onClick: () => void
}

const Chip = ({ name, count, on, onClick }: ChipProps) => (
  <button type="button" class="button button-small review-chip" aria-pressed={on} onClick={onClick}>
    {name} <span class="number quiet">{formatNumber(count)}</span>
  </button>
)

interface ActionChipsProps {
  document: PlanDocument
  filter: Filter
  onActions: (actions: Action[]) => void
}

function ActionChips({ document: { resources }, filter: { actions }, onActions }: ActionChipsProps) {
  const counted = FILTER_ACTIONS.map((action) => ({
    action,
    count: resources.filter((resource) => hasAction(resource, action)).length,
  })).filter(({ count, action }) => count > 0 || actions.includes(action))
  return (
    <>
      {counted.map(({ action, count }) => {
        const on = actions.includes(action)
        return (
          <Chip
            key={action}
            name={actionName(action)}
            count={count}
            on={on}
            onClick={() => onActions(on ? actions.filter((other) => other !== action) : [...actions, action])}
          />
        )
      })}
    </>
  )
}

interface OtherChipsProps {
  document: PlanDocument
  filter: Filter
  onSet: (values: Partial<Filter>) => void
}

function OtherChips({ document: { resources }, filter, onSet }: OtherChipsProps) {
  const critical = resources.filter(({ is_critical }) => is_critical).length
  const found = resources.filter(({ findings }) => findings.length > 0).length
  const outside = resources.filter(({ is_targeted }) => !is_targeted).length
  const chips: [name: string, key: 'critical' | 'findings' | 'outside', count: number][] = [
    ['critical', 'critical', critical],
    ['with findings', 'findings', found],
    ['outside the targets', 'outside', outside],
  ]
  return (
    <>
      {chips
        .filter(([, key, count]) => count > 0 || filter[key])
        .map(([name, key, count]) => (
          <Chip key={key} name={name} count={count} on={filter[key]} onClick={() => onSet({ [key]: !filter[key] })} />
        ))}
    </>
  )
}
