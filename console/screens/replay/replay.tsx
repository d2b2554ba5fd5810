import { useParams, useSearch } from '@tanstack/react-router'
import { useMemo } from 'preact/hooks'
import type { ActivityEvent, Round } from '../../client/api/schemas.ts'
import { hasEnded } from '../../client/sessions/use-session.ts'
import { useActivity } from '../../client/sessions/use-streams.ts'
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx'
import { isTold } from '../../ui/round/fold-activity.ts'
import { Term } from '../../ui/term.tsx'
import { shorten, visibleText } from '../../ui/words.ts'
import { useOpenSession } from '../session/session-context.ts'
import { SessionLink } from '../session/session-link.tsx'
import { Stage } from './stage.tsx'

/** A round that is over, played back from what it told while it ran. */
export function Screen() {
  const { session } = useOpenSession()
  const { round: named } = useParams({ strict: false }) as { round: string }
  const round = session.rounds.find(({ number }) => String(number) === named)
  return (
    <section class="replay">
      <header>
        <h2>Replay of round {round?.number ?? visibleText(shorten(named, 20))}</h2>
        {round && <p class="quiet">{shorten(visibleText(round.query), 240)}</p>}
        {round && hasEnded(round) && <Back id={session.uuid} round={round.number} />}
      </header>
      {!round && (
        <Empty title="There is no such round" actions={<ToRounds id={session.uuid} />}>
          The session has {session.rounds.length} of them.
        </Empty>
      )}
      {round && !hasEnded(round) && (
        <Notice title="This round still runs" actions={<ToRounds id={session.uuid} round={round.number} watch />}>
          It can be played back when it has ended. Until then you can watch it live.
        </Notice>
      )}
      {round && hasEnded(round) && <Recorded key={round.number} round={round} />}
    </section>
  )
}

const Back = ({ id, round }: { id: string; round: number }) => (
  <SessionLink class="small" id={id} search={{ round }}>
    Back to the round
  </SessionLink>
)

const ToRounds = ({ id, round, watch }: { id: string; round?: number; watch?: boolean }) => (
  <SessionLink class="button" id={id} search={round ? { round } : {}}>
    {watch ? 'Watch it' : 'Back to the rounds'}
  </SessionLink>
)

function Recorded({ round }: { round: Round }) {
  const { session } = useOpenSession()
  const { at } = useSearch({ strict: false }) as { at?: unknown }
  const { events, end, error } = useActivity(session.uuid, { round: round.number })
  const told = useMemo(() => events.filter(isTold), [events])
  if (error !== null)
    return (
      <Notice tone="bad" title="The round cannot be played back" actions={<ToRounds id={session.uuid} />}>
        {error}
      </Notice>
    )
  if (end === null || (events.length > 0 && told.length === 0))
    return <Skeleton lines={8} label="Reading what happened" />
  if (told.length === 0)
    return (
      <Empty title="Nothing is left of this round" actions={<ToRounds id={session.uuid} round={round.number} />}>
        What happens in a <Term name="round">round</Term> is kept for 30 days. What came of it stays.
      </Empty>
    )
  return <Stage round={round} events={told} start={placeOf(told, at)} />
}

/** How many events stand before the moment that an address names, and it itself. */
const placeOf = (events: readonly ActivityEvent[], at: unknown): number => {
  const id = Number(at)
  return at === undefined || Number.isNaN(id) ? 0 : events.filter((event) => event.id <= id).length
}
