import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

const STEPS: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }

/** Moves the focus between rows with j, k, the arrows, Home and End. `j` also enters an unfocused list. */
export function useRowKeys(list: RefObject<HTMLUListElement | null>, total: number, scrollTo: (index: number) => void) {
  const wanted = useRef<number | null>(null)
  const focus = () => {
    const link = list.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"] a`)
    if (wanted.current === null || !link) return
    wanted.current = null
    link.focus({ preventScroll: true })
  }
  // After every drawing, because the row is drawn later.
  useEffect(focus)
  const move = (index: number) => {
    wanted.current = Math.max(0, Math.min(total - 1, index))
    scrollTo(wanted.current)
    focus()
  }
  useEffect(() => {
    const enter = (event: KeyboardEvent) => {
      if (event.key !== 'j' || event.ctrlKey || event.metaKey || event.altKey) return
      if (document.activeElement !== document.body && document.activeElement?.tagName !== 'H1') return
      list.current?.querySelector<HTMLElement>('[data-index="0"] a')?.focus()
    }
    addEventListener('keydown', enter)
    return () => removeEventListener('keydown', enter)
  }, [])
  return (event: KeyboardEvent) => {
    const row = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return
    const at = Number(row.dataset.index)
    const step = STEPS[event.key]
    const to = step !== undefined ? at + step : { Home: 0, End: total - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    move(to)
  }
}
