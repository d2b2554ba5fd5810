import type { RoundEvents } from '../../client/sessions/use-events.ts'

interface StateProps {
  events: RoundEvents<unknown>
  /** The round is over: only what keeps one from reading it is worth a word. */
  quietWhen?: boolean
}

/** How the stream of a round is, in a few quiet words. */
export function StreamState({ events, quietWhen }: StateProps) {
  return (
    <span class="rounds-stream-state small quiet" role="status">
      {wordsFor(events, quietWhen ?? false)}
    </span>
  )
}

function wordsFor({ stream, error, events }: RoundEvents<unknown>, quiet: boolean): string {
  if (error !== null) return `Cannot be followed: ${error}`
  if (stream === 'waiting') return 'Interrupted; it goes on by itself.'
  if (stream === 'connecting' && events.length === 0) return 'Connecting…'
  if (stream === 'connecting') return 'Connecting again…'
  return stream === 'open' && !quiet ? 'Live' : ''
}
