import { useParams } from '@tanstack/react-router'
import { useEffect, useMemo } from 'preact/hooks'
import type { ActivityEvent, Round } from '../../client/api/client.ts'
import { hasEnded } from '../../client/sessions/use-session.ts'
import { useActivity } from '../../client/sessions/use-streams.ts'
import { useAnySearch } from '../../client/use-address.ts'
import { Button, Copy, Empty, Notice, Skeleton, Term } from '../../ui/kit.tsx'
import { foldActivity, isShown, mergeAttempts, withStatuses } from '../../ui/round/activity.ts'
import { ActivityStream, Lanes } from '../../ui/round/lanes.tsx'
import { excerpt, formatNumber, formatSeconds } from '../../ui/words.ts'
import { SessionLink, useOpenSession } from '../session/open-session.tsx'
import { createTimeline, type Player, SPEEDS, usePlayer } from './use-player.ts'

/** Shows the replay of a round that has ended, from its events. */
export function Screen() {
  const { session } = useOpenSession()
  const { round: named = '' } = useParams({ strict: false })
  const round = session.rounds.find(({ number }) => String(number) === named)
  const isOver = round && hasEnded(round)
  return (
    <section class="replay">
      <header>
        <h2>Replay of round {round?.number ?? excerpt(named, 20)}</h2>
        {round && <p class="quiet">{excerpt(round.query, 240)}</p>}
        {isOver && (
          <SessionLink class="small" search={{ round: round.number }}>
            Back to the round
          </SessionLink>
        )}
      </header>
      {!round && (
        <Empty title="This round does not exist" actions={<ToRounds />}>
          The session has {session.rounds.length}.
        </Empty>
      )}
      {round && !isOver && (
        <Notice title="This round is still running" actions={<ToRounds round={round.number}>Watch it</ToRounds>}>
          It can be replayed after it has ended. Until then you can watch it live.
        </Notice>
      )}
      {isOver && <Recorded key={round.number} round={round} />}
    </section>
  )
}

const ToRounds = ({ round, children = 'Back to the rounds' }: { round?: number; children?: string }) => (
  <SessionLink class="button" search={{ round }}>
    {children}
  </SessionLink>
)

function Recorded({ round }: { round: Round }) {
  const { session } = useOpenSession()
  const { at } = useAnySearch()
  const { events, end, error } = useActivity(session.uuid, { round: round.number })
  const shown = useMemo(() => events.filter(isShown), [events])
  if (error !== null)
    return (
      <Notice tone="bad" title="The round cannot be replayed" actions={<ToRounds />}>
        {error}
      </Notice>
    )
  if (end === null || (events.length > 0 && shown.length === 0))
    return <Skeleton lines={8} label="Loading the events" />
  if (shown.length === 0)
    return (
      <Empty title="The events of this round are gone" actions={<ToRounds round={round.number} />}>
        Events of a <Term name="round">round</Term> are kept for 30 days. Its results stay.
      </Empty>
    )
  return <Stage round={round} events={shown} start={placeOf(shown, at)} />
}

/** Returns the number of events up to the time in an address. */
const placeOf = (events: readonly ActivityEvent[], at: unknown): number => {
  const id = Number(at)
  return at === undefined || Number.isNaN(id) ? 0 : events.filter((event) => event.id <= id).length
}

interface StageProps {
  round: Round
  events: readonly ActivityEvent[]
  /** The number of events that are shown first. */
  start: number
}

/** Shows the round at one moment, with the same lanes and lines as live. */
function Stage({ round, events, start }: StageProps) {
  const timeline = useMemo(() => createTimeline(events.map(({ at }) => at)), [events])
  const player = usePlayer(timeline, start)
  const { count } = player
  useKeys(player)
  const now = useMemo(() => shownAt(round, events, count), [round, events, count])
  return (
    <>
      <Controls player={player} events={events} round={round} />
      {timeline.left_out > 0 && (
        <p class="small quiet">
          Pauses of more than two seconds are shortened: {formatSeconds(timeline.left_out / 1_000)} were skipped.
        </p>
      )}
      <p class="replay-message" aria-live="off">
        {now.message === null ? 'The round was accepted.' : excerpt(now.message, 400)}
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
  // The record of an attempt belongs to its end.
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

/** Handles keys: Space plays and pauses, arrows step, unless another control needs them. */
function useKeys({ toggle, step }: Player): void {
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

/** Shows the controls: play, step, speed, and the position in the round. */
function Controls({ player, events, round }: { player: Player; events: readonly ActivityEvent[]; round: Round }) {
  const { session } = useOpenSession()
  const { count, playing, speed, goTo, step, toggle, setSpeed } = player
  const all = events.length
  const at = events[count - 1]?.at
  // The seconds of the round, not of the replay.
  const seconds = at === undefined ? 0 : (Date.parse(at) - Date.parse(round.created_at)) / 1_000
  const place = `event ${formatNumber(count)} of ${formatNumber(all)}, ${formatSeconds(seconds)}`
  const address = new URL(location.href)
  address.search = count === 0 ? '' : `?at=${events[count - 1]?.id}`
  return (
    <section class="card replay-controls" aria-label="Replay">
      <div class="replay-buttons">
        <Button kind="primary" onClick={toggle}>
          {playing ? 'Pause' : count >= all ? 'Play again' : 'Play'}
        </Button>
        <Button aria-label="Previous event" onClick={() => step(-1)} disabled={count === 0}>
          ←
        </Button>
        <Button aria-label="Next event" onClick={() => step(1)} disabled={count >= all}>
          →
        </Button>
        <fieldset aria-label="Speed" class="replay-speeds">
          {SPEEDS.map((choice) => (
            <Button key={choice} small aria-pressed={speed === choice} onClick={() => setSpeed(choice)}>
              {choice}×
            </Button>
          ))}
          <Button small onClick={() => goTo(all)}>
            All
          </Button>
        </fieldset>
        <Copy text={address.href} label="Copy address at this moment" />
      </div>
      <input
        type="range"
        class="replay-range"
        aria-label={`Moment of round ${round.number} of ${session.rounds.length}`}
        aria-valuetext={place}
        min={0}
        max={all}
        value={count}
        onInput={({ currentTarget }) => goTo(Number(currentTarget.value))}
      />
      <p class="small quiet number">
        {place}. <span class="replay-keys">Space plays and pauses, ← and → step.</span>
      </p>
    </section>
  )
}
