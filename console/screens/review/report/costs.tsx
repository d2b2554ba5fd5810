import { Origin } from '../../../ui/badge.tsx'
import { shorten, visibleText } from '../../../ui/words/text.ts'
import { formatAmount, type GenerateReport } from './generate-report.ts'
import { Prose } from './prose.tsx'

const PRICING = { fixed: 'fixed', usage_based: 'by use', free: 'free' } as const

/** What the plan costs a month: rows by a model, their sum by code. */
export function Costs({ costs }: { costs: GenerateReport['costs'] }) {
  const { currency, rows, total } = costs
  return (
    <section aria-labelledby="report-costs">
      <h3 id="report-costs">Estimated costs a month</h3>
      <Prose text={costs.introduction} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by the keyboard */}
      <section class="scroll-x report-costs" aria-label="Table of the costs" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">
                Kind of resource <Origin by="model" />
              </th>
              <th scope="col">Price</th>
              <th scope="col" class="number">
                Fixed a month
              </th>
              <th scope="col">Notes</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ type, pricing, monthly, notes }, index) => (
              <tr key={index}>
                <td class="mono">{shorten(visibleText(type), 200)}</td>
                <td>{PRICING[pricing]}</td>
                <td class="number">{pricing === 'usage_based' ? '—' : formatAmount(monthly, currency)}</td>
                <td>{shorten(visibleText(notes), 1_000)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row" colSpan={2}>
                Total of the fixed amounts <Origin by={rows.length > 0 ? 'code' : 'model'} />
              </th>
              <td class="number">
                <b>{formatAmount(total, currency)}</b>
              </td>
              <td class="quiet small">What is paid by use comes on top.</td>
            </tr>
          </tfoot>
        </table>
      </section>
    </section>
  )
}
