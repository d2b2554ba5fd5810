import type { Address } from '../../client/use-address.ts'
import { STATUS_NAMES } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import type { Options } from '../../ui/field.tsx'
import { SelectFilter, TextFilter } from '../../ui/filters.tsx'
import { CLOUDS, MODES } from '../../ui/words.ts'
import { countFilters, type FilterName, filtersOf, type View } from './filters.ts'

const MORE: readonly FilterName[] = ['operation', 'locked', 'repo_uri', 'created_after', 'created_before', 'user_email']

const STATUS_OPTIONS: Options = Object.entries(STATUS_NAMES)
const MODE_OPTIONS: Options = Object.entries(MODES)
const CLOUD_OPTIONS: Options = Object.entries(CLOUDS)
const LOCK_OPTIONS: Options = [
  ['true', 'Locked'],
  ['false', 'Not locked'],
]

/** Shows every filter of the API. A selection reaches the address at once, typed text after a delay. */
export function FilterBar({ view, address, clear }: { view: View; address: Address; clear: () => void }) {
  const names = filtersOf(view)
  const count = countFilters(address.read, names)
  const more = countFilters(
    address.read,
    MORE.filter((name) => names.includes(name)),
  )
  const all = { address }
  return (
    <search class="sessions-filters">
      <div class="sessions-fields">
        <TextFilter {...all} name="search" label="Search" type="search" hint="Request, repository or id" />
        <SelectFilter {...all} name="status" label="Status" options={STATUS_OPTIONS} />
        <SelectFilter {...all} name="mode" label="Last round" options={MODE_OPTIONS} />
        <SelectFilter {...all} name="cloud" label="Cloud" options={CLOUD_OPTIONS} />
        <SelectFilter {...all} name="sort" label="Order" options={[['last_activity', 'Last active']]} all="Newest" />
      </div>
      <details open={more > 0 || undefined}>
        <summary>More filters{more > 0 && ` (${more})`}</summary>
        <div class="sessions-fields">
          <SelectFilter {...all} name="operation" label="First round" options={MODE_OPTIONS.slice(0, 3)} />
          <SelectFilter {...all} name="locked" label="Lock" options={LOCK_OPTIONS} />
          <TextFilter {...all} name="repo_uri" label="Repository" type="url" hint="Its full address" />
          <TextFilter {...all} name="created_after" label="Created from" type="date" />
          <TextFilter {...all} name="created_before" label="Created before" type="date" />
          {view === 'all' && (
            <TextFilter {...all} name="user_email" label="Owner" type="text" hint="Part of the e-mail" />
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
