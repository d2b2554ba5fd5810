import { Link } from '@tanstack/react-router'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/notice.tsx'
import type { View } from './filters.ts'

/** Nothing to list: either nothing matches, or there is nothing yet. */
export function Nothing({ view, isFiltered, clear }: { view: View; isFiltered: boolean; clear: () => void }) {
  if (isFiltered)
    return (
      <Empty title="No session matches" actions={<Button onClick={clear}>Clear filters</Button>}>
        {view === 'all' ? 'There are sessions, but none with these filters.' : 'None of your own sessions does.'}
      </Empty>
    )
  return (
    <Empty
      title={view === 'all' ? 'Nobody has asked for anything yet' : 'You have not asked for anything yet'}
      actions={
        <Link class="button button-primary" to="/">
          New request
        </Link>
      }
    >
      Say in a sentence what should change in a repository. The request opens a session, and it is listed here.
    </Empty>
  )
}
