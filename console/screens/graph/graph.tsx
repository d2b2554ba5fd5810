import { lazy, Suspense } from 'preact/compat'
import { useCallback, useMemo, useState } from 'preact/hooks'
import type { PlanDocument, PlannedResource, Round } from '../../client/api/client.ts'
import { objectOf } from '../../client/json.ts'
import { hasDocument, lastDocument } from '../../client/sessions/use-session.ts'
import { Check, Form, Scrolling, SearchField, Unfold } from '../../ui/controls.tsx'
import { ActionBadge, Badge, Button, Empty, Notice, Origin, Skeleton, Term } from '../../ui/kit.tsx'
import { FirstOf, Table } from '../../ui/table.tsx'
import { useMedia } from '../../ui/use-media.ts'
import { excerpt, formatNumber, plural } from '../../ui/words.ts'
import { ReadDocument, RoundPicker, SessionLink, useOpenSession, useSelectedRound } from '../session/open-session.tsx'
import { draw, MOST_BOXES } from './drawing/grouping.ts'
import {
  buildGraph,
  byUrgency,
  changes,
  countActions,
  type Graph,
  isCriticalLoss,
  keyOf,
  shownAddress,
  useView,
  type View,
} from './graph-model.ts'

/** Shows the changes of a plan and their dependents. */
export function Screen() {
  const { session } = useOpenSession()
  const selected = useSelectedRound(hasDocument)
  const { round } = selected
  return (
    <section class="graph" aria-labelledby="graph-title">
      <header class="page-head">
        <div class="page-heading">
          <h2 id="graph-title">Dependencies</h2>
          <p class="quiet">
            The resources of the <Term name="plan" /> and their dependencies. Select one to see its blast radius.{' '}
            <Origin by="code" />
          </p>
        </div>
        <RoundPicker {...selected} />
      </header>
      {round ? (
        <Plan key={round.id} round={round} />
      ) : (
        <Empty title="There is no plan yet" actions={<SessionLink>See the rounds</SessionLink>}>
          {session.in_flight
            ? 'It appears here as soon as the engine has made one.'
            : 'No round of this session made a readable plan. Request a change, or see how the last round ended.'}
        </Empty>
      )}
    </section>
  )
}

const parse = (document: unknown) => {
  const { resources } = objectOf(document) as Partial<PlanDocument>
  return Array.isArray(resources) ? buildGraph(resources) : null
}

const Plan = ({ round }: { round: Round }) => (
  <ReadDocument
    url={lastDocument(round)}
    parse={parse}
    what="plan"
    lines={12}
    unknown={
      <Notice tone="bad" title="This plan cannot be read">
        Its document is damaged. Review shows the plan as text.
      </Notice>
    }
  >
    {(graph) =>
      graph.resources.length === 0 ? (
        <Empty title="This plan has no resources">Nothing would change.</Empty>
      ) : (
        <Explorer graph={graph} round={round.number} />
      )
    }
  </ReadDocument>
)

const Canvas = lazy(async () => ({ default: (await import('./drawing/canvas.tsx')).Canvas }))

/** Shows the drawing of a plan and its table. On a phone the table comes first, and the drawing on demand. */
function Explorer({ graph, round }: { graph: Graph; round: number }) {
  const view = useView(graph)
  const narrow = useMedia('(max-width: 48rem)')
  const table = <ResourceTable view={view} />
  const drawing = <Drawn view={view} />
  return (
    <>
      <Toolbar view={view} />
      {narrow && table}
      <div class={view.chosen === null ? 'graph-stage' : 'graph-stage graph-stage-split'}>
        {narrow ? <Unfold summary="Show the graph">{drawing}</Unfold> : drawing}
        <div aria-live="polite">{view.chosen !== null && <Chosen view={view} index={view.chosen} round={round} />}</div>
      </div>
      {!narrow && table}
    </>
  )
}

function Drawn({ view }: { view: View }) {
  const { graph, shown, chosen } = view
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const isMissing = chosen !== null && !shown.includes(chosen)
  const isLarge = shown.length > MOST_BOXES
  // If each resource has its own box, a selection needs no new layout.
  const apart = isLarge || isMissing ? chosen : null
  const drawing = useMemo(
    () => draw(graph, apart !== null && !shown.includes(apart) ? [...shown, apart] : shown, { open, apart }),
    [graph, shown, apart, open],
  )
  const onOpen = useCallback((group: string) => setOpen((before) => new Set([...before, group])), [])
  return (
    <section class="graph-drawing" aria-label="Drawing">
      {shown.length === 0 && chosen === null ? (
        <p class="graph-nothing quiet">No resource of this plan matches the filter.</p>
      ) : (
        <Suspense fallback={<Skeleton lines={10} label="Loading the graph" />}>
          <Canvas view={view} drawing={drawing} onOpen={onOpen} />
        </Suspense>
      )}
      {(isLarge || drawing.tiesLeftOut > 0) && (
        <p class="graph-note small quiet">
          {isLarge && `${plural(shown.length, 'resource')} are grouped by module: select a group to open it. `}
          {drawing.tiesLeftOut > 0 && `${plural(drawing.tiesLeftOut, 'line')} not drawn: see the table. `}
          {open.size > 0 && (
            <Button small kind="quiet" onClick={() => setOpen(new Set())}>
              Close all
            </Button>
          )}
        </p>
      )}
    </section>
  )
}

/** Shows the filters, which are also the legend. */
function Toolbar({ view }: { view: View }) {
  const { action, changesOnly } = view
  const all = view.graph.resources
  const shown = view.shown.length
  return (
    <div class="graph-tools">
      <fieldset class="graph-actions">
        <legend class="unseen">Filter by action</legend>
        {countActions(all).map(([name, count]) => (
          <button
            key={name}
            type="button"
            class="graph-action"
            aria-pressed={action === name}
            onClick={() => view.filter(action === name ? null : name)}
          >
            <ActionBadge action={name} /> <span class="number">{formatNumber(count)}</span>
          </button>
        ))}
      </fieldset>
      <Check class="graph-check" checked={changesOnly} onCheck={view.showChangesOnly}>
        Only changes and their neighbours
      </Check>
      <p class="small quiet" role="status">
        {shown === all.length
          ? `All ${plural(shown, 'resource')}`
          : `${formatNumber(shown)} of ${plural(all.length, 'resource')}`}
      </p>
      <ul class="graph-legend small quiet">
        <li>
          <span aria-hidden="true">→</span> from a dependency to its dependents
        </li>
        <li>
          <span class="graph-swatch graph-loss" aria-hidden="true" /> critical, and destroyed or replaced
        </li>
        <li>
          <span aria-hidden="true" class="graph-hit-mark">
            ◎
          </span>{' '}
          in the blast radius of the selected resource
        </li>
      </ul>
    </div>
  )
}

/** Shows the selected resource, its dependencies, and its blast radius. */
function Chosen({ view, index, round }: { view: View; index: number; round: number }) {
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
function ResourceTable({ view }: { view: View }) {
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
        <Form class="graph-search" send={() => found[0] !== undefined && choose(found[0])}>
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
        </Form>
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

function describeNeeds(graph: Graph, index: number): string {
  const needs = graph.needs[index] ?? []
  const names = needs.slice(0, 3).map((other) => {
    const resource = graph.resources[other]
    return resource ? excerpt(keyOf(resource), 80) : ''
  })
  const rest = needs.length - names.length
  const elsewhere = graph.elsewhere[index] ?? 0
  if (rest > 0) names.push(`${formatNumber(rest)} more`)
  if (elsewhere > 0) names.push(`${formatNumber(elsewhere)} outside this plan`)
  return names.length === 0 ? '–' : names.join(', ')
}
