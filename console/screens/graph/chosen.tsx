import type { PlannedResource } from '../../client/api/schemas.ts'
import { ActionBadge, Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { FirstOf } from '../../ui/table.tsx'
import { formatNumber, plural } from '../../ui/words.ts'
import { SessionLink } from '../session/session-link.tsx'
import { byUrgency, changes, type Graph, isCriticalLoss, keyOf, shownAddress } from './graph-model.ts'

interface Props {
  graph: Graph
  index: number
  blast: ReadonlySet<number>
  choose: (index: number | null) => void
  sessionId: string
  round: number
}

/** Shows the selected resource, its dependencies, and its blast radius. */
export function Chosen({ graph, index, blast, choose, sessionId, round }: Props) {
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
        <SessionLink id={sessionId} part="review" search={{ round, part: 'plan', resource: keyOf(resource) }}>
          See its changes
        </SessionLink>
      </p>
      <h4>Blast radius</h4>
      <p>{describeBlast(graph, blast)}</p>
      <Names graph={graph} indexes={byUrgency(graph, [...blast])} choose={choose} />
      <h4>Depends on</h4>
      {needs.length === 0 && elsewhere === 0 && <p>Nothing.</p>}
      <Names graph={graph} indexes={needs} choose={choose} />
      {elsewhere > 0 && <p class="quiet small">and {plural(elsewhere, 'resource')} outside this plan</p>}
    </section>
  )
}

function describeBlast(graph: Graph, blast: ReadonlySet<number>): string {
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

function Names({ graph, indexes, choose }: Pick<Props, 'graph' | 'choose'> & { indexes: readonly number[] }) {
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
