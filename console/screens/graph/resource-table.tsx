import { useMemo, useState } from 'preact/hooks'
import type { PlannedResource } from '../../client/api/schemas.ts'
import { ActionBadge, Badge } from '../../ui/badge.tsx'
import { FirstOf, Table } from '../../ui/table.tsx'
import { excerpt, formatNumber, plural } from '../../ui/words.ts'
import { byUrgency, type Graph, isCriticalLoss, keyOf, shownAddress } from './graph-model.ts'
import type { View } from './use-view.ts'

interface Props {
  graph: Graph
  /** The filtered resources. */
  shown: readonly number[]
  view: View
  blast: ReadonlySet<number>
}

/** Shows the drawing as a table. In its search field, Enter selects the first match. */
export function ResourceTable({ graph, shown, view, blast }: Props) {
  const [search, setSearch] = useState('')
  const [onlyBlast, setOnlyBlast] = useState(false)
  const { chosen, choose } = view
  const sorted = useMemo(() => byUrgency(graph, shown), [graph, shown])
  const found = useMemo(() => {
    const wanted = search.trim().toLowerCase()
    const pool = onlyBlast && chosen !== null ? byUrgency(graph, [chosen, ...blast]) : sorted
    return wanted === '' ? pool : pool.filter((index) => graph.resources[index]?.address.toLowerCase().includes(wanted))
  }, [graph, sorted, search, onlyBlast, chosen, blast])
  return (
    <section class="graph-table" aria-labelledby="graph-table">
      <h3 id="graph-table">As a table</h3>
      <search>
        <form
          class="graph-search"
          onSubmit={(event) => {
            event.preventDefault()
            if (found[0] !== undefined) choose(found[0])
          }}
        >
          <label for="graph-search">Find a resource</label>
          <input
            id="graph-search"
            type="search"
            value={search}
            placeholder="Part of its address, then Enter"
            onInput={({ currentTarget }) => setSearch(currentTarget.value)}
          />
          {chosen !== null && (
            <label class="graph-check">
              <input
                type="checkbox"
                checked={onlyBlast}
                onChange={({ currentTarget }) => setOnlyBlast(currentTarget.checked)}
              />
              Only the blast radius
            </label>
          )}
          <span class="small quiet" role="status">
            {found.length === 0 ? 'No resource matches.' : `${plural(found.length, 'resource')} listed`}
          </span>
        </form>
      </search>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by the keyboard */}
      <section class="scroll-x" tabIndex={0} aria-label="Table of the resources">
        <FirstOf items={found}>
          {(rows) => (
            <Table head={['Resource', 'Action', 'Depends on', { number: 'Dependents' }, 'In the blast radius']}>
              {rows.map((index) => (
                <Row key={index} graph={graph} index={index} chosen={chosen} isHit={blast.has(index)} choose={choose} />
              ))}
            </Table>
          )}
        </FirstOf>
      </section>
    </section>
  )
}

interface RowProps {
  graph: Graph
  index: number
  chosen: number | null
  isHit: boolean
  choose: (index: number | null) => void
}

function Row({ graph, index, chosen, isHit, choose }: RowProps) {
  const resource = graph.resources[index] as PlannedResource
  return (
    <tr class={isHit ? 'graph-row-hit' : undefined}>
      <th scope="row">
        <button
          type="button"
          class="graph-link mono"
          aria-pressed={index === chosen}
          onClick={() => choose(index === chosen ? null : index)}
        >
          {shownAddress(resource)}
        </button>
      </th>
      <td class="graph-cell">
        <ActionBadge action={resource.action} /> {isCriticalLoss(resource) && <Badge tone="bad">critical</Badge>}
      </td>
      <td class="mono graph-needs">{describeNeeds(graph, index)}</td>
      <td class="number">{formatNumber(graph.neededBy[index]?.length ?? 0)}</td>
      <td class="graph-cell">
        {chosen === null ? (
          <span class="quiet">select one</span>
        ) : index === chosen ? (
          'selected'
        ) : isHit ? (
          '◎ yes'
        ) : (
          'no'
        )}
      </td>
    </tr>
  )
}

const NAMED = 3

function describeNeeds(graph: Graph, index: number): string {
  const needs = graph.needs[index] ?? []
  const names = needs.slice(0, NAMED).map((other) => {
    const resource = graph.resources[other]
    return resource ? excerpt(keyOf(resource), 80) : ''
  })
  const rest = needs.length - names.length
  const elsewhere = graph.elsewhere[index] ?? 0
  if (rest > 0) names.push(`${formatNumber(rest)} more`)
  if (elsewhere > 0) names.push(`${formatNumber(elsewhere)} outside this plan`)
  return names.length === 0 ? '–' : names.join(', ')
}
