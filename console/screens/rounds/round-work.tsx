import { useEffect, useMemo } from 'preact/hooks'
import type { Round } from '../../client/api/schemas.ts'
import { hasEnded } from '../../client/sessions/use-session.ts'
import { useActivity } from '../../client/sessions/use-streams.ts'
import { Skeleton } from '../../ui/notice.tsx'
import { withStatuses } from '../../ui/round/activity-lines.ts'
import { ActivityStream } from '../../ui/round/activity-stream.tsx'
import { foldActivity, mergeAttempts } from '../../ui/round/fold-activity.ts'
import { Lanes } from '../../ui/round/lanes.tsx'
import { Term } from '../../ui/term.tsx'
import { formatNumber, plural } from '../../ui/words.ts'
import { useOpenSession } from '../session/open-session.tsx'
import { RoundOutput, StreamState } from './round-output.tsx'

interface WorkProps {
  round: Round
  /** Receives the user who requested the stop. */
  onCancelling: (by: string | null) => void
}

/** Shows the work of a round: its attempts as lanes, its events line by line, and the engine output. */
export function RoundWork({ round, onCancelling }: WorkProps) {
  const { session } = useOpenSession()
  const activity = useActivity(session.uuid, { round: round.number })
  const over = hasEnded(round)
  const { events, end } = activity
  const isOver = over || end !== null
  const folded = useMemo(() => foldActivity(events, isOver), [events, isOver])
  const lanes = useMemo(() => mergeAttempts(folded.lanes, round.attempts), [folded, round.attempts])
  const lines = useMemo(() => withStatuses(folded.lines, round.statuses), [folded, round.statuses])
  useEffect(() => onCancelling(folded.cancelling), [folded.cancelling])
  const isGone = isOver && events.length === 0 && end !== null
  return (
    <div class="rounds-work">
      <section>
        <h3>
          <Term name="attempt">Attempts</Term> <StreamState events={activity} quietWhen={isOver} />
        </h3>
        {lanes.length > 0 && <Lanes lanes={lanes} running={!isOver} />}
        {lanes.length === 0 && !isOver && <Skeleton lines={3} label="Waiting for the first event" />}
        {lanes.length === 0 && isOver && activity.stream === 'ended' && (
          <p class="quiet small">{isGone ? GONE : 'No attempt at the code was made.'}</p>
        )}
        {folded.budget && (
          <p class="small quiet number">
            The session has used {formatNumber(folded.budget.tokens)} of {formatNumber(folded.budget.limit)} tokens.
          </p>
        )}
      </section>
      <section class="rounds-beside">
        <h3>
          Line by line <span class="small quiet number">{plural(lines.length, 'line')}</span>
        </h3>
        {folded.cut && (
          <p class="small quiet">The round had so many events that later ones are recorded in less detail.</p>
        )}
        {lines.length > 0 && <ActivityStream lines={lines} follow={!isOver} />}
      </section>
      <RoundOutput round={round} over={isOver} />
    </div>
  )
}

const GONE = 'Events of a round are kept for 30 days; those of this round are gone.'
