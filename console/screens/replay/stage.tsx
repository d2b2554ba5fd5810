import { useEffect, useMemo } from 'preact/hooks'
import type { ActivityEvent, Round } from '../../client/api/schemas.ts'
import { withStatuses } from '../../ui/round/activity-lines.ts'
import { ActivityStream } from '../../ui/round/activity-stream.tsx'
import { foldActivity } from '../../ui/round/fold-activity.ts'
import { Lanes } from '../../ui/round/lanes.tsx'
import { mergeAttempts } from '../../ui/round/merge-attempts.ts'
import { Term } from '../../ui/term.tsx'
import { formatSeconds, shorten, visibleText } from '../../ui/words.ts'
import { Controls } from './controls.tsx'
import { createTimeline, usePlayer } from './use-player.ts'

interface StageProps {
  round: Round
  events: readonly ActivityEvent[]
  /** How many events are shown at first. */
  start: number
}

/** The round as it was at a moment: the same lanes and lines as live. */
export function Stage({ round, events, start }: StageProps) {
  const timeline = useMemo(() => createTimeline(events.map(({ at }) => at)), [events])
  const player = usePlayer(timeline, start)
  const { count } = player
  useKeys(player)
  const now = useMemo(() => shownAt(round, events, count), [round, events, count])
  return (
    <>
      <Controls player={player} events={events} timeline={timeline} round={round} />
      {timeline.left_out > 0 && (
        <p class="small quiet">
          Waits of more than two seconds are shortened: {formatSeconds(timeline.left_out / 1_000)} are left out.
        </p>
      )}
      <p class="replay-message" aria-live="off">
        {now.message === null ? 'The round has been taken in.' : shorten(visibleText(now.message), 400)}
      </p>
      <div class="rounds-work">
        <section>
          <h3>
            <Term name="attempt">Attempts</Term>
          </h3>
          {now.lanes.length === 0 ? (
            <p class="quiet">Nothing has happened yet. Play, or step to the first event.</p>
          ) : (
            <Lanes lanes={now.lanes} running={!now.over} />
          )}
        </section>
        <section class="rounds-beside">
          <h3>Line by line</h3>
          <ActivityStream lines={now.lines} follow />
        </section>
      </div>
    </>
  )
}

function shownAt(round: Round, events: readonly ActivityEvent[], count: number) {
  const over = count >= events.length
  const last = events[count - 1]
  const folded = foldActivity(events.slice(0, count), over)
  const statuses = over ? round.statuses : round.statuses.filter(({ created_at }) => last && created_at <= last.at)
  // What was recorded of an attempt belongs to its end.
  const attempts = round.attempts.filter(
    ({ ended_at }) => over || (last !== undefined && ended_at !== null && ended_at <= last.at),
  )
  return {
    over,
    lanes: count === 0 ? [] : mergeAttempts(folded.lanes, attempts),
    lines: withStatuses(folded.lines, count === 0 ? [] : statuses),
    message: statuses.findLast(({ message }) => message !== null)?.message ?? null,
  }
}

/** Space plays and pauses, and arrows step; not while something else wants these keys. */
function useKeys({ toggle, step }: ReturnType<typeof usePlayer>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as Element
      if (event.ctrlKey || event.altKey || event.metaKey || target.closest('input, textarea, select, dialog')) return
      const isWidget = target.closest('button, a, summary, [tabindex="0"]') !== null
      if (event.key === ' ' && !isWidget) toggle()
      else if (event.key === 'ArrowRight') step(1)
      else if (event.key === 'ArrowLeft') step(-1)
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  })
}
