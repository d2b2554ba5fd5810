import { VirtualList } from '../virtual-list.tsx'
import { formatSeconds } from '../words/format.ts'
import { shorten, visibleText } from '../words/text.ts'
import { FollowEnd } from './follow-end.tsx'
import { Lines } from './lanes.tsx'
import type { ActivityLine } from './types.ts'

interface StreamProps {
  lines: readonly ActivityLine[]
  /** Whether lines are still coming: the list stays at its end while its reader is there. */
  follow: boolean
}

/** What was read, written and run, line by line. */
export const ActivityStream = ({ lines, follow }: StreamProps) => (
  <FollowEnd>
    <VirtualList
      items={lines}
      estimate={28}
      keyOf={({ key }) => key}
      row={(line) => <Line line={line} />}
      label="What happened, line by line"
      follow={follow}
      class="round-stream"
    />
  </FollowEnd>
)

function Line({ line }: { line: ActivityLine }) {
  const isOver = line.state !== 'running'
  return (
    <div class={`round-line round-line-${line.kind}`}>
      <time class="number quiet" dateTime={line.at}>
        {timeOf(line.at)}
      </time>
      <span class={`round-what${line.state === 'failed' ? ' round-what-failed' : ''}`}>
        {visibleText(shorten(line.what, 60))}
      </span>
      <span class={line.kind === 'tool' || line.kind === 'file' ? 'round-about mono' : 'round-about'}>
        {visibleText(shorten(line.about, 300))}
      </span>
      {line.added !== null && line.removed !== null && <Lines added={line.added} removed={line.removed} />}
      {line.state === 'failed' && <span class="round-what-failed">{line.kind === 'tool' ? 'refused' : 'failed'}</span>}
      {line.state === 'open' && <span class="quiet">no end</span>}
      {!isOver && <span class="dot dot-live" role="img" aria-label="runs" />}
      {line.seconds !== null && line.seconds >= 0.05 && <span class="number quiet">{formatSeconds(line.seconds)}</span>}
    </div>
  )
}

/** The time of day of the reader, in seconds. */
const timeOf = (iso: string): string => TIME.format(new Date(iso))
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
