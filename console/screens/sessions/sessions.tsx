import { Link } from '@tanstack/react-router'
import { hasPanelRole, useMe } from '../../client/platform.ts'
import { type Address, useAddress, useAnySearch } from '../../client/use-address.ts'
import type { Options } from '../../ui/controls.tsx'
import { SelectFilter, TextFilter } from '../../ui/filters.tsx'
import { Button, STATUS_NAMES, Term } from '../../ui/kit.tsx'
import { Page, PanelGate } from '../../ui/page.tsx'
import { CLOUDS, MODES } from '../../ui/words.ts'
import { activeFilters, type FilterName, filtersOf, toQuery, type View } from './filters.ts'
import { SessionList } from './session-list.tsx'

/** Shows the user's own sessions and, with a role in the panel, all sessions. */
export function Screen() {
  const me = useMe()
  const view: View = useAnySearch().view === 'all' ? 'all' : 'mine'
  const mayAll = hasPanelRole(me.data, 'viewer')
  return (
    <Page
      wide
      title="Sessions"
      lead={
        <>
          Each <Term name="session" /> is a conversation about one folder of a repository.
        </>
      }
      actions={
        <Link class="button button-primary" to="/">
          New request
        </Link>
      }
    >
      {(mayAll || view === 'all') && <Views />}
      {view === 'all' ? (
        <PanelGate needs="viewer" purpose="see all sessions">
          <Filtered view={view} />
        </PanelGate>
      ) : (
        <Filtered view={view} />
      )}
    </Page>
  )
}

const Views = () => (
  <nav class="tabs" aria-label="Whose sessions">
    {(['mine', 'all'] as const).map((each) => (
      <Link
        key={each}
        to="/sessions"
        search={{ view: each === 'all' ? 'all' : undefined }}
        class="tab"
        activeOptions={{ includeSearch: true, explicitUndefined: true }}
        activeProps={{ 'aria-current': 'page' }}
      >
        {each === 'all' ? 'All users' : 'Mine'}
      </Link>
    ))}
  </nav>
)

function Filtered({ view }: { view: View }) {
  const address = useAddress()
  const clear = () => address.change(Object.fromEntries(filtersOf(view).map((name) => [name, ''])))
  return (
    <>
      <FilterBar view={view} address={address} clear={clear} />
      <SessionList
        view={view}
        query={toQuery(address.read, view)}
        isFiltered={activeFilters(address.read, view).length > 0}
        clear={clear}
      />
    </>
  )
}

const MORE: readonly FilterName[] = ['operation', 'locked', 'repo_uri', 'created_after', 'created_before', 'user_email']

const MODE_OPTIONS: Options = Object.entries(MODES)
const LOCK_OPTIONS: Options = [
  ['true', 'Locked'],
  ['false', 'Not locked'],
]

/** Shows every filter of the API. A selection reaches the address at once, typed text after a delay. */
function FilterBar({ view, address, clear }: { view: View; address: Address; clear: () => void }) {
  const active = activeFilters(address.read, view)
  const count = active.length
  const more = active.filter((name) => MORE.includes(name)).length
  return (
    <search class="sessions-filters">
      <div class="sessions-fields">
        <TextFilter address={address} name="search" label="Search" type="search" hint="Request, repository or id" />
        <SelectFilter address={address} name="status" label="Status" options={Object.entries(STATUS_NAMES)} />
        <SelectFilter address={address} name="mode" label="Last round" options={MODE_OPTIONS} />
        <SelectFilter address={address} name="cloud" label="Cloud" options={Object.entries(CLOUDS)} />
        <SelectFilter
          address={address}
          name="sort"
          label="Order"
          options={[['last_activity', 'Last active']]}
          all="Newest"
        />
      </div>
      <details open={more > 0 || undefined}>
        <summary>More filters{more > 0 && ` (${more})`}</summary>
        <div class="sessions-fields">
          <SelectFilter address={address} name="operation" label="First round" options={MODE_OPTIONS.slice(0, 3)} />
          <SelectFilter address={address} name="locked" label="Lock" options={LOCK_OPTIONS} />
          <TextFilter address={address} name="repo_uri" label="Repository" type="url" hint="Its full address" />
          <TextFilter address={address} name="created_after" label="Created from" type="date" />
          <TextFilter address={address} name="created_before" label="Created before" type="date" />
          {view === 'all' && (
            <TextFilter address={address} name="user_email" label="Owner" type="text" hint="Part of the e-mail" />
          )}
        </div>
      </details>
      {count > 0 && (
        <Button small kind="quiet" onClick={clear}>
          Clear {count === 1 ? 'the filter' : `all ${count} filters`}
        </Button>
      )}
    </search>
  )
}
