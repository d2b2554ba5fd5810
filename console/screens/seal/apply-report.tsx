import { Link } from '@tanstack/react-router'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Session } from '../../client/api/schemas.ts'
import { Badge, Origin, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { formatNumber, shorten, visibleText } from '../../ui/words.ts'
import { type ApplyReport, type Outcome, outcomeOf } from './apply-outcome.ts'

const WORDS: Record<Outcome, [tone: Tone, title: string, advice: string]> = {
  success: ['good', 'Applied', 'The plan was carried out. It is used up, so a further change needs a further round.'],
  partial: [
    'warn',
    'Applied in part',
    'Some of the plan was carried out, and the state knows which. The plan is used up: ask for a further round, ' +
      'which plans what is left, and apply that.',
  ],
  failed: [
    'bad',
    'The apply failed',
    'The engine began, and completed nothing. The plan is used up: mend the cause in a further round and apply that.',
  ],
  nothing: [
    'warn',
    'Nothing was applied',
    'The cloud is as it was. The plan is used up: ask for a further round, which plans on the state as it is now.',
  ],
  unknown: [
    'bad',
    'Nobody knows what was applied',
    'It may have been carried out wholly, in part or not at all, and it is not tried again. Look at the cloud and at ' +
      'the lock of the state before anything else; then a drift round or a further round shows what differs.',
  ],
}

interface Props {
  report: ApplyReport
  session: Session
  isCancelled: boolean
}

/** What an apply did, and what to do now. */
export function Report({ report, session, isCancelled }: Props) {
  const outcome = outcomeOf(report)
  const [tone, title, advice] = WORDS[outcome]
  const { summary } = report
  return (
    <>
      <Notice tone={tone} title={title} actions={<NextSteps outcome={outcome} session={session} />}>
        <p>{advice}</p>
        {isCancelled && <p>Somebody stopped this round; the engine ended what it had begun.</p>}
      </Notice>
      {outcome !== 'unknown' && (
        <dl class="seal-counts">
          <Count name="created" value={summary.created} />
          <Count name="changed" value={summary.updated} />
          <Count name="destroyed" value={summary.destroyed} />
          <Count name="not done" value={summary.failed} />
        </dl>
      )}
      <p>
        {shorten(visibleText(report.execution_summary), 4_000)} <Origin by="model" />
      </p>
      <Entries entries={report.resource_changes} />
      <Advice texts={report.recommendations} />
    </>
  )
}

const Count = ({ name, value }: { name: string; value: number }) => (
  <div>
    <dt>{name}</dt>
    <dd class="number">{formatNumber(Number(value) || 0)}</dd>
  </div>
)

function NextSteps({ outcome, session }: { outcome: Outcome; session: Session }) {
  const params = { sessionId: session.uuid }
  if (outcome === 'success')
    return (
      <Link class="button" to="/sessions/$sessionId/pull-request" params={params}>
        Pull request
      </Link>
    )
  return (
    <Link class="button" to="/sessions/$sessionId" params={params} activeOptions={{ exact: true }}>
      Ask for a further round
    </Link>
  )
}

const FIRST = 50
const MORE = 200

function Entries({ entries }: { entries: ApplyReport['resource_changes'] }) {
  const [count, setCount] = useState(FIRST)
  if (entries.length === 0) return null
  // What failed is what people look for.
  const sorted = entries.toSorted((a, b) => Number(b.status === 'failed') - Number(a.status === 'failed'))
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by the keyboard */}
      <section class="scroll-x" tabIndex={0} aria-label="What became of each resource">
        <table>
          <thead>
            <tr>
              <th scope="col">Resource</th>
              <th scope="col">Result</th>
              <th scope="col">What happened</th>
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, count).map((entry, index) => (
              <tr key={index}>
                <th scope="row" class="mono seal-address">
                  {shorten(visibleText(`${entry.resource_type}.${entry.resource_name}`), 300)}
                </th>
                <td class="seal-cell">{entry.status === 'success' ? <Done /> : <NotDone />}</td>
                <td>
                  {shorten(visibleText(entry.details ?? ''), 1_000)}
                  {entry.error_message && <pre class="small">{shorten(visibleText(entry.error_message), 4_000)}</pre>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {entries.length > count && (
        <Button onClick={() => setCount((before) => before + MORE)}>
          Show more ({formatNumber(entries.length - count)} left)
        </Button>
      )}
    </>
  )
}

const Done = () => <Badge tone="good">✓ done</Badge>
const NotDone = () => <Badge tone="bad">✗ not done</Badge>

function Advice({ texts }: { texts: readonly unknown[] }) {
  const shown = texts.filter((text): text is string => typeof text === 'string')
  if (shown.length === 0) return null
  return (
    <>
      <h4>What to do</h4>
      <ul class="seal-advice">
        {shown.slice(0, 20).map((text, index) => (
          <li key={index}>{shorten(visibleText(text), 2_000)}</li>
        ))}
      </ul>
    </>
  )
}

const ENDS: Record<'cancelled' | 'failed' | 'lost', [tone: Tone, title: string, advice: ComponentChildren]> = {
  cancelled: [
    'neutral',
    'Stopped before it began',
    'Nothing was handed to the engine and nothing was changed. The plan stays sealed unless it says otherwise below.',
  ],
  failed: [
    'bad',
    'The apply round failed',
    'There is no report. What the engine printed says how far it came, if it began. This session takes no further ' +
      'round: open a new one, whose plan shows how the code and the cloud differ now.',
  ],
  lost: [
    'warn',
    'There is no report of this apply',
    'The round ended without one. A further round shows how the code and the cloud differ now.',
  ],
}

export function EndedWithout({ end, message }: { end: keyof typeof ENDS; message: string | null }) {
  const [tone, title, advice] = ENDS[end]
  return (
    <Notice tone={tone} title={title}>
      {message && <p>{shorten(visibleText(message), 2_000)}</p>}
      <p>{advice}</p>
    </Notice>
  )
}

export const Damaged = () => (
  <Notice tone="bad" title="The report cannot be read">
    Its document is damaged. What the engine printed stands below and with the round.
  </Notice>
)
