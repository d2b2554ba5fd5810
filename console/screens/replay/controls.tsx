import type { ActivityEvent, Round } from '../../client/api/schemas.ts'
import { Button, Copy } from '../../ui/button.tsx'
import { formatNumber, formatSeconds } from '../../ui/words.ts'
import { useOpenSession } from '../session/session-context.ts'
import type { Timeline } from './use-player.ts'
import { type Player, SPEEDS } from './use-player.ts'

interface ControlsProps {
  player: Player
  events: readonly ActivityEvent[]
  timeline: Timeline
  round: Round
}

/** Play, step, speed, and the place in the round. */
export function Controls({ player, events, round }: ControlsProps) {
  const { session } = useOpenSession()
  const { count, playing, speed, goTo, step, toggle, setSpeed } = player
  const all = events.length
  const seconds = formatSeconds(secondsAt(round, events, count))
  const place = `event ${formatNumber(count)} of ${formatNumber(all)}, ${seconds}`
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

/** Seconds of the round itself, not of the replay. */
function secondsAt(round: Round, events: readonly ActivityEvent[], count: number): number {
  const at = events[count - 1]?.at
  return at === undefined ? 0 : Math.max(0, (Date.parse(at) - Date.parse(round.created_at)) / 1_000)
}
