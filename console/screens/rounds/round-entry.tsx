import { useEffect, useRef, useState } from 'preact/hooks'
import type { Round } from '../../client/api/types.ts'
import { hasEnded, lastStatus } from '../../client/sessions/use-session.ts'
import { Badge, StatusBadge } from '../../ui/badge.tsx'
import { Ago, Elapsed } from '../../ui/time/time.tsx'
import { formatMoney } from '../../ui/words/format.ts'
import { shorten, visibleText } from '../../ui/words/text.ts'
import { useOpenSession } from '../session/context.ts'
import { modeOf } from './conversation.ts'
import { LongText } from './long-text.tsx'
import { RoundEnd } from './round-end.tsx'
import { RoundNow } from './round-now.tsx'
import { RoundWork } from './round-work.tsx'

interface EntryProps {
  round: Round
  answer: string | null
  open: boolean
  onToggle: (open: boolean) => void
}

export function RoundEntry({ round, answer, open, onToggle }: EntryProps) {
  const { session } = useOpenSession()
  const entry = useRef<HTMLLIElement>(null)
  const isNewest = round.number === session.rounds.at(-1)?.number
  useEffect(() => {
    if (open && !isNewest) entry.current?.scrollIntoView({ block: 'start' })
  }, [])
  return (
    <li ref={entry} class="card rounds-entry">
      <details
        open={open}
        onToggle={({ currentTarget }) => currentTarget.open !== open && onToggle(currentTarget.open)}
      >
        <summary class="rounds-summary">
          <h2>
            Round {round.number}
            {!open && <span class="rounds-query"> {shorten(visibleText(round.query), 160)}</span>}
          </h2>
          <Labels round={round} />
        </summary>
        {open && <Body round={round} answer={answer} />}
      </details>
    </li>
  )
}

function Labels({ round }: { round: Round }) {
  const { session, live } = useOpenSession()
  const last = lastStatus(round)
  const over = hasEnded(round)
  const mode = modeOf(round, session)
  const isNewest = round.number === session.rounds.at(-1)?.number
  return (
    <span class="rounds-labels">
      {mode && <Badge>{mode}</Badge>}
      {round.preview && <Badge title="Nothing was changed or pushed">looks only</Badge>}
      {last && <StatusBadge status={!over && isNewest && live ? live.status : last.status} />}
      <span class="small quiet number">
        <Elapsed since={round.created_at} until={over && last ? last.created_at : null} />
        {round.usage?.cost_usd != null && ` · ${formatMoney(round.usage.cost_usd)}`}
      </span>
    </span>
  )
}

function Body({ round, answer }: { round: Round; answer: string | null }) {
  const { session } = useOpenSession()
  const [cancelling, setCancelling] = useState<string | null>(null)
  return (
    <div class="rounds-body">
      <div class="rounds-request">
        <p class="small quiet">
          {visibleText(session.username ?? 'Somebody')} asked <Ago at={round.created_at} />
        </p>
        <LongText text={round.query} />
      </div>
      {hasEnded(round) ? (
        <RoundEnd round={round} answer={answer} />
      ) : (
        <RoundNow round={round} cancelling={cancelling} />
      )}
      <RoundWork round={round} onCancelling={setCancelling} />
    </div>
  )
}
