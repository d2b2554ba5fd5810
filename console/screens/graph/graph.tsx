import { useMemo } from 'preact/hooks'
import type { Round } from '../../client/api/schemas.ts'
import { hasDocument, usePlanDocument } from '../../client/sessions/use-artifact.ts'
import { Origin } from '../../ui/badge.tsx'
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx'
import { Unreadable } from '../../ui/shell/errors.tsx'
import { Term } from '../../ui/term.tsx'
import { RoundPicker, useSelectedRound } from '../session/selected-round.tsx'
import { useOpenSession } from '../session/session-context.ts'
import { SessionLink } from '../session/session-link.tsx'
import { Explorer } from './explorer.tsx'
import { buildGraph } from './graph-model.ts'

/** What a plan changes, and what depends on it. */
export function Screen() {
  const { session } = useOpenSession()
  const selected = useSelectedRound(hasDocument)
  const { round } = selected
  return (
    <section class="graph" aria-labelledby="graph-title">
      <header class="page-head">
        <div class="page-heading">
          <h2 id="graph-title">What depends on what</h2>
          <p class="quiet">
            The resources of the <Term name="plan" />, and what needs what. Choose one to see everything that a change
            of it can reach. <Origin by="code" />
          </p>
        </div>
        <RoundPicker {...selected} />
      </header>
      {round ? (
        <Plan key={round.id} sessionId={session.uuid} round={round} />
      ) : (
        <Empty
          title="There is no plan to draw yet"
          actions={<SessionLink id={session.uuid}>See the rounds</SessionLink>}
        >
          {session.in_flight
            ? 'It appears here as soon as the engine has made one.'
            : 'No round of this session made a plan that can be read. Ask for a change, or see how the last one ended.'}
        </Empty>
      )}
    </section>
  )
}

function Plan({ sessionId, round }: { sessionId: string; round: Round }) {
  const plan = usePlanDocument(sessionId, round)
  const resources = plan.data?.resources
  const graph = useMemo(() => (Array.isArray(resources) ? buildGraph(resources) : null), [resources])
  if (plan.error) return <Unreadable error={plan.error} what="plan" retry={() => void plan.refetch()} />
  if (plan.isPending) return <Skeleton lines={12} label="The plan is being read" />
  if (!graph)
    return (
      <Notice tone="bad" title="This plan cannot be read">
        Its document is damaged. The plan as text stands under Review.
      </Notice>
    )
  if (graph.resources.length === 0)
    return <Empty title="This plan has no resources">Nothing would change, so there is nothing to draw.</Empty>
  return <Explorer graph={graph} sessionId={sessionId} round={round.number} />
}
