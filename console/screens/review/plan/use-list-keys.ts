import { useEffect, useState } from 'preact/hooks'

const STEPS: Record<string, number> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }

/**
 * Moves the focus through the rows of a long list of which only a part is drawn: arrows, j and k, Home and End.
 * @param show brings a row into sight
 * @param box the element that holds the rows; the button of a row has `data-row` inside of `data-index`
 */
export function useListKeys(count: number, show: (index: number) => void, box: () => HTMLElement | null) {
  const [active, setActive] = useState(0)
  const [wish, setWish] = useState<{ index: number } | null>(null)
  useEffect(() => {
    if (wish === null) return
    // The row may have to be drawn first.
    let tries = 20
    let frame = 0
    const focus = () => {
      const row = box()?.querySelector<HTMLElement>(`[data-index="${wish.index}"] [data-row]`)
      if (row) row.focus({ preventScroll: true })
      else if (tries-- > 0) frame = requestAnimationFrame(focus)
    }
    focus()
    return () => cancelAnimationFrame(frame)
  }, [wish])
  const moveTo = (index: number) => {
    if (index < 0 || index >= count) return
    setActive(index)
    show(index)
    setWish({ index })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const row = (event.target as HTMLElement).closest('[data-row]')
    if (row === null || event.altKey || event.ctrlKey || event.metaKey) return
    const at = Number(row.closest<HTMLElement>('[data-index]')?.dataset.index)
    const target = event.key === 'Home' ? 0 : event.key === 'End' ? count - 1 : at + (STEPS[event.key] ?? 0)
    if (target === at) return
    event.preventDefault()
    moveTo(target)
  }
  return { active: Math.min(active, Math.max(0, count - 1)), setActive, moveTo, onKeyDown }
}
