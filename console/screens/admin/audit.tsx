import { keepPreviousData, useMutation, useQuery } from '@tanstack/preact-query'
import { type Components, calls, type Query } from '../../client/api/client.ts'
import { usePlatform } from '../../client/platform.ts'
import { type Address, useAddress } from '../../client/use-address.ts'
import { SelectFilter, TextFilter } from '../../ui/filters.tsx'
import { Button, Empty, ErrorNotice, Notice } from '../../ui/kit.tsx'
import { QueryContent } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { excerpt, formatMoment, formatNumber, plural } from '../../ui/words.ts'
import { SessionLink } from '../session/open-session.tsx'
import { AdminPage, Pager } from './admin-parts.tsx'

const FILTERS = ['action', 'user_email', 'session_id', 'after', 'before'] as const

export const Screen = () => (
  <AdminPage
    title="Audit"
    lead="Who did what, the newest first. An entry is written together with its action and never changes."
    needs="viewer"
    purpose="see the audit"
  >
    <Audit />
  </AdminPage>
)

/** Returns the query of an address. Its times are local unless they have an offset. */
function toQuery({ read }: Address): Query {
  const moment = (text: string) => {
    const at = new Date(text)
    return text === '' || Number.isNaN(at.getTime()) ? text : /Z$|[+-]\d\d:\d\d$/.test(text) ? text : at.toISOString()
  }
  return Object.fromEntries(
    FILTERS.map((name) => [name, name === 'after' || name === 'before' ? moment(read(name)) : read(name)] as const),
  )
}

function Audit() {
  const { api } = usePlatform()
  const address = useAddress()
  const filters = toQuery(address)
  const query = { ...filters, page: Number(address.read('page')) || 1, page_size: 50 }
  const audit = useQuery({
    queryKey: ['audit', query],
    queryFn: ({ signal }) => calls.listAudit(api, { query, signal }),
    placeholderData: keepPreviousData,
  })
  const clear = () => address.change({ ...Object.fromEntries(FILTERS.map((name) => [name, ''])), page: '' })
  const isFiltered = FILTERS.some((name) => address.read(name) !== '')
  return (
    <>
      <search class="admin-filters">
        <SelectFilter name="action" label="Action" options={Object.entries(ACTIONS)} address={address} />
        <TextFilter name="user_email" label="Done by" type="search" hint="Part of the e-mail" address={address} />
        <TextFilter name="session_id" label="Session" type="search" hint="Its id" address={address} />
        <TextFilter name="after" label="From" type="datetime-local" address={address} />
        <TextFilter name="before" label="Before" type="datetime-local" address={address} />
        {isFiltered && <Button onClick={clear}>Clear filters</Button>}
        <Download filters={filters} />
      </search>
      <QueryContent query={audit} what="audit" lines={12} stale="The list is out of date">
        {(list) => (
          <>
            <Refusals refusals={list.sign_in_refusals} />
            {list.items.length === 0 ? (
              <Empty title="No entry" actions={isFiltered && <Button onClick={clear}>Clear filters</Button>}>
                {isFiltered ? 'No entry matches.' : 'There are no entries yet.'}
              </Empty>
            ) : (
              <div class="admin-table scroll-x" aria-busy={audit.isPlaceholderData}>
                <Table head={['When', 'Who', 'What', 'Session', 'Details']}>
                  {list.items.map((record) => (
                    <Entry key={record.id} record={record} />
                  ))}
                </Table>
              </div>
            )}
            <Pager list={list} what={['entry', 'entries']} address={address} />
            {!list.total_is_exact && <Older last={list.items.at(-1)?.at} total={list.total} address={address} />}
          </>
        )}
      </QueryContent>
    </>
  )
}

const Older = ({ last, total, address }: { last: string | undefined; total: number; address: Address }) => (
  <Notice
    title="Too many entries to count"
    actions={
      last && (
        <Button small onClick={() => address.change({ before: last, page: '' })}>
          Only entries older than this page
        </Button>
      )
    }
  >
    The pages show the newest {total}. Select a time, or download all entries as CSV.
  </Notice>
)

/** Downloads the file with the user's token, which a link could not send. */
function Download({ filters }: { filters: Query }) {
  const { api } = usePlatform()
  const file = useMutation({
    mutationFn: async () => {
      const answer = await api.send({ method: 'GET', path: '/admin/audit', query: { ...filters, format: 'csv' } })
      save(await answer.blob(), 'audit.csv')
    },
  })
  const load = () => file.mutate()
  return (
    <>
      <Button busy={file.isPending} onClick={load}>
        Download CSV
      </Button>
      {file.error && <ErrorNotice error={file.error} title="The file was not downloaded" retry={load} />}
    </>
  )
}

/** Saves a file that is in memory. */
function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads it after this returns.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

const shown = (text: string) => excerpt(text, 300)

const Entry = ({ record }: { record: AuditRecord }) => (
  <tr>
    <td class="number" style={{ textAlign: 'start' }}>
      <time dateTime={record.at}>{formatMoment(record.at)}</time>
    </td>
    <td>
      <span title={record.subject ? `Subject ${shown(record.subject)}` : undefined}>{shown(record.actor)}</span>
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

const ACTIONS: Record<AuditRecord['action'], string> = {
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
  state_adopted: 'Adopted a state',
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
function Refusals({ refusals }: { refusals: Components['AuditPage']['sign_in_refusals'] }) {
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
