import { defaultRangeExtractor, useWindowVirtualizer } from '@tanstack/react-virtual'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { PlannedResource } from '../../../../client/api/types.ts'

const ROW_PX = 45
/** What stays at the top of the page while it scrolls; see `.bar`, and `.review-tools` on wide pages. */
const covered = (): number => (window.matchMedia('(max-width: 52rem)').matches ? 64 : 190)

/** Draws of a long list in the page only what is in sight, and the row that has the focus. */
export function useRows(box: RefObject<HTMLElement | null>, shown: readonly PlannedResource[]) {
  const [top, setTop] = useState(0)
  const kept = useRef(-1)
  useLayoutEffect(() => {
    const measure = () => {
      const element = box.current
      if (element) setTop(Math.round(element.getBoundingClientRect().top + window.scrollY))
    }
    measure()
    // Whatever above opens or closes moves the list.
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
