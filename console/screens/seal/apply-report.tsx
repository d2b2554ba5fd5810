import type { ComponentChildren } from 'preact'
import { Badge, Origin, type Tone } from '../../ui/badge.tsx'
import { Scrolling } from '../../ui/controls.tsx'
import { Notice } from '../../ui/notice.tsx'
import { FirstOf, Table } from '../../ui/table.tsx'
import { excerpt, formatNumber } from '../../ui/words.ts'
import { SessionLink } from '../session/session-link.tsx'
import { type ApplyReport, type Outcome, outcomeOf } from './apply-outcome.ts'

const WORDS: Record<Outcome, [tone: Tone, title: string, advice: string]> = {
  success: ['good', 'Applied', 'The plan was applied. A further change needs a further round.'],
  partial: [
    'warn',
    'Partly applied',
    'Part of the plan was applied, and the state records which. Request a further round, ' +
      'which plans what is left, and apply that.',
  ],
  failed: [
    'bad',
    'The apply failed',
    'The engine started and completed nothing. Fix the cause in a further round and apply its plan.',
  ],
  nothing: [
    'warn',
    'Nothing was applied',
    'The cloud is unchanged. Request a further round, which plans against the present state.',
  ],
  unknown: [
    'bad',
    'The outcome is unknown',
    'All, some or none of the plan may have been applied, and it is not retried. Check the cloud and the lock of ' +
      'the state first; then a drift round or a further round shows the differences.',
  ],
}

/** Shows the report of an apply, with the next step. */
export function Report({ report, isCancelled }: { report: ApplyReport; isCancelled: boolean }) {
  const outcome = outcomeOf(report)
  const [tone, title, advice] = WORDS[outcome]
  const { summary } = report
  return (
    <>
      <Notice tone={tone} title={title} actions={<NextStep outcome={outcome} />}>
        <p>{advice}</p>
        {isCancelled && <p>This round was stopped; the engine finished what it had started.</p>}
      </Notice>
      {outcome !== 'unknown' && (
        <dl class="seal-counts">
          {COUNTS.map(([key, name]) => (
            <div key={key}>
              <dt>{name}</dt>
              <dd class="number">{formatNumber(Number(summary[key]) || 0)}</dd>
            </div>
          ))}
        </dl>
      )}
      <p>
        {excerpt(report.execution_summary, 4_000)} <Origin by="model" />
      </p>
      <Entries entries={report.resource_changes} />
      <Advice texts={report.recommendations} />
    </>
  )
}

const COUNTS = [
  ['created', 'created'],
  ['updated', 'changed'],
  ['destroyed', 'destroyed'],
  ['failed', 'not done'],
] as const

const NextStep = ({ outcome }: { outcome: Outcome }) => (
  <SessionLink class="button" part={outcome === 'success' ? 'pull-request' : 'rounds'}>
    {outcome === 'success' ? 'Pull request' : 'Request a further round'}
  </SessionLink>
)

function Entries({ entries }: { entries: ApplyReport['resource_changes'] }) {
  if (entries.length === 0) return null
  // Failures first.
  const sorted = entries.toSorted((a, b) => Number(b.status === 'failed') - Number(a.status === 'failed'))
  return (
    <Scrolling class="scroll-x" label="Result of each resource">
      <FirstOf items={sorted}>
        {(shown) => (
          <Table head={['Resource', 'Result', 'Details']}>
            {shown.map((entry, index) => (
              <tr key={index}>
                <th scope="row" class="mono seal-address">
                  {excerpt(`${entry.resource_type}.${entry.resource_name}`, 300)}
                </th>
                <td class="seal-cell">
                  {entry.status === 'success' ? (
                    <Badge tone="good">✓ done</Badge>
                  ) : (
                    <Badge tone="bad">✗ not done</Badge>
                  )}
                </td>
                <td>
                  {excerpt(entry.details ?? '', 1_000)}
                  {entry.error_message && <pre class="small">{excerpt(entry.error_message, 4_000)}</pre>}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </FirstOf>
    </Scrolling>
  )
}

function Advice({ texts }: { texts: readonly unknown[] }) {
  const shown = texts.filter((text): text is string => typeof text === 'string')
  if (shown.length === 0) return null
  return (
    <>
      <h4>What to do</h4>
      <ul class="seal-advice">
        {shown.slice(0, 20).map((text, index) => (
          <li key={index}>{excerpt(text, 2_000)}</li>
        ))}
      </ul>
    </>
  )
}

const ENDS: Record<'cancelled' | 'failed' | 'lost', [tone: Tone, title: string, advice: ComponentChildren]> = {
  cancelled: [
    'neutral',
    'Stopped before it started',
    'The engine did not start and nothing was changed. The saved plan stays valid unless stated otherwise below.',
  ],
  failed: [
    'bad',
    'The apply round failed',
    'There is no report. The engine output shows how far the apply came. This session accepts no further ' +
      'round: open a new one, whose plan shows how code and cloud differ now.',
  ],
  lost: [
    'warn',
    'There is no report of this apply',
    'The round ended without one. A further round shows how code and cloud differ now.',
  ],
}

export function EndedWithout({ end, message }: { end: keyof typeof ENDS; message: string | null }) {
  const [tone, title, advice] = ENDS[end]
  return (
    <Notice tone={tone} title={title}>
      {message && <p>{excerpt(message, 2_000)}</p>}
      <p>{advice}</p>
    </Notice>
  )
}
