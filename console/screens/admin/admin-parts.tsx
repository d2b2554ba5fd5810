import { Link } from '@tanstack/react-router'
import { Button } from '../../ui/button.tsx'
import { plural } from '../../ui/words.ts'

const TABS = [
  ['/admin', 'Overview'],
  ['/admin/users', 'Users and roles'],
  ['/admin/audit', 'Audit'],
] as const

export const AdminTabs = () => (
  <nav class="tabs" aria-label="Parts of the administration">
    {TABS.map(([to, name]) => (
      <Link
        key={to}
        to={to}
        class="tab"
        activeOptions={{ exact: true, includeSearch: false }}
        activeProps={{ 'aria-current': 'page' }}
      >
        {name}
      </Link>
    ))}
  </nav>
)

interface PagerProps {
  /** The page, counted from 1. */
  page: number
  pages: number
  total: number
  /** False if there are more matches than are counted. */
  isExact?: boolean
  /** The noun of the entries, singular and plural. */
  what: readonly [one: string, many: string]
  go: (page: number) => void
}

/** Shows the number of entries and the buttons for the pages. */
export const Pager = ({ page, pages, total, isExact = true, what, go }: PagerProps) => (
  <nav class="admin-pager" aria-label="Pages">
    {pages > 1 && (
      <Button small disabled={page <= 1} onClick={() => go(page - 1)}>
        Previous
      </Button>
    )}
    <span class="small quiet" role="status">
      {plural(total, ...what)}
      {!isExact && ' and more'}
      {pages > 1 && `, page ${page} of ${pages}`}
    </span>
    {pages > 1 && (
      <Button small disabled={page >= pages} onClick={() => go(page + 1)}>
        Next
      </Button>
    )}
  </nav>
)
