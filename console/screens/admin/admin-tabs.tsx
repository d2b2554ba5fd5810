import { Link } from '@tanstack/react-router'

const TABS = [
  ['/admin', 'Overview'],
  ['/admin/users', 'Users and roles'],
  ['/admin/audit', 'Audit'],
] as const

/** The parts of the administration. */
export const AdminTabs = () => (
  <nav class="tabs" aria-label="Parts of the administration">
    {TABS.map(([to, name]) => (
      <Link
        key={to}
        to={to as never}
        class="tab"
        activeOptions={{ exact: true, includeSearch: false }}
        activeProps={{ 'aria-current': 'page' }}
      >
        {name}
      </Link>
    ))}
  </nav>
)
