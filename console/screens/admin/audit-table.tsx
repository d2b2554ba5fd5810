import type { Components } from '../../client/api/schemas.ts'
import { Table } from '../../ui/table.tsx'
import { excerpt, formatMoment, formatNumber, plural } from '../../ui/words.ts'
import { SessionLink } from '../session/session-link.tsx'

const shown = (text: string) => excerpt(text, 300)

export const AuditTable = ({ records, isOld }: { records: readonly AuditRecord[]; isOld: boolean }) => (
  <div class="admin-table scroll-x" aria-busy={isOld}>
    <Table head={['When', 'Who', 'What', 'Session', 'Details']}>
      {records.map((record) => (
        <Entry key={record.id} record={record} />
      ))}
    </Table>
  </div>
)

const Entry = ({ record }: { record: AuditRecord }) => (
  <tr>
    <td class="number" style={{ textAlign: 'start' }}>
      <time dateTime={record.at}>{formatMoment(record.at)}</time>
    </td>
    <td>
      {shown(record.actor)}
      {record.address && (
        <>
          <br />
          <span class="small quiet">from {shown(record.address)}</span>
        </>
      )}
    </td>
    <td>{ACTIONS[record.action] ?? shown(record.action)}</td>
    <td>
      {record.session_id && (
        <SessionLink id={record.session_id} class="mono">
          {record.session_id.slice(0, 8)}
        </SessionLink>
      )}
    </td>
    <td>
      <dl class="admin-detail small">
        {toFacts(record.detail).map(([name, value]) => (
          <div key={name}>
            <dt class="quiet">{shown(name)}</dt>
            <dd>{shown(value)}</dd>
          </div>
        ))}
      </dl>
    </td>
  </tr>
)

type AuditRecord = Components['AuditPage']['items'][number]

export const ACTIONS: Record<AuditRecord['action'], string> = {
  round_accepted: 'Requested a round',
  round_cancelled: 'Stopped a round',
  apply_accepted: 'Requested an apply',
  apply_ended: 'Apply ended',
  pull_request_opened: 'Opened a pull request',
  pull_request_updated: 'Updated a pull request',
  merge_begun: 'Started a merge',
  merge_completed: 'Merged',
  session_locked: 'Locked a session',
  session_unlocked: 'Unlocked a session',
  roles_changed: 'Changed roles',
  user_created: 'Signed in for the first time',
}

const NAMES: Record<string, string> = { is_partial: 'part of the scope' }

/** Returns the details of an entry as pairs of name and value for readers; unknown names are unchanged. */
function toFacts(detail: Record<string, unknown>): [name: string, value: string][] {
  return Object.entries(detail)
    .filter(([, value]) => value !== null && value !== false)
    .map(([name, value]) => [NAMES[name] ?? name.replaceAll('_', ' '), toWords(value)])
}

function toWords(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (value === true) return 'yes'
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.map(toWords).join(', ')
  return Object.entries(value)
    .map(([name, inner]) => `${name.replaceAll('_', ' ')}: ${toWords(inner)}`)
    .join(', ')
}

/** Shows the number of requests without a valid token, which are never listed individually. */
export function Refusals({ refusals }: { refusals: Components['AuditPage']['sign_in_refusals'] }) {
  const { from, until, total, reasons, addresses } = refusals
  const title = total === 0 ? 'No sign-in was refused' : `${plural(total, 'sign-in')} refused`
  return (
    <details class="card">
      <summary>
        {title} <span class="quiet small">{`${formatMoment(from)} to ${formatMoment(until)}`}</span>
      </summary>
      {total === 0 ? (
        <p class="small quiet">Requests answered with 401 are counted here, by reason and network.</p>
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
  <Table head={[title, { number: 'Refused' }]}>
    {rows.map(([name, count]) => (
      <tr key={name}>
        <td>{shown(name)}</td>
        <td class="number">{formatNumber(count)}</td>
      </tr>
    ))}
  </Table>
)
