import { useMemo, useState } from 'preact/hooks'
import type { PlannedResource } from '../../client/api/schemas.ts'
import { ActionBadge, Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Check, Scrolling, SearchField } from '../../ui/controls.tsx'
import { FirstOf, Table } from '../../ui/table.tsx'
import { excerpt, formatNumber, plural } from '../../ui/words.ts'
import { SessionLink } from '../session/session-link.tsx'
import { byUrgency, changes, type Graph, isCriticalLoss, keyOf, shownAddress, type View } from './graph-model.ts'

/** Shows the selected resource, its dependencies, and its blast radius. */
export function Chosen({ view, index, round }: { view: View; index: number; round: number }) {
  const { graph, blast, choose } = view
  const resource = graph.resources[index] as PlannedResource
  const needs = graph.needs[index] ?? []
  const elsewhere = graph.elsewhere[index] ?? 0
  return (
    <section class="graph-chosen card" aria-labelledby="graph-chosen">
      <header class="graph-chosen-head">
        <h3 id="graph-chosen" class="mono">
          {shownAddress(resource)}
        </h3>
        <Button kind="quiet" small aria-label="Clear the selection" onClick={() => choose(null)}>
          ×
        </Button>
      </header>
      <p class="graph-chosen-facts">
        <ActionBadge action={resource.action} />
        {resource.is_critical && (
          <Badge tone={isCriticalLoss(resource) ? 'bad' : 'neutral'}>
            {resource.critical_reason === 'access' ? 'grants access' : 'holds data'}
          </Badge>
        )}
        {resource.findings.length > 0 && <Badge tone="warn">{plural(resource.findings.length, 'finding')}</Badge>}
      </p>
      <p>
        <SessionLink part="review" search={{ round, part: 'plan', resource: keyOf(resource) }}>
          See its changes
        </SessionLink>
      </p>
      <h4>Blast radius</h4>
      <p>{describeBlast(view)}</p>
      <Names view={view} indexes={byUrgency(graph, [...blast])} />
      <h4>Depends on</h4>
      {needs.length === 0 && elsewhere === 0 && <p>Nothing.</p>}
      <Names view={view} indexes={needs} />
      {elsewhere > 0 && <p class="quiet small">and {plural(elsewhere, 'resource')} outside this plan</p>}
    </section>
  )
}

function describeBlast({ graph, blast }: View): string {
  if (blast.size === 0) return 'Nothing in this plan depends on it.'
  const hit = [...blast].map((index) => graph.resources[index] as PlannedResource)
  const changed = hit.filter(changes).length
  const lost = hit.filter(isCriticalLoss).length
  const depend = blast.size === 1 ? '1 resource depends' : `${plural(blast.size, 'resource')} depend`
  return [
    `${depend} on it, directly or indirectly.`,
    changed === 0 ? 'None of them changes in this plan.' : `This plan changes ${formatNumber(changed)} of them.`,
    lost > 0 ? `${plural(lost, 'critical resource')} among them would be destroyed or replaced.` : '',
  ].join(' ')
}

function Names({ view: { graph, choose }, indexes }: { view: View; indexes: readonly number[] }) {
  return (
    <FirstOf items={indexes} count={8}>
      {(shown) =>
        shown.length > 0 && (
          <ul class="graph-names">
            {shown.map((index) => {
              const resource = graph.resources[index] as PlannedResource
              return (
                <li key={index}>
                  <ActionBadge action={resource.action} />
                  <button type="button" class="graph-link mono" onClick={() => choose(index)}>
                    {shownAddress(resource)}
                  </button>
                </li>
              )
            })}
          </ul>
        )
      }
    </FirstOf>
  )
}

/** Shows the drawing as a table. In its search field, Enter selects the first match. */
export function ResourceTable({ view }: { view: View }) {
  const [search, setSearch] = useState('')
  const [onlyBlast, setOnlyBlast] = useState(false)
  const { graph, shown, blast, chosen, choose } = view
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
          <SearchField
            id="graph-search"
            placeholder="Part of its address, then Enter"
            value={search}
            onSearch={setSearch}
          />
          {chosen !== null && (
            <Check class="graph-check" checked={onlyBlast} onCheck={setOnlyBlast}>
              Only the blast radius
            </Check>
          )}
          <span class="small quiet" role="status">
            {found.length === 0 ? 'No resource matches.' : `${plural(found.length, 'resource')} listed`}
          </span>
        </form>
      </search>
      <Scrolling class="scroll-x" label="Table of the resources">
        <FirstOf items={found}>
          {(rows) => (
            <Table head={['Resource', 'Action', 'Depends on', { number: 'Dependents' }, 'In the blast radius']}>
              {rows.map((index) => (
                <Row key={index} view={view} index={index} />
              ))}
            </Table>
          )}
        </FirstOf>
      </Scrolling>
    </section>
  )
}

function Row({ view: { graph, chosen, blast, choose }, index }: { view: View; index: number }) {
  const resource = graph.resources[index] as PlannedResource
  const isHit = blast.has(index)
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
        {chosen === null && <span class="quiet">select one</span>}
        {chosen !== null && (index === chosen ? 'selected' : isHit ? '◎ yes' : 'no')}
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
