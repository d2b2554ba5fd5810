import { lazy, Suspense } from 'preact/compat'
import { useCallback, useMemo, useState } from 'preact/hooks'
import type { PlanDocument, Round } from '../../client/api/schemas.ts'
import { objectOf } from '../../client/json.ts'
import { hasDocument, lastDocument } from '../../client/sessions/use-artifact.ts'
import { ActionBadge, Origin } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Check, Unfold } from '../../ui/controls.tsx'
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx'
import { Term } from '../../ui/term.tsx'
import { useMedia } from '../../ui/use-media.ts'
import { formatNumber, plural } from '../../ui/words.ts'
import { ReadDocument, RoundPicker, useOpenSession, useSelectedRound } from '../session/open-session.tsx'
import { SessionLink } from '../session/session-link.tsx'
import { draw, MOST_BOXES } from './drawing/grouping.ts'
import { buildGraph, countActions, type Graph, useView, type View } from './graph-model.ts'
import { Chosen, ResourceTable } from './resources.tsx'

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
