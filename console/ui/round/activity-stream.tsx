import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Button } from '../button.tsx'
import { VirtualList } from '../virtual-list.tsx'
import { excerpt, formatSeconds } from '../words.ts'
import type { ActivityLine } from './activity-lines.ts'
import { Lines } from './lanes.tsx'

interface StreamProps {
  lines: readonly ActivityLine[]
  /** True while lines are added: the list then follows its end. */
  follow: boolean
}

/** Shows the events of a round, line by line. */
export const ActivityStream = ({ lines, follow }: StreamProps) => (
  <FollowEnd>
    <VirtualList
      items={lines}
      estimate={28}
      keyOf={({ key }) => key}
      row={(line) => <Line line={line} />}
      label="Events, line by line"
      follow={follow}
      class="round-stream"
    />
  </FollowEnd>
)

function Line({ line }: { line: ActivityLine }) {
  return (
    <div class={`round-line round-line-${line.kind}`}>
      <time class="number quiet" dateTime={line.at}>
        {TIME.format(new Date(line.at))}
      </time>
      <span class={`round-what${line.state === 'failed' ? ' round-what-failed' : ''}`}>{excerpt(line.what, 60)}</span>
      <span class={line.kind === 'tool' || line.kind === 'file' ? 'round-about mono' : 'round-about'}>
        {excerpt(line.about, 300)}
      </span>
      {line.added !== null && line.removed !== null && <Lines added={line.added} removed={line.removed} />}
      {line.state === 'failed' && <span class="round-what-failed">{line.kind === 'tool' ? 'refused' : 'failed'}</span>}
      {line.state === 'open' && <span class="quiet">no end</span>}
      {line.state === 'running' && <span class="dot dot-live" role="img" aria-label="running" />}
      {line.seconds !== null && line.seconds >= 0.05 && <span class="number quiet">{formatSeconds(line.seconds)}</span>}
    </div>
  )
}

/** The local time of day in seconds. */
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

/** The distance from the end, in pixels, beyond which the list does not follow it. */
const AWAY = 32

/** Shows a scrolling element with a button to its end, visible while the reader is elsewhere. */
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
