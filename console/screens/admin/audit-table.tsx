import { Link } from '@tanstack/react-router'
import { formatMoment } from '../../ui/words/format.ts'
import { shorten, visibleText } from '../../ui/words/text.ts'
import { ACTIONS, type AuditRecord, toFacts } from './audit-entries.ts'

const LONGEST = 300
const shown = (text: string) => visibleText(shorten(text, LONGEST))

export const AuditTable = ({ records, isOld }: { records: readonly AuditRecord[]; isOld: boolean }) => (
  <div class="admin-table scroll-x" aria-busy={isOld}>
    <table>
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">Who</th>
          <th scope="col">What</th>
          <th scope="col">Session</th>
          <th scope="col">Details</th>
        </tr>
      </thead>
      <tbody>
        {records.map((record) => (
          <Entry key={record.id} record={record} />
        ))}
      </tbody>
    </table>
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
        <Link to={`/sessions/${record.session_id}` as never} class="mono">
          {record.session_id.slice(0, 8)}
        </Link>
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
