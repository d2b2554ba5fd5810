import { Link } from '@tanstack/react-router'
import { type Address, useAddress } from '../../client/use-address.ts'
import { hasPanelRole, useMe } from '../../client/use-me.ts'
import { Page } from '../../ui/page.tsx'
import { PanelGate } from '../../ui/shell/errors.tsx'
import { Term } from '../../ui/term.tsx'
import { FilterBar } from './filter-bar.tsx'
import { countFilters, filtersOf, toQuery, type View } from './filters.ts'
import { SessionList } from './session-list.tsx'

/** Shows the user's own sessions and, with a role in the panel, all sessions. */
export function Screen() {
  const address = useAddress()
  const me = useMe()
  const view: View = address.read('view') === 'all' ? 'all' : 'mine'
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
          <Filtered view={view} address={address} />
        </PanelGate>
      ) : (
        <Filtered view={view} address={address} />
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

function Filtered({ view, address }: { view: View; address: Address }) {
  const clear = () => address.change(Object.fromEntries(filtersOf(view).map((name) => [name, ''])))
  return (
    <>
      <FilterBar view={view} address={address} clear={clear} />
      <SessionList
        view={view}
        query={toQuery(address.read, view)}
        isFiltered={countFilters(address.read, filtersOf(view)) > 0}
        clear={clear}
      />
    </>
  )
}
