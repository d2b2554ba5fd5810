import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { PlannedResource } from '../../../client/api/schemas.ts'

const STEPS: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }
/** The number of frames to wait for a row. */
const MAX_FRAMES = 30

/**
 * Moves the focus through the rows of a long list that is drawn in part: arrows, j and k, Home and End.
 * @param show scrolls to a row
 * @param box the element that holds the rows; the button of a row has `data-row` inside `data-index`
 */
export function useListKeys(count: number, show: (index: number) => void, box: () => HTMLElement | null) {
  const [active, setActive] = useState(0)
  /** The row to focus once it is drawn. Further keys count from there. */
  const wish = useRef<number | null>(null)
  const frame = useRef(0)
  useEffect(() => () => cancelAnimationFrame(frame.current), [])

  const tryFocus = (left: number) => {
    cancelAnimationFrame(frame.current)
    const row = box()?.querySelector<HTMLElement>(`[data-index="${wish.current}"] [data-row]`)
    row?.focus({ preventScroll: true })
    if (row || left === 0) wish.current = null
    else frame.current = requestAnimationFrame(() => tryFocus(left - 1))
  }
  const moveTo = (index: number) => {
    if (index < 0 || index >= count) return
    setActive(index)
    show(index)
    wish.current = index
    tryFocus(MAX_FRAMES)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const row = (event.target as HTMLElement).closest('[data-row]')
    if (row === null || event.altKey || event.ctrlKey || event.metaKey) return
    const at = wish.current ?? Number(row.closest<HTMLElement>('[data-index]')?.dataset.index)
    const target = event.key === 'Home' ? 0 : event.key === 'End' ? count - 1 : at + (STEPS[event.key] ?? 0)
    if (target === at) return
    event.preventDefault()
    moveTo(target)
  }
  return { active: Math.min(active, Math.max(0, count - 1)), setActive, moveTo, onKeyDown }
}

const ROW_PX = 45
/** The height of the sticky top of the page; see `.bar`, and `.review-tools` on wide pages. */
const covered = (): number => (window.matchMedia('(max-width: 52rem)').matches ? 64 : 190)

/** Draws only the visible rows of a long list, and the focused one. */
export function useRows(box: RefObject<HTMLElement | null>, shown: readonly PlannedResource[]) {
  const [top, setTop] = useState(0)
  const kept = useRef(-1)
  useLayoutEffect(() => {
    const measure = () => {
      const element = box.current
      if (element) setTop(Math.round(element.getBoundingClientRect().top + window.scrollY))
    }
    measure()
    // The list moves when content above it opens or closes.
    const watch = new ResizeObserver(measure)
    watch.observe(document.body)
    return () => watch.disconnect()
  }, [])
  const virtual = useWindowVirtualizer<HTMLLIElement>({
    count: shown.length,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => shown[index]?.address ?? index,
    overscan: 8,
    scrollMargin: top,
    scrollPaddingStart: covered(),
    scrollPaddingEnd: ROW_PX,
    rangeExtractor: (range) => {
      const indexes = defaultRangeExtractor(range)
      const also = kept.current
      if (also < 0 || also >= range.count || indexes.includes(also)) return indexes
      return [...indexes, also].sort((a, b) => a - b)
    },
  })
  return {
    items: () => virtual.getVirtualItems().map(({ key, index, start }) => ({ key, index, start: start - top })),
    height: () => virtual.getTotalSize(),
    measure: virtual.measureElement,
    show: (index: number) => virtual.scrollToIndex(index, { align: 'auto' }),
    reveal: (index: number) => virtual.scrollToIndex(index, { align: 'start' }),
    keep: (index: number) => {
      kept.current = index
    },
  }
}
