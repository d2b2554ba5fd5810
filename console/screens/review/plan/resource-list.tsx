import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { PlanDocument, PlannedResource, Round } from '../../../client/api/schemas.ts'
import { Button } from '../../../ui/button.tsx'
import { Empty, Notice } from '../../../ui/notice.tsx'
import { useReviewAddress } from '../review-address.ts'
import { ListTools } from './list-tools.tsx'
import { asText, filterResources, isFiltered, readFilter, sortResources, writeFilter } from './plan-filter.ts'
import { ResourceItem } from './resource-item.tsx'
import { useListKeys, useRows } from './use-rows.ts'

const NO_FILTER = writeFilter(readFilter({}))

/** Shows the resources of a plan. The page itself scrolls, and only visible rows are drawn. */
export function ResourceList({ document, round }: { document: PlanDocument; round: Round }) {
  const { search, change } = useReviewAddress()
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
      <ListTools document={document} filter={filter} shown={shown.length} onAll={open.setAll} />
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
  const { search, change } = useReviewAddress()
  const box = useRef<HTMLUListElement>(null)
  const rows = useRows(box, shown)
  const keys = useListKeys(shown.length, rows.show, () => box.current)
  rows.keep(keys.active)
  const toggle = useLinkedRow({ shown, linked, open, rows, keys, change })
  const drawn = rows.items()
  const stop = drawn.some(({ index }) => index === keys.active) ? keys.active : drawn[0]?.index
  return (
    <ul
      ref={box}
      class="virtual-space review-rows"
      aria-label="Resources of the plan"
      style={{ height: `${rows.height()}px` }}
      onKeyDown={keys.onKeyDown}
    >
      {drawn.map(({ key, index, start }) => {
        const resource = shown[index] as PlannedResource
        return (
          <li
            key={String(key)}
            ref={rows.measure}
            data-index={index}
            aria-setsize={shown.length}
            aria-posinset={index + 1}
            class="virtual-row"
            style={{ transform: `translateY(${start}px)` }}
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

interface Linked extends Omit<RowsProps, 'round'> {
  rows: ReturnType<typeof useRows>
  keys: ReturnType<typeof useListKeys>
  change: ReturnType<typeof useReviewAddress>['change']
}

/** Opens, shows and focuses the row in the address. Returns a function that toggles a row and updates the address. */
function useLinkedRow({ shown, linked, open, rows, keys, change }: Linked) {
  /** The last row opened by a click, which must not be scrolled to. */
  const seen = useRef<string | null>(null)
  const at = linked === null ? -1 : shown.findIndex(({ address }) => address === linked)
  useEffect(() => {
    if (linked === null) seen.current = null
    if (linked === null || at < 0 || seen.current === linked) return
    seen.current = linked
    open.setOpen(linked, true)
    keys.moveTo(at)
    rows.reveal(at)
  }, [linked, at])
  return (address: string, index: number) => {
    const opens = !open.isOpen(address)
    keys.setActive(index)
    open.setOpen(address, opens)
    if (opens) seen.current = address
    const page = location.pathname
    if (opens || linked === address)
      afterPaint(() => {
        if (location.pathname === page) change({ resource: opens ? address : undefined, finding: undefined })
      })
  }
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
