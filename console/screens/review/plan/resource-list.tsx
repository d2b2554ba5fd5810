import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PlanDocument, PlannedResource, Round } from '../../../client/api/client.ts'
import { useAnySearch, useSearchChange } from '../../../client/use-address.ts'
import { SearchField, Select } from '../../../ui/controls.tsx'
import { useTyped } from '../../../ui/filters.tsx'
import { actionName, Button, Empty, Notice } from '../../../ui/kit.tsx'
import { useListKeys } from '../../../ui/virtual-list.tsx'
import { excerpt, formatNumber, plural } from '../../../ui/words.ts'
import {
  asText,
  type Filter,
  filterResources,
  hasAction,
  isFiltered,
  modulesOf,
  ORDER,
  readFilter,
  sortResources,
  writeFilter,
} from './plan-filter.ts'
import { ResourceItem } from './resource-item.tsx'

const NO_FILTER = writeFilter(readFilter({}))

/** Shows the resources of a plan. The page itself scrolls, and only visible rows are drawn. */
export function ResourceList({ document, round }: { document: PlanDocument; round: Round }) {
  const search = useAnySearch()
  const change = useSearchChange()
  const sorted = useMemo(() => sortResources(document.resources), [document])
  const filter = readFilter(search)
  const key = JSON.stringify(filter)
  const shown = useMemo(() => filterResources(sorted, readFilter(search)), [sorted, key])
  const linked = search.resource === undefined ? null : asText(search.resource)
  const open = useOpenRows()
  const isHidden = linked !== null && !shown.some(({ address }) => address === linked)
  const exists = isHidden && sorted.some(({ address }) => address === linked)
  return (
    <section aria-labelledby="review-resources">
      <h3 id="review-resources" class="unseen">
        Resources
      </h3>
      <ListTools resources={document.resources} filter={filter} shown={shown.length} onAll={open.setAll} />
      {isHidden && linked !== null && (
        <Notice
          tone="warn"
          title={exists ? 'The linked resource is hidden' : 'The linked resource is not in this plan'}
          actions={
            exists && (
              <Button
                onClick={() => change({ ...NO_FILTER, action: document.summary.none ? whole(document) : undefined })}
              >
                Show it
              </Button>
            )
          }
        >
          {exists ? 'The filter hides it.' : 'Another round or another plan of this round may contain it.'}
        </Notice>
      )}
      {shown.length === 0 ? (
        <Empty
          title={sorted.length === 0 ? 'The plan has no resources' : 'No resource matches'}
          actions={isFiltered(filter) && <Button onClick={() => change(NO_FILTER)}>Clear the filter</Button>}
        >
          {sorted.length === 0 ? 'Nothing would change.' : 'Change the search, or clear the filter.'}
        </Empty>
      ) : (
        <Rows shown={shown} linked={linked} open={open} round={round.number} />
      )}
    </section>
  )
}

/** Returns the filter that includes unchanged resources. */
const whole = ({ summary }: PlanDocument): string =>
  Object.entries(summary)
    .filter(([, count]) => count > 0)
    .map(([action]) => action)
    .join(',')

interface RowsProps {
  shown: readonly PlannedResource[]
  linked: string | null
  open: ReturnType<typeof useOpenRows>
  round: number
}

function Rows({ shown, linked, open, round }: RowsProps) {
  const search = useAnySearch()
  const change = useSearchChange()
  const box = useRef<HTMLUListElement>(null)
  const [last, setActive] = useState(0)
  const active = Math.min(last, shown.length - 1)
  const { virtual, top } = useRows(box, shown, active)
  const { moveTo, onKeyDown } = useListKeys(box, shown.length, '[data-row]', (index) => {
    setActive(index)
    virtual.scrollToIndex(index, { align: 'auto' })
  })
  /** The last row opened by a click, which must not be scrolled to. */
  const seen = useRef<string | null>(null)
  const at = linked === null ? -1 : shown.findIndex(({ address }) => address === linked)
  useEffect(() => {
    if (linked === null) seen.current = null
    if (linked === null || at < 0 || seen.current === linked) return
    seen.current = linked
    open.setOpen(linked, true)
    moveTo(at)
    virtual.scrollToIndex(at, { align: 'start' })
  }, [linked, at])
  const toggle = (address: string, index: number) => {
    const opens = !open.isOpen(address)
    setActive(index)
    open.setOpen(address, opens)
    if (opens) seen.current = address
    const page = location.pathname
    if (opens || linked === address)
      afterPaint(() => {
        if (location.pathname === page) change({ resource: opens ? address : undefined, finding: undefined })
      })
  }
  const drawn = virtual.getVirtualItems()
  const stop = drawn.some(({ index }) => index === active) ? active : drawn[0]?.index
  return (
    <ul
      ref={box}
      class="virtual-space review-rows"
      aria-label="Resources of the plan"
      style={{ height: `${virtual.getTotalSize()}px` }}
      onKeyDown={onKeyDown}
    >
      {drawn.map(({ key, index, start }) => {
        const resource = shown[index] as PlannedResource
        return (
          <li
            key={String(key)}
            ref={virtual.measureElement}
            data-index={index}
            aria-setsize={shown.length}
            aria-posinset={index + 1}
            class="virtual-row"
            style={{ transform: `translateY(${start - top}px)` }}
          >
            <ResourceItem
              resource={resource}
              round={round}
              isOpen={open.isOpen(resource.address)}
              isStop={index === stop}
              finding={resource.address === linked && search.finding !== undefined ? asText(search.finding) : null}
              onToggle={() => toggle(resource.address, index)}
            />
          </li>
        )
      })}
    </ul>
  )
}

/** Runs after the next paint, so that the page responds first. */
const afterPaint = (work: () => void): void => void requestAnimationFrame(() => setTimeout(work))

/** Tracks the open rows of a list: all or none, except those that were toggled. */
function useOpenRows() {
  const [state, setState] = useState<{ all: boolean; turned: ReadonlySet<string> }>({ all: false, turned: new Set() })
  const isOpen = (key: string) => state.turned.has(key) !== state.all
  const setOpen = (key: string, open: boolean) =>
    setState(({ all, turned }) => {
      const next = new Set(turned)
      if (open === all) next.delete(key)
      else next.add(key)
      return { all, turned: next }
    })
  const setAll = (all: boolean) => setState({ all, turned: new Set() })
  return { isOpen, setOpen, setAll }
}

const ROW_PX = 45
/** The height of the sticky top of the page; see `.bar`, and `.review-tools` on wide pages. */
const covered = (): number => (window.matchMedia('(max-width: 52rem)').matches ? 64 : 190)

/** Draws only the visible rows of a long list, and the active one. */
function useRows(box: RefObject<HTMLElement | null>, shown: readonly PlannedResource[], active: number) {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const measure = () => {
      const element = box.current
      if (element) setTop(Math.round(element.getBoundingClientRect().top + window.scrollY))
    }
    measure()
    // The list moves when content above it opens or closes.
    const watch = new ResizeObserver(measure)
    watch.observe(document.body)
    return () => watch.disconnect()
  }, [])
  const virtual = useWindowVirtualizer<HTMLLIElement>({
    count: shown.length,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => shown[index]?.address ?? index,
    overscan: 8,
    scrollMargin: top,
    scrollPaddingStart: covered(),
    scrollPaddingEnd: ROW_PX,
    rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(range), active])].sort((a, b) => a - b),
  })
  return { virtual, top }
}

/** The maximum length of the list of modules. For more modules there is the search. */
const MAX_MODULES = 300

interface ToolsProps {
  resources: readonly PlannedResource[]
  filter: Filter
  shown: number
  onAll: (open: boolean) => void
}

function ListTools({ resources, filter, shown, onAll }: ToolsProps) {
  const change = useSearchChange()
  const set = (values: Partial<Filter>) => change(writeFilter({ ...filter, ...values }))
  const modules = modulesOf(resources)
  const listed = new Set([...modules.slice(0, MAX_MODULES), ...(filter.module ? [filter.module] : [])])
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
      {modules.length > 0 && (
        <Select
          class="review-module"
          aria-label="Module"
          value={filter.module ?? '*'}
          change={(module) => set({ module: module === '*' ? null : module })}
          options={[
            ['*', 'All modules'],
            ['', 'No module'],
            ...[...listed].map((name) => [name, excerpt(name, 80)] as const),
          ]}
        />
      )}
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
