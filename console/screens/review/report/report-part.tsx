import type { Action, Round } from '../../../client/api/client.ts'
import { ExactNumber, objectOf, textOf } from '../../../client/json.ts'
import { hasEnded, lastStatus } from '../../../client/sessions/use-session.ts'
import { Scrolling } from '../../../ui/controls.tsx'
import { ActionBadge, Badge, Empty, Notice, Origin, ReportBadge, Term, type Tone } from '../../../ui/kit.tsx'
import { Table } from '../../../ui/table.tsx'
import { excerpt, formatNumber, upperFirst, visibleText } from '../../../ui/words.ts'
import type { SessionPart } from '../../session/next-step.ts'
import { ReadDocument, SessionLink } from '../../session/open-session.tsx'
import { ResourceLink } from '../review-links.tsx'
import { addressIn, formatAmount, type GenerateReport, type Point, readGenerateReport } from './generate-report.ts'
import { Prose } from './prose.tsx'

type Report = Round['reports'][number]

export function ReportPart({ round }: { round: Round }) {
  const report = round.reports.at(-1)
  return (
    <section class="report-part" aria-label="Report">
      <h2>Report</h2>
      {report ? <ReportView report={report} preview={round.preview} /> : <NoReport round={round} />}
    </section>
  )
}

function NoReport({ round }: { round: Round }) {
  const message = lastStatus(round)?.message
  if (!hasEnded(round))
    return (
      <Empty title="No report yet">
        The report is written when the <Term name="round">round</Term> ends.
      </Empty>
    )
  return (
    <Empty title="This round ended without a report">
      {message ? visibleText(message) : 'It made no plan to report on.'}
    </Empty>
  )
}

const SCREENS: Partial<Record<Report['type'], [part: SessionPart, words: string]>> = {
  drift: ['drift', 'Compare code and cloud'],
  import: ['import', 'See the inventory of the scope'],
  apply: ['seal', 'See what was applied'],
}

const asObject = (document: unknown) => (typeof document === 'object' ? document : null)

const ReportView = ({ report, preview }: { report: Report; preview: boolean }) => (
  <ReadDocument
    url={report.url}
    parse={asObject}
    what="report"
    failure="The report could not be read."
    lines={8}
    unknown={<Notice tone="warn" title="The format of the report is unknown." />}
  >
    {(document) => {
      const generated = report.type === 'generate' ? readGenerateReport(document) : null
      if (generated) return <GenerateView report={generated} />
      const [part, words] = SCREENS[report.type] ?? []
      return (
        <>
          {part && (
            <p>
              <SessionLink part={part}>{words}</SessionLink>
            </p>
          )}
          <PlainView document={document} preview={preview} />
        </>
      )
    }}
  </ReadDocument>
)

const MAX_ITEMS = 200

/** Returns `Resource address` for `resource_address`. */
const nameOfKey = (key: string): string => upperFirst(key.replaceAll(/[_\s]+/g, ' ').trim())

/** Shows a report of any type, by key: status and numbers first, then texts, then lists. */
function PlainView({ document, preview }: { document: unknown; preview: boolean }) {
  const { status, summary, ...rest } = objectOf(document)
  const counts = Object.entries(objectOf(summary)).filter(([, value]) => typeof value === 'number')
  const texts = Object.entries({ summary, ...rest }).filter(([, value]) => typeof value === 'string' && value !== '')
  const lists = Object.entries(rest).filter(([, value]) => Array.isArray(value) && value.length > 0)
  return (
    <>
      <p class="report-line">
        {textOf(status) && <ReportBadge status={textOf(status)} />}
        {counts.map(([name, value]) => (
          <span key={name} class="number">
            {nameOfKey(name)}: {formatNumber(value as number)}
          </span>
        ))}
        <Origin by="code" />
      </p>
      {texts.map(([name, value]) => (
        <div key={name}>
          {name !== 'summary' && name !== 'execution_summary' && <h3>{visibleText(nameOfKey(name))}</h3>}
          <Prose text={value as string} />
        </div>
      ))}
      {!preview && (
        <p class="quiet small report-line">
          Numbers and results <Origin by="code" /> · other texts <Origin by="model" />
        </p>
      )}
      {lists.map(([name, value]) => (
        <section key={name} aria-label={visibleText(nameOfKey(name))}>
          <h3>{visibleText(nameOfKey(name))}</h3>
          <Values values={value as unknown[]} />
        </section>
      ))}
    </>
  )
}

const Values = ({ values }: { values: readonly unknown[] }) => (
  <ul class="report-changes">
    {values.slice(0, MAX_ITEMS).map((value, index) => (
      <li key={index}>
        <Value value={value} />
      </li>
    ))}
    {values.length > MAX_ITEMS && <li class="quiet">and {formatNumber(values.length - MAX_ITEMS)} more</li>}
  </ul>
)

function Value({ value }: { value: unknown }) {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber)
    return <>{excerpt(String(value), 4_000)}</>
  const entries = Object.entries(value).filter(([, inner]) => inner !== null && inner !== '' && !isEmptyList(inner))
  return (
    <dl class="report-fields">
      {entries.map(([name, inner]) => (
        <div key={name}>
          <dt>{visibleText(nameOfKey(name))}</dt>
          <dd>{Array.isArray(inner) ? <Values values={inner} /> : <Value value={inner} />}</dd>
        </div>
      ))}
    </dl>
  )
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

const TONES: Record<GenerateReport['banner']['level'], Tone> = { low: 'good', medium: 'warn', high: 'bad' }
const ACTIONS: Record<keyof GenerateReport['counts'], Action> = {
  create: 'create',
  update: 'update',
  recreate: 'replace',
  delete: 'delete',
}

/** Shows the report of a generate round: impact, changes, checks, and cost. */
const GenerateView = ({ report }: { report: GenerateReport }) => (
  <>
    <Impact report={report} />
    <Points points={report.points} changes={report.changes} />
    <Changes changes={report.changes} />
    <StateChanges changes={report.stateChanges} />
    <Costs costs={report.costs} />
  </>
)

function Impact({ report: { banner, counts, stateCounts, summary } }: { report: GenerateReport }) {
  const tone = TONES[banner.level]
  return (
    <div class={`notice notice-${tone} report-impact`}>
      <p class="report-line">
        <Term name="impact">Impact</Term>
        <Badge tone={tone}>{banner.level}</Badge>
        <Origin by="code" />
        <span class="quiet small">Code computes the minimum from the plan; a model can only raise it.</span>
      </p>
      <dl class="report-counts">
        {(Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]).map((name) => (
          <div key={name}>
            <dt>
              <ActionBadge action={ACTIONS[name]} />
            </dt>
            <dd class="number">{formatNumber(counts[name])}</dd>
          </div>
        ))}
        {stateCounts.map(({ name, count }) => (
          <div key={name}>
            <dt>
              <ActionBadge action={name} />
            </dt>
            <dd class="number">{formatNumber(count)}</dd>
          </div>
        ))}
        <div>
          <dt class="unseen">Origin of these numbers</dt>
          <dd>
            <Origin by="code" />
          </dd>
        </div>
      </dl>
      <div class="report-said">
        <p class="report-line">
          <b>{excerpt(banner.title, 300)}</b>
          <Origin by="model" />
        </p>
        <Prose text={banner.description} />
        <Prose text={summary} />
      </div>
    </div>
  )
}

const MAX_POINTS = 50

function Points({ points, changes }: { points: readonly Point[]; changes: GenerateReport['changes'] }) {
  // Changes that only repeat the sentence about a resource are shown with that resource.
  const said = new Set(changes.map(({ name, summary }) => `${name}\n${summary}`))
  const own = points.filter(({ title, lead, items }) => items.length > 0 || !said.has(`${title}\n${lead}`))
  const sorted = [...own.filter(({ by }) => by === 'code'), ...own.filter(({ by }) => by === 'model')]
  if (sorted.length === 0) return null
  return (
    <section class="report-points" aria-labelledby="report-points">
      <h3 id="report-points">Before you apply</h3>
      <ul>
        {sorted.map((point, index) => (
          <li key={index} class="card">
            <p class="report-line">
              <b>{excerpt(point.title, 300)}</b>
              <Origin by={point.by} />
            </p>
            <Prose text={point.lead} />
            {point.items.length > 0 && <Items point={point} />}
          </li>
        ))}
      </ul>
    </section>
  )
}

const Items = ({ point: { items, by } }: { point: Point }) => (
  <ul class="report-items">
    {items.slice(0, MAX_POINTS).map((item, index) => (
      <li key={index}>
        <Item text={item} by={by} />
      </li>
    ))}
    {items.length > MAX_POINTS && <li class="quiet">and {formatNumber(items.length - MAX_POINTS)} more</li>}
  </ul>
)

function Item({ text, by }: { text: string; by: Point['by'] }) {
  const address = by === 'code' ? addressIn(text) : null
  const words = excerpt(text, 2_000)
  if (!address) return words
  return (
    <>
      {visibleText(text.slice(0, -address.length))}
      <code>{visibleText(address)}</code>
    </>
  )
}

function Changes({ changes }: Pick<GenerateReport, 'changes'>) {
  if (changes.length === 0) return null
  const shown = changes.slice(0, 200)
  return (
    <section aria-labelledby="report-changes">
      <h3 id="report-changes">Resources</h3>
      <p class="quiet small report-line">
        Resources and actions <Origin by="code" /> · descriptions <Origin by="model" />
      </p>
      <ul class="report-changes">
        {shown.map(({ name, action, summary, notes, details }) => (
          <li key={name}>
            <p class="report-line">
              <ActionBadge action={ACTIONS[action]} />
              <ResourceLink address={name} />
            </p>
            <Prose text={summary.replace(name, 'It')} />
            <Prose text={notes} class="quiet" />
            {details && (
              <details>
                <summary>Details</summary>
                <pre class="report-details">{excerpt(details, 20_000)}</pre>
              </details>
            )}
          </li>
        ))}
      </ul>
      {changes.length > shown.length && (
        <p class="quiet">
          {formatNumber(changes.length - shown.length)} more resources are in the plan, which lists all of them.
        </p>
      )}
    </section>
  )
}

/** Lists what changes in the state alone. */
function StateChanges({ changes }: { changes: GenerateReport['stateChanges'] }) {
  if (changes.length === 0) return null
  return (
    <section aria-labelledby="report-state">
      <h3 id="report-state">In the state alone</h3>
      <p class="quiet small report-line">
        Objects, actions and descriptions <Origin by="code" />
      </p>
      <ul class="report-changes">
        {changes.slice(0, MAX_ITEMS).map(({ name, action, before, summary }) => (
          <li key={`${action} ${name}`}>
            <p class="report-line">
              <ActionBadge action={action} />
              {before !== '' && (
                <>
                  <code>{visibleText(before)}</code> →{' '}
                </>
              )}
              <ResourceLink address={name} />
            </p>
            <Prose text={summary} />
          </li>
        ))}
      </ul>
      {changes.length > MAX_ITEMS && <p class="quiet">and {formatNumber(changes.length - MAX_ITEMS)} more</p>}
    </section>
  )
}

const PRICING = { fixed: 'fixed', usage_based: 'usage-based', free: 'free' } as const

/** Shows the monthly costs of the plan: rows by a model, their sum by code. */
function Costs({ costs }: { costs: GenerateReport['costs'] }) {
  const { currency, rows, total } = costs
  return (
    <section aria-labelledby="report-costs">
      <h3 id="report-costs">Estimated costs a month</h3>
      <Prose text={costs.introduction} />
      <Scrolling class="scroll-x report-costs" label="Table of the costs">
        <Table
          head={[
            <>
              Kind of resource <Origin by="model" />
            </>,
            'Price',
            { number: 'Fixed a month' },
            'Notes',
          ]}
          foot={
            <tr>
              <th scope="row" colSpan={2}>
                Total of the fixed amounts <Origin by={rows.length > 0 ? 'code' : 'model'} />
              </th>
              <td class="number">
                <b>{formatAmount(total, currency)}</b>
              </td>
              <td class="quiet small">Usage-based costs are added.</td>
            </tr>
          }
        >
          {rows.map(({ type, pricing, monthly, notes }, index) => (
            <tr key={index}>
              <td class="mono">{excerpt(type, 200)}</td>
              <td>{PRICING[pricing]}</td>
              <td class="number">{pricing === 'usage_based' ? '—' : formatAmount(monthly, currency)}</td>
              <td>{excerpt(notes, 1_000)}</td>
            </tr>
          ))}
        </Table>
      </Scrolling>
    </section>
  )
}
