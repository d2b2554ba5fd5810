import { useEffect, useRef } from 'preact/hooks'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { formatNumber } from '../../ui/words/format.ts'
import { shorten, visibleText } from '../../ui/words/text.ts'
import { type Item, MAX_CHOSEN, type Row, shareOf } from './inventory.ts'
import type { Choice } from './use-choice.ts'

const ROW_PX = 36
const MAX_HEIGHT_PX = 544
const MAX_TEXT = 500

interface RowsProps {
  rows: readonly Row[]
  label: string
  /** Null: nothing can be chosen. */
  choice: Choice | null
}

const keyOf = (row: Row) => (row.type === 'kind' ? `kind ${row.kind}` : row.item.key)

/** The resources of a scope; the arrow keys go from one tick box to the next. */
export function Rows({ rows, label, choice }: RowsProps) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the boxes inside have the keys; this only moves between them
    <div
      class="import-rows"
      style={{ height: `${Math.min(rows.length * ROW_PX + 2, MAX_HEIGHT_PX)}px` }}
      onKeyDown={move}
    >
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
}

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }

function move(event: KeyboardEvent) {
  const step = STEPS[event.key]
  const row = (event.target as Element).closest('li')
  if (step === undefined || !row || !(event.target instanceof HTMLInputElement)) return
  event.preventDefault()
  const next = row.parentElement?.querySelector<HTMLInputElement>(
    `li[data-index="${Number(row.dataset.index) + step}"] input`,
  )
  next?.focus()
}

const kindName = (kind: string) => (kind === '' ? 'Kind not known' : shorten(visibleText(kind), MAX_TEXT))

function KindRow({ row: { kind, items }, choice }: { row: Row & { type: 'kind' }; choice: Choice | null }) {
  const box = useRef<HTMLInputElement>(null)
  const share = choice ? shareOf(items, choice.chosen) : 'none'
  useEffect(() => {
    if (box.current) box.current.indeterminate = share === 'some'
  }, [share])
  const content = (
    <>
      <b>{kindName(kind)}</b> <span class="number small quiet">{formatNumber(items.length)}</span>
    </>
  )
  if (!choice) return <div class="import-row import-kind">{content}</div>
  return (
    <label class="import-row import-kind">
      <input
        ref={box}
        type="checkbox"
        checked={share === 'all'}
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
      <span class="mono">{shorten(visibleText(id), MAX_TEXT)}</span>
      {reason !== '' && <span class="small quiet">{shorten(visibleText(reason), MAX_TEXT)}</span>}
      {refusal && <span class="field-error">Refused: {shorten(visibleText(refusal), MAX_TEXT)}</span>}
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
          // A box for which there is no room does not stay ticked.
          box.checked = choice.chosen.size < MAX_CHOSEN
        }}
      />
      {content}
    </label>
  )
}
