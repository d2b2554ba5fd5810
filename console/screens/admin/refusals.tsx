import type { Components } from '../../client/api/types.ts'
import { formatMoment, formatNumber, plural } from '../../ui/words/format.ts'
import { shorten, visibleText } from '../../ui/words/text.ts'

type RefusalSums = Components['AuditPage']['sign_in_refusals']

const shown = (text: string) => visibleText(shorten(text, 200))

/** Requests without a valid token: counted, and never listed one by one. */
export function Refusals({ refusals }: { refusals: RefusalSums }) {
  const { from, until, total, reasons, addresses } = refusals
  const title = total === 0 ? 'No sign-in was refused' : `${plural(total, 'sign-in')} refused`
  return (
    <details class="card">
      <summary>
        {title} <span class="quiet small">{`${formatMoment(from)} to ${formatMoment(until)}`}</span>
      </summary>
      {total === 0 ? (
        <p class="small quiet">Requests that were answered with 401 would be counted here, by reason and network.</p>
      ) : (
        <div class="admin-figures">
          <Sums title="Reason" rows={reasons.map(({ reason, refusals: count }) => [reason, count])} />
          <Sums
            title="Network"
            rows={addresses.map(({ address_prefix, refusals: count }) => [address_prefix, count])}
          />
        </div>
      )}
    </details>
  )
}

const Sums = ({ title, rows }: { title: string; rows: readonly (readonly [string, number])[] }) => (
  <table>
    <thead>
      <tr>
        <th scope="col">{title}</th>
        <th scope="col" class="number">
          Refused
        </th>
      </tr>
    </thead>
    <tbody>
      {rows.map(([name, count]) => (
        <tr key={name}>
          <td>{shown(name)}</td>
          <td class="number">{formatNumber(count)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)
