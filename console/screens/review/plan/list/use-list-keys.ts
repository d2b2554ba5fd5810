import { useEffect, useRef, useState } from 'preact/hooks'

const STEPS: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }
/** How many frames a row may take to be drawn. */
const MAX_FRAMES = 30

/**
 * Moves the focus through the rows of a long list of which only a part is drawn: arrows, j and k, Home and End.
 * @param show brings a row into sight
 * @param box the element that holds the rows; the button of a row has `data-row` inside of `data-index`
 */
export function useListKeys(count: number, show: (index: number) => void, box: () => HTMLElement | null) {
  const [active, setActive] = useState(0)
  /** Where the focus goes as soon as the row is drawn. Keys that come in between count from there. */
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
