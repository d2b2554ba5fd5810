import { useMemo, useState } from 'preact/hooks'
import type { Round } from '../../client/api/client.ts'
import { SearchField } from '../../ui/controls.tsx'
import { Ago, Button, Notice } from '../../ui/kit.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { excerpt, formatNumber, plural } from '../../ui/words.ts'
import { ReadDocument, useOpenSession } from '../session/open-session.tsx'
import {
  type Choice,
  type Inventory,
  type Item,
  itemsOf,
  MAX_CHOSEN,
  PARTS,
  type Part,
  type Row,
  readInventory,
  shareOf,
  toRows,
} from './inventory.ts'

const PART_NAMES: Record<Part, [name: string, empty: string]> = {
  unmanaged: ['Unmanaged', 'Everything in the scope is managed or excluded.'],
  managed: ['Managed', 'The engine manages nothing in this scope yet.'],
  left_out: ['Excluded', 'Nothing is excluded.'],
}

/** Shows the newest inventory of the scope. */
export function InventoryOf({ round, choice }: { round: Round; choice: Choice }) {
  const { session } = useOpenSession()
  const isOld = session.rounds.some(({ number, preview }) => number > round.number && !preview)
  return (
    <section class="card import-inventory" aria-labelledby="import-inventory">
      <header class="import-line">
        <h3 id="import-inventory">Inventory of the scope</h3>
        <span class="small quiet">
          as of <Ago at={round.created_at} />, round {round.number}
        </span>
      </header>
      {isOld && (
        <Notice tone="warn">
          A later round may have imported some of these: they are still listed as unmanaged. List again before you
          select.
        </Notice>
      )}
      <ReadDocument
        url={round.previews.at(-1)?.url ?? null}
        parse={readInventory}
        what="inventory"
        lines={8}
        unknown={<Notice tone="warn">The format of the inventory is unknown. List again.</Notice>}
      >
        {(inventory) => <Lists inventory={inventory} choice={choice} />}
      </ReadDocument>
    </section>
  )
}

function Lists({ inventory, choice }: { inventory: Inventory; choice: Choice }) {
  const { is_own } = useOpenSession()
  const [part, setPart] = useState<Part>('unmanaged')
  const [search, setSearch] = useState('')
  const rows = useMemo(() => toRows(inventory[part], search), [inventory, part, search])
  const count = rows.filter(({ type }) => type === 'item').length
  const canTick = part === 'unmanaged' && is_own
  const what = search.trim() === '' ? plural(count, 'resource') : `${plural(count, 'resource')} found`
  return (
    <>
      <fieldset class="import-line import-parts">
        <legend class="unseen">Which resources</legend>
        {PARTS.map((name) => (
          <Button key={name} small aria-pressed={part === name} onClick={() => setPart(name)}>
            {PART_NAMES[name][0]} <span class="number">{formatNumber(inventory[name].length)}</span>
          </Button>
        ))}
      </fieldset>
      <SearchField
        aria-label="Search resources"
        placeholder="Search by kind, identifier or reason"
        value={search}
        onSearch={setSearch}
      />
      <div class="import-line">
        <p class="small quiet" role="status">
          {what}
        </p>
        {canTick && count > 0 && (
          <Button small onClick={() => choice.add(itemsOf(rows))}>
            Select all shown
          </Button>
        )}
        {canTick && choice.chosen.size > 0 && (
          <Button small kind="quiet" onClick={() => choice.drop([...choice.chosen])}>
            Deselect all
          </Button>
        )}
      </div>
      {count === 0 ? (
        <p class="quiet">{search.trim() === '' ? PART_NAMES[part][1] : 'Nothing matches this search.'}</p>
      ) : (
        <Rows key={part} rows={rows} label={PART_NAMES[part][0]} choice={canTick ? choice : null} />
      )}
      {canTick && <Gone inventory={inventory} choice={choice} />}
    </>
  )
}

/** Shows warnings about the selection: too many resources, or resources that are no longer listed. */
function Gone({ inventory, choice }: { inventory: Inventory; choice: Choice }) {
  const gone = [...choice.chosen.difference(new Set(inventory.unmanaged.map(({ id }) => id)))]
  return (
    <>
      {choice.left > 0 && (
        <Notice tone="warn" title={`One request takes ${formatNumber(MAX_CHOSEN)} resources at most`}>
          {formatNumber(choice.left)} more are not selected. Import these first, or import everything.
        </Notice>
      )}
      {gone.length > 0 && (
        <Notice
          tone="warn"
          title={`${plural(gone.length, 'selected resource is', 'selected resources are')} no longer in this list`}
          actions={<Button onClick={() => choice.drop(gone)}>Deselect them</Button>}
        >
          They would make the import fail.
        </Notice>
      )}
    </>
  )
}

const ROW_PX = 36
const MAX_TEXT = 500

const keyOf = (row: Row) => (row.type === 'kind' ? `kind ${row.kind}` : row.item.key)

/** Shows the resources of a scope, to select if there is a choice. The arrow keys move between the checkboxes. */
const Rows = ({ rows, label, choice }: { rows: readonly Row[]; label: string; choice: Choice | null }) => (
  // biome-ignore lint/a11y/noStaticElementInteractions: the boxes inside have the keys; this only moves between them
  <div class="import-rows" style={{ height: `${Math.min(rows.length * ROW_PX + 2, 544)}px` }} onKeyDown={move}>
    <VirtualList
      items={rows}
      estimate={ROW_PX}
      keyOf={keyOf}
      label={label}
      row={(row) =>
        row.type === 'kind' ? <KindRow row={row} choice={choice} /> : <ItemRow item={row.item} choice={choice} />
      }
    />
  </div>
)

function move(event: KeyboardEvent) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const row = (event.target as Element).closest('li')
  if (step === undefined || !row || !(event.target instanceof HTMLInputElement)) return
  event.preventDefault()
  const next = row.parentElement?.querySelector<HTMLInputElement>(
    `li[data-index="${Number(row.dataset.index) + step}"] input`,
  )
  next?.focus()
}

const kindName = (kind: string) => (kind === '' ? 'Unknown kind' : excerpt(kind, MAX_TEXT))

function KindRow({ row: { kind, items }, choice }: { row: Row & { type: 'kind' }; choice: Choice | null }) {
  const share = choice ? shareOf(items, choice.chosen) : 'none'
  const content = (
    <>
      <b>{kindName(kind)}</b> <span class="number small quiet">{formatNumber(items.length)}</span>
    </>
  )
  if (!choice) return <div class="import-row import-kind">{content}</div>
  return (
    <label class="import-row import-kind">
      <input
        type="checkbox"
        checked={share === 'all'}
        indeterminate={share === 'some'}
        aria-label={`All of ${kindName(kind)}`}
        onChange={() => (share === 'all' ? choice.drop(items.map(({ id }) => id)) : choice.add(items))}
      />
      <span>{content}</span>
    </label>
  )
}

function ItemRow({ item, choice }: { item: Item; choice: Choice | null }) {
  const { id, reason } = item
  const refusal = choice?.refused.get(id)
  const content = (
    <span class="import-item">
      <span class="mono">{excerpt(id, MAX_TEXT)}</span>
      {reason !== '' && <span class="small quiet">{excerpt(reason, MAX_TEXT)}</span>}
      {refusal && <span class="field-error">Refused: {excerpt(refusal, MAX_TEXT)}</span>}
    </span>
  )
  if (!choice) return <div class="import-row">{content}</div>
  return (
    <label class="import-row">
      <input
        type="checkbox"
        checked={choice.chosen.has(id)}
        onChange={({ currentTarget: box }) => {
          if (!box.checked) return choice.drop([id])
          choice.add([item])
          // A box beyond the limit does not stay checked.
          box.checked = choice.chosen.size < MAX_CHOSEN
        }}
      />
      {content}
    </label>
  )
}
