import { Link } from '@tanstack/react-router'
import { useState } from 'preact/hooks'
import type { Round } from '../../client/api/schemas.ts'
import { hasDocument } from '../../client/sessions/use-artifact.ts'
import { lastStatus } from '../../client/sessions/use-session.ts'
import { Badge, Origin } from '../../ui/badge.tsx'
import { Button, Copy } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { spendOf } from '../../ui/round/spend.ts'
import { excerpt, formatMoney, formatNumber, formatSeconds } from '../../ui/words.ts'
import type { SessionPart } from '../session/next-step.ts'
import { useOpenSession } from '../session/open-session.tsx'
import { SessionLink } from '../session/session-link.tsx'
import { modeOf } from './conversation.ts'

/** A round, and the platform's answer to it; null when there is none. */
export interface AnsweredRound {
  round: Round
  answer: string | null
}

/** Shows the result of a round that has ended, its cost, and links to its screens. */
export function RoundEnd({ round, answer }: AnsweredRound) {
  return (
    <div class="rounds-answer">
      <Outcome round={round} answer={answer} />
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
        {answer !== null && <Origin by="model" />}
        {answer !== null && message !== '' && message !== answer && <LongText text={message} />}
      </Notice>
    )
  const text = answer ?? (round.preview ? 'Preview: nothing was changed.' : 'The round completed.')
  return (
    <div>
      <LongText text={text} />
      {isModels && <Origin by="model" />}
    </div>
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
export function LongText({ text }: { text: string }) {
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
