import { useVirtualizer } from '@tanstack/react-virtual'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface VirtualListProps<Item> {
  items: readonly Item[]
  /** The height of a row in pixels before it is measured. */
  estimate: number
  keyOf: (item: Item) => string | number
  row: (item: Item, index: number) => ComponentChildren
  label: string
  /** The index to scroll to, for example of a deep link. */
  reveal?: number
  /** True to follow the end of the list while its reader is there. */
  follow?: boolean
  class?: string
}

/** Shows a long list of which only visible rows are drawn. It scrolls itself, so CSS must limit its height. */
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { items, estimate, keyOf, row, label, reveal, follow } = props
  const scroller = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  const virtual = useVirtualizer<HTMLDivElement, HTMLLIElement>({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate,
    getItemKey: (index) => keyOf(items[index] as Item),
    overscan: 12,
  })
  useEffect(() => {
    if (reveal !== undefined && reveal >= 0) virtual.scrollToIndex(reveal, { align: 'start' })
  }, [reveal])
  useEffect(() => {
    if (follow && atEnd.current && items.length > 0) virtual.scrollToIndex(items.length - 1, { align: 'end' })
  }, [follow, items.length])
  return (
    <section
      ref={scroller}
      class={`virtual ${props.class ?? ''}`}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by the keyboard
      tabIndex={0}
      onScroll={({ currentTarget: box }) => {
        atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 24
      }}
    >
      <ul class="virtual-space" style={{ height: `${virtual.getTotalSize()}px` }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => (
          <li
            key={String(key)}
            ref={virtual.measureElement}
            data-index={index}
            aria-setsize={items.length}
            aria-posinset={index + 1}
            class="virtual-row"
            style={{ transform: `translateY(${start}px)` }}
          >
            {row(items[index] as Item, index)}
          </li>
        ))}
      </ul>
    </section>
  )
}

/**
 * Moves the focus through the rows of a long list that is drawn in part: arrows, j and k, Home and End.
 * @param target the selector of what has the focus in a row, which is the element with `data-index`
 * @param show scrolls to a row, so that it is drawn
 */
export function useListKeys(
  box: RefObject<HTMLElement | null>,
  count: number,
  target: string,
  show: (index: number) => void,
) {
  /** The row to focus once it is drawn. Further keys count from there. */
  const pending = useRef<number | null>(null)
  const focus = () => {
    const element = box.current?.querySelector<HTMLElement>(`[data-index="${pending.current}"] ${target}`)
    if (!element) return
    pending.current = null
    element.focus({ preventScroll: true })
  }
  // After every drawing, because the row is drawn later.
  useEffect(focus)
  const moveTo = (index: number) => {
    pending.current = Math.max(0, Math.min(count - 1, index))
    show(pending.current)
    focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const row = (event.target as HTMLElement).closest(target)?.closest<HTMLElement>('[data-index]')
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return
    const at = pending.current ?? Number(row.dataset.index)
    const to = { Home: 0, End: count - 1, ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1 }[event.key]
    if (to === undefined || to === at) return
    event.preventDefault()
    moveTo(to)
  }
  return { moveTo, onKeyDown }
}
