import { Link } from '@tanstack/react-router'
import type { ComponentChildren, ComponentProps } from 'preact'
import type { Address } from '../../client/use-address.ts'
import { Button } from '../../ui/kit.tsx'
import { Page, PanelGate } from '../../ui/page.tsx'
import { plural } from '../../ui/words.ts'

const TABS = [
  ['/admin', 'Overview'],
  ['/admin/users', 'Users and roles'],
  ['/admin/audit', 'Audit'],
] as const

interface AdminPageProps extends Omit<ComponentProps<typeof PanelGate>, 'children'> {
  title: string
  lead?: string
  children: ComponentChildren
}

/** Shows the frame of a part of the administration, with tabs for the others. */
export const AdminPage = ({ title, lead, ...gate }: AdminPageProps) => (
  <Page wide title={title} lead={lead}>
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
    <PanelGate {...gate} />
  </Page>
)

interface PagerProps {
  /** `page` counts from 1. `total_is_exact` is false if there are more matches than are counted. */
  list: { page: number; total_pages: number; total: number; total_is_exact?: boolean }
  /** The noun of the entries, singular and plural. */
  what: readonly [one: string, many: string]
  address: Address
}

/** Shows the number of entries and the buttons for the pages. */
export function Pager({ list: { page, total_pages: pages, total, total_is_exact = true }, what, address }: PagerProps) {
  const go = (to: number) => address.change({ page: to === 1 ? '' : String(to) })
  return (
    <nav class="admin-pager" aria-label="Pages">
      {pages > 1 && (
        <Button small disabled={page <= 1} onClick={() => go(page - 1)}>
          Previous
        </Button>
      )}
      <span class="small quiet" role="status">
        {plural(total, ...what)}
        {!total_is_exact && ' and more'}
        {pages > 1 && `, page ${page} of ${pages}`}
      </span>
      {pages > 1 && (
        <Button small disabled={page >= pages} onClick={() => go(page + 1)}>
          Next
        </Button>
      )}
    </nav>
  )
}
