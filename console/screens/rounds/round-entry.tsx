import { useEffect, useRef, useState } from 'preact/hooks'
import { calls } from '../../client/api/calls.ts'
import type { Round } from '../../client/api/schemas.ts'
import { hasEnded, lastStatus, useSessionCall } from '../../client/sessions/use-session.ts'
import { hasPanelRole, useMe } from '../../client/use-me.ts'
import { Badge, StatusBadge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { formatSpend, spendOf } from '../../ui/round/spend.ts'
import { Ago, Elapsed } from '../../ui/time.tsx'
import { excerpt, formatMoney, visibleText } from '../../ui/words.ts'
import { useOpenSession } from '../session/open-session.tsx'
import { lastMessage, type Mode, modeOf } from './conversation.ts'
import { type AnsweredRound, LongText, RoundEnd } from './round-end.tsx'
import { RoundWork } from './round-work.tsx'

interface EntryProps extends AnsweredRound {
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
            {!open && <span class="rounds-query"> {excerpt(round.query, 160)}</span>}
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
  const spend = over ? spendOf(round) : null
  const isNewest = round.number === session.rounds.at(-1)?.number
  return (
    <span class="rounds-labels">
      {mode && <Badge>{mode}</Badge>}
      {round.preview && <Badge title="Nothing was changed or pushed">preview</Badge>}
      {last && <StatusBadge status={!over && isNewest && live ? live.status : last.status} />}
      <span class="small quiet number">
        <Elapsed since={round.created_at} until={over && last ? last.created_at : null} />
        {spend?.cost_usd != null && ` · ${formatMoney(spend.cost_usd)}`}
      </span>
    </span>
  )
}

function Body({ round, answer }: AnsweredRound) {
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

/** Shows the headline of a running round: its status, its cost so far, and the button to stop it. */
function RoundNow({ round, cancelling }: { round: Round; cancelling: string | null }) {
  const { live } = useOpenSession()
  const spend = spendOf(round)
  const message = live?.message || lastMessage(round)
  return (
    <Notice tone="accent">
      <div class="rounds-now">
        <div>
          <p class="rounds-headline" aria-live="polite">
            {cancelling === null
              ? excerpt(message ?? 'Waiting for a worker.', 400)
              : `${excerpt(cancelling, 120)} requested a stop. The round ends when the engine has stopped.`}
          </p>
          <p class="small quiet number">
            <Elapsed since={round.created_at} until={null} />
            {spend && ` · ${formatSpend(spend).join(' · ')} so far`}
          </p>
        </div>
        {cancelling === null && <Stop round={round} />}
      </div>
    </Notice>
  )
}

/** Ends the running round, after it has shown what that keeps and what not. */
function Stop({ round }: { round: Round }) {
  const { session, is_own } = useOpenSession()
  const { data: me } = useMe()
  const cancel = useSessionCall(session.uuid, calls.cancel)
  const [asking, setAsking] = useState(false)
  if (!is_own && !hasPanelRole(me, 'editor')) return <p class="small quiet">Its owner or a panel editor can stop it.</p>
  return (
    <>
      <Button kind="danger" onClick={() => setAsking(true)}>
        Stop
      </Button>
      <Confirm
        open={asking}
        title="Stop this round?"
        action="Stop the round"
        danger
        onClose={() => setAsking(false)}
        onConfirm={() => cancel.mutateAsync()}
      >
        <Consequences mode={modeOf(round, session)} />
      </Confirm>
    </>
  )
}

const Consequences = ({ mode }: { mode: Mode | null }) =>
  mode === 'apply' ? (
    <ul class="rounds-consequences">
      <li>Before the engine has started, nothing is changed and the saved plan stays valid.</li>
      <li>
        After that, the engine is interrupted and given time to write its state. The report says what was applied and
        what was not, and the saved plan can no longer be applied.
      </li>
    </ul>
  ) : (
    <ul class="rounds-consequences">
      <li>The session stays open for further requests; its lock and its saved plan stay as they were.</li>
      <li>Pushed code stays on the branch, but the next round starts at the commit before it.</li>
      {mode === 'import' && <li>Resources that were imported stay in the state, and the branch keeps their code.</li>}
      <li>Model calls so far are charged all the same.</li>
    </ul>
  )
