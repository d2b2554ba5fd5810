import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'preact/hooks'
import { calls, type Round } from '../../client/api/client.ts'
import { hasPanelRole, useMe } from '../../client/platform.ts'
import {
  hasDocument,
  hasEnded,
  lastStatus,
  spendOf,
  useRoundRequest,
  useSessionCall,
  whyNoRound,
} from '../../client/sessions/use-session.ts'
import { Ago, Badge, Button, Confirm, Copy, Elapsed, Notice, Origin, StatusBadge } from '../../ui/kit.tsx'
import { excerpt, formatMoney, formatNumber, formatSeconds, formatSpend, visibleText } from '../../ui/words.ts'
import type { SessionPart } from '../session/next-step.ts'
import { SessionLink, useOpenSession } from '../session/open-session.tsx'
import { RequestFailure, RoundButton } from '../session/round-request.tsx'
import { type Mode, modeOf } from './conversation.ts'
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

/** Returns the last status message; for a completed round it only names the mode. */
function lastMessage(round: Round): string | null {
  const said = round.statuses.filter(({ message, status }) => message !== null && status !== 'completed')
  return said.at(-1)?.message ?? null
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

/** A round, and the platform's answer to it; null when there is none. */
interface AnsweredRound {
  round: Round
  answer: string | null
}

/** Shows the result of a round that has ended, its cost, and links to its screens. */
function RoundEnd({ round, answer }: AnsweredRound) {
  return (
    <div class="rounds-answer">
      <Outcome round={round} answer={answer} />
      {round.state_question && <StateQuestion round={round} question={round.state_question} />}
      <Next round={round} />
      {round.usage && <Usage round={round} usage={round.usage} />}
    </div>
  )
}

function Outcome({ round, answer }: AnsweredRound) {
  const { session } = useOpenSession()
  const last = lastStatus(round)
  const message = last?.message ?? ''
  const isModels = answer !== null && modeOf(round, session) !== 'apply'
  if (last?.status === 'failed') return <Failure round={round} message={message} />
  if (last?.status === 'uncompleted')
    return (
      <Notice tone="warn" title="Ended early">
        <LongText text={answer ?? (message || 'No reason was given.')} />
        {answer !== null && !round.state_question && <Origin by="model" />}
        {answer !== null && message !== '' && message !== answer && <LongText text={message} />}
      </Notice>
    )
  const text = answer ?? (round.preview ? 'Preview: nothing was changed.' : 'The round completed.')
  return (
    <div>
      <LongText text={text} />
      {isModels && <Origin by="both" />}
    </div>
  )
}

const STATE_CHOICES = {
  adopt: ['Adopt the state', 'Copies it into the managed state, under lock, and compares the plans of both.'],
  keep: ["Keep the repository's backend", 'Plans and applies work on it in this session. Nothing is copied.'],
  new: ['Start with an empty state', 'Everything that the state holds would be created anew.'],
} as const

/** Offers to start a round again that stopped because the repository keeps its state elsewhere. */
function StateQuestion({ round, question }: { round: Round; question: NonNullable<Round['state_question']> }) {
  const open = useOpenSession()
  const request = useRoundRequest(open.session.uuid)
  const { mode, is_partial, choices } = question
  const closed = whyNoRound(open)
  const isNewest = round.number === open.session.rounds.at(-1)?.number
  if (!isNewest || closed !== null) return isNewest ? <p class="small quiet">{closed}</p> : null
  const again = { mode, is_partial, q: round.query, preview: round.preview }
  return (
    <section class="card" aria-label="Where the state is kept">
      <dl class="rounds-choices">
        {choices.map((state) => (
          <div key={state}>
            <dt>
              <RoundButton {...{ request, ask: request.mutate }} round={{ ...again, state, kind: state }}>
                {STATE_CHOICES[state][0]}
              </RoundButton>
            </dt>
            <dd class="small quiet">{STATE_CHOICES[state][1]}</dd>
          </div>
        ))}
      </dl>
      <RequestFailure request={request} ask={request.mutate} />
    </section>
  )
}

function Failure({ round, message }: { round: Round; message: string }) {
  const tries = round.attempts.filter(({ outcome }) => outcome === 'refused')
  const found = tries.at(-1)?.diagnostics[0]
  return (
    <Notice tone="bad" title="The round failed">
      {tries.length > 0 && tries.length === round.attempts.length && (
        <LongText
          text={`${tries.length === 1 ? 'The attempt' : `All ${tries.length} attempts`} at the code ${
            tries.length === 1 ? 'was' : 'were'
          } refused${found ? `, the last one because of: ${found.summary}${placeOf(found)}` : ''}.`}
        />
      )}
      {message !== '' && <LongText text={message} />}
    </Notice>
  )
}

const placeOf = ({ file, line }: { file: string | null; line: number | null }): string =>
  file === null ? '' : ` (${file}${line === null ? '' : `:${line}`})`

function Next({ round }: { round: Round }) {
  const { session } = useOpenSession()
  const type = round.reports.at(-1)?.type
  const isReview = type === 'generate' || (type !== 'apply' && round.plans.length > 0 && !round.preview)
  const isImport = type === 'import' || round.previews.length > 0
  const passed = round.compliance_checks.at(-1)?.passed
  const links: [part: SessionPart, name: string, shown: boolean, primary?: boolean][] = [
    ['review', 'Review', isReview, true],
    ['graph', 'Graph', hasDocument(round)],
    ['drift', 'Drift', type === 'drift', !isReview],
    ['import', 'Import', isImport, !isReview],
    ['seal', 'Saved plan', session.seal?.round === round.number || type === 'apply'],
    ['pull-request', 'Pull request', round.pull_requests.length > 0],
  ]
  return (
    <div class="rounds-links">
      {links
        .filter(([, , shown]) => shown)
        .map(([part, name, , primary]) => (
          <SessionLink
            key={part}
            class={`button button-small ${primary ? 'button-primary' : 'button-plain'}`}
            part={part}
            search={part === 'seal' || part === 'pull-request' ? {} : { round: round.number }}
          >
            {name}
          </SessionLink>
        ))}
      <Link
        class="button button-small button-quiet"
        to="/sessions/$sessionId/replay/$round"
        params={{ sessionId: session.uuid, round: String(round.number) }}
      >
        Replay
      </Link>
      <Copy text={`${location.origin}${location.pathname}?round=${round.number}`} label="Copy address" />
      {passed !== undefined && (
        <Badge tone={passed ? 'good' : 'bad'}>{passed ? 'Compliance passed' : 'Compliance failed'}</Badge>
      )}
    </div>
  )
}

function Usage({ round, usage }: { round: Round; usage: NonNullable<Round['usage']> }) {
  const { tokens, cost_usd } = spendOf(round) ?? { tokens: 0, cost_usd: null }
  const [read, cached, written] = [usage.input_tokens, usage.cached_tokens, usage.output_tokens].map(formatNumber)
  const facts: [string, string, string?][] = [
    ['Model', formatSeconds(usage.model_s), 'Time waiting for models'],
    ['Engine', formatSeconds(usage.engine_s)],
    ['Tokens', formatNumber(tokens), `${read} in (${cached} from the cache), ${written} out`],
    ['Cost', formatMoney(cost_usd), cost_usd === null ? 'The price of a model is unknown' : 'At list prices'],
    ['Attempts', formatNumber(round.attempts.length)],
  ]
  return (
    <dl class="rounds-facts small">
      {facts.map(([name, value, title]) => (
        <div key={name} title={title}>
          <dt class="quiet">{name}</dt>
          <dd class="number">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

const SHORT = 1_200
/** The length that a page can lay out without a pause. */
const LONGEST = 20_000

/** Shows an untrusted text with its line breaks. A long one is folded, a very long one is cut. */
function LongText({ text }: { text: string }) {
  const [all, setAll] = useState(false)
  const isLong = text.length > SHORT
  return (
    <>
      <p class="rounds-text" dir="auto">
        {excerpt(text, all ? LONGEST : SHORT)}
      </p>
      {isLong && !all && (
        <Button small kind="quiet" onClick={() => setAll(true)}>
          Show all {formatNumber(text.length)} characters
        </Button>
      )}
      {all && text.length > LONGEST && <p class="small quiet">The rest of the text is not shown.</p>}
    </>
  )
}
