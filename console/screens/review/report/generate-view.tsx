import type { Action } from '../../../client/api/schemas.ts'
import { ActionBadge, Badge, Origin, type Tone } from '../../../ui/badge.tsx'
import { Scrolling } from '../../../ui/controls.tsx'
import { Table } from '../../../ui/table.tsx'
import { Term } from '../../../ui/term.tsx'
import { excerpt, formatNumber, visibleText } from '../../../ui/words.ts'
import { ResourceLink } from '../review-links.tsx'
import { addressIn, formatAmount, type GenerateReport, type Point } from './generate-report.ts'
import { Prose } from './prose.tsx'

const TONES: Record<GenerateReport['banner']['level'], Tone> = { low: 'good', medium: 'warn', high: 'bad' }
const ACTIONS: Record<keyof GenerateReport['counts'], Action> = {
  create: 'create',
  update: 'update',
  recreate: 'replace',
  delete: 'delete',
}

/** Shows the report of a generate round: impact, changes, checks, and cost. */
export const GenerateView = ({ report }: { report: GenerateReport }) => (
  <>
    <Impact report={report} />
    <Points points={report.points} changes={report.changes} />
    <Changes changes={report.changes} />
    <Costs costs={report.costs} />
  </>
)

function Impact({ report: { banner, counts, summary } }: { report: GenerateReport }) {
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

const MAX_ITEMS = 50

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
    {items.slice(0, MAX_ITEMS).map((item, index) => (
      <li key={index}>
        <Item text={item} by={by} />
      </li>
    ))}
    {items.length > MAX_ITEMS && <li class="quiet">and {formatNumber(items.length - MAX_ITEMS)} more</li>}
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
