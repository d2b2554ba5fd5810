import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Button } from '../button.tsx'

/** So far from its end, in pixels, a reader has gone somewhere else. */
const AWAY = 32

/** Around one element that scrolls: while its reader is not at the end, a button leads there. */
export function FollowEnd({ children }: { children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null)
  const [away, setAway] = useState(false)
  const jump = () => {
    const scroller = box.current?.firstElementChild
    scroller?.scrollTo({ top: scroller.scrollHeight })
    if (scroller instanceof HTMLElement) scroller.focus({ preventScroll: true })
  }
  const look = (event: Event) => {
    const { scrollHeight, scrollTop, clientHeight } = event.target as HTMLElement
    setAway(scrollHeight - scrollTop - clientHeight > AWAY)
  }
  return (
    <div ref={box} class="round-follow" onScrollCapture={look}>
      {children}
      {away && (
        <Button small class="round-jump" onClick={jump}>
          Jump to the end
        </Button>
      )}
    </div>
  )
}
