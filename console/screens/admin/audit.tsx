import { keepPreviousData, useQuery } from '@tanstack/preact-query'
import { useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import type { Query } from '../../client/api/client.ts'
import { usePlatform } from '../../client/platform.ts'
import { type Address, useAddress } from '../../client/use-address.ts'
import { Button } from '../../ui/button.tsx'
import { SelectFilter, TextFilter } from '../../ui/filters.tsx'
import { Empty, ErrorNotice, Notice, Skeleton } from '../../ui/notice.tsx'
import { Page } from '../../ui/page.tsx'
import { PanelGate, Unreadable } from '../../ui/shell/errors.tsx'
import { AdminTabs, Pager } from './admin-parts.tsx'
import { ACTIONS, AuditTable, Refusals } from './audit-table.tsx'

const PAGE_SIZE = 50
const FILTERS = ['action', 'user_email', 'session_id', 'after', 'before'] as const

export const Screen = () => (
  <Page
    wide
    title="Audit"
    lead="Who did what, the newest first. An entry is written together with its action and never changes."
  >
    <AdminTabs />
    <PanelGate needs="viewer" purpose="see the audit">
      <Audit />
    </PanelGate>
  </Page>
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
  const query = { ...filters, page: Number(address.read('page')) || 1, page_size: PAGE_SIZE }
  const audit = useQuery({
    queryKey: ['audit', query],
    queryFn: ({ signal }) => calls.listAudit(api, { query, signal }),
    placeholderData: keepPreviousData,
  })
  const clear = () => address.change({ ...Object.fromEntries(FILTERS.map((name) => [name, ''])), page: '' })
  const isFiltered = FILTERS.some((name) => address.read(name) !== '')
  return (
    <>
      <Filters address={address} clear={isFiltered ? clear : null} filters={filters} />
      {audit.error && audit.data && (
        <ErrorNotice error={audit.error} title="The list is out of date" retry={() => void audit.refetch()} />
      )}
      {!audit.data ? (
        audit.error ? (
          <Unreadable error={audit.error} what="audit" retry={() => void audit.refetch()} />
        ) : (
          <Skeleton lines={12} />
        )
      ) : (
        <>
          <Refusals refusals={audit.data.sign_in_refusals} />
          {audit.data.items.length === 0 ? (
            <Empty title="No entry" actions={isFiltered && <Button onClick={clear}>Clear filters</Button>}>
              {isFiltered ? 'No entry matches.' : 'There are no entries yet.'}
            </Empty>
          ) : (
            <AuditTable records={audit.data.items} isOld={audit.isPlaceholderData} />
          )}
          <Pager
            page={audit.data.page}
            pages={audit.data.total_pages}
            total={audit.data.total}
            isExact={audit.data.total_is_exact}
            what={['entry', 'entries']}
            go={(page) => address.change({ page: page === 1 ? '' : String(page) })}
          />
          {!audit.data.total_is_exact && (
            <Older last={audit.data.items.at(-1)?.at} total={audit.data.total} address={address} />
          )}
        </>
      )}
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

interface FiltersProps {
  address: Address
  filters: Query
  /** Clears the filters; null when none is set. */
  clear: (() => void) | null
}

function Filters({ address, filters, clear }: FiltersProps) {
  return (
    <search class="admin-filters">
      <SelectFilter name="action" label="Action" options={Object.entries(ACTIONS)} address={address} />
      <TextFilter name="user_email" label="Done by" type="search" hint="Part of the e-mail" address={address} />
      <TextFilter name="session_id" label="Session" type="search" hint="Its id" address={address} />
      <TextFilter name="after" label="From" type="datetime-local" address={address} />
      <TextFilter name="before" label="Before" type="datetime-local" address={address} />
      {clear && <Button onClick={clear}>Clear filters</Button>}
      <Download filters={filters} />
    </search>
  )
}

/** Downloads the file with the user's token, which a link could not send. */
function Download({ filters }: { filters: Query }) {
  const { api } = usePlatform()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const load = async () => {
    setBusy(true)
    setError(null)
    try {
      const answer = await api.send({ method: 'GET', path: '/admin/audit', query: { ...filters, format: 'csv' } })
      save(await answer.blob(), 'audit.csv')
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button busy={busy} onClick={() => void load()}>
        Download CSV
      </Button>
      {error !== null && <ErrorNotice error={error} title="The file was not downloaded" retry={() => void load()} />}
    </>
  )
}

const KEPT_MS = 60_000

/** Saves a file that is in memory. */
export function save(file: Blob, name: string): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads it after this returns.
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS)
}
