import { ActionBadge } from '../../ui/badge.tsx'
import { formatNumber, plural } from '../../ui/words/format.ts'
import { countActions, type Graph } from './model.ts'
import type { View } from './use-view.ts'

/** The filters, which are the legend as well. */
export function Toolbar({ graph, view, shown }: { graph: Graph; view: View; shown: number }) {
  const { action, changesOnly } = view
  return (
    <div class="graph-tools">
      <fieldset class="graph-actions">
        <legend class="unseen">Filter by action</legend>
        {countActions(graph.resources).map(([name, count]) => (
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
      <label class="graph-check">
        <input
          type="checkbox"
          checked={changesOnly}
          onChange={({ currentTarget }) => view.showChangesOnly(currentTarget.checked)}
        />
        Only what changes, and its neighbours
      </label>
      <p class="small quiet" role="status">
        {shown === graph.resources.length
          ? `All ${plural(shown, 'resource')}`
          : `${formatNumber(shown)} of ${plural(graph.resources.length, 'resource')}`}
      </p>
      <ul class="graph-legend small quiet">
        <li>
          <span aria-hidden="true">→</span> from what is needed to what needs it
        </li>
        <li>
          <span class="graph-swatch graph-loss" aria-hidden="true" /> critical, and destroyed or replaced
        </li>
        <li>
          <span aria-hidden="true" class="graph-hit-mark">
            ◎
          </span>{' '}
          in the blast radius of what you chose
        </li>
      </ul>
    </div>
  )
}
