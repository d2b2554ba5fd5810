import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Round } from '../../client/api/client.ts'
import { hasEnded, useArtifact } from '../../client/sessions/use-session.ts'
import { type RoundEvents, useActivity, useOutput } from '../../client/sessions/use-streams.ts'
import { Scrolling, Unfold } from '../../ui/controls.tsx'
import { Badge, ErrorNotice, Skeleton, Term } from '../../ui/kit.tsx'
import { foldActivity, mergeAttempts, stepName, withStatuses } from '../../ui/round/activity.ts'
import { BudgetsLeft } from '../../ui/round/budgets.tsx'
import { ActivityStream, FollowEnd, Lanes } from '../../ui/round/lanes.tsx'
import { formatBytes, formatNumber, formatSeconds, plural } from '../../ui/words.ts'
import { useOpenSession } from '../session/open-session.tsx'
import { createOutputFolder, inChunks, type OutputBlock } from './fold-output.ts'

interface WorkProps {
  round: Round
  /** Receives the user who requested the stop. */
  onCancelling: (by: string | null) => void
}

/** Shows the work of a round: its attempts as lanes, its events line by line, and the engine output. */
export function RoundWork({ round, onCancelling }: WorkProps) {
  const { session, is_own } = useOpenSession()
  const activity = useActivity(session.uuid, { round: round.number })
  const over = hasEnded(round)
  const { events, end } = activity
  const isOver = over || end !== null
  const folded = useMemo(() => foldActivity(events, isOver), [events, isOver])
  const lanes = useMemo(() => mergeAttempts(folded.lanes, round.attempts), [folded, round.attempts])
  const lines = useMemo(() => withStatuses(folded.lines, round.statuses), [folded, round.statuses])
  useEffect(() => onCancelling(folded.cancelling), [folded.cancelling])
  return (
    <div class="rounds-work">
      <section>
        <h3>
          <Term name="attempt">Attempts</Term> <StreamState events={activity} isOver={isOver} />
        </h3>
        {lanes.length > 0 && <Lanes lanes={lanes} running={!isOver} />}
        {lanes.length === 0 && !isOver && <Skeleton lines={3} label="Waiting for the first event" />}
        {lanes.length === 0 && isOver && activity.stream === 'ended' && (
          <p class="quiet small">
            {events.length === 0 && end !== null
              ? 'Events of a round are kept for 30 days; those of this round are gone.'
              : 'No attempt at the code was made.'}
          </p>
        )}
        {folded.budget && (
          <p class="small quiet number">
            The session has used {formatNumber(folded.budget.tokens)} of {formatNumber(folded.budget.limit)} tokens.
          </p>
        )}
        <BudgetsLeft budgets={folded.budgets.length > 0 ? folded.budgets : round.budgets} is_own={is_own} />
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

/** Shows the engine output. It is read only when it is opened, because browsers limit the connections to a host. */
function RoundOutput({ round, over }: { round: Round; over: boolean }) {
  const [open, setOpen] = useState(false)
  // If the reader watched a round to its end, the text stays in place.
  const [live, setLive] = useState(false)
  return (
    <details
      class="rounds-output"
      open={open}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open)
        if (currentTarget.open && !open) setLive(!over || round.outputs.length === 0)
      }}
    >
      <summary>
        <h3>Engine output</h3>
        {over && round.outputs.length > 0 && (
          <span class="small quiet">{plural(round.outputs.length, 'job')} of the engine</span>
        )}
      </summary>
      {open && live && <LiveOutput round={round} over={over} />}
      {open && !live && <WholeTexts round={round} />}
    </details>
  )
}

function LiveOutput({ round, over }: { round: Round; over: boolean }) {
  const { session } = useOpenSession()
  const output = useOutput(session.uuid, { round: round.number })
  const [fold] = useState(createOutputFolder)
  const blocks = useMemo(() => fold(output.events), [output.events])
  return (
    <>
      <p>
        <StreamState events={output} isOver={over} />
      </p>
      {blocks.length === 0 ? (
        <p class="quiet small">
          {output.end === null ? 'The engine has printed nothing yet.' : 'The engine printed nothing.'}
        </p>
      ) : (
        <Scroller blocks={blocks} />
      )}
    </>
  )
}

/** Scrolls to the end while its reader is there. All text is in the page, so that the browser can search it. */
function Scroller({ blocks }: { blocks: readonly OutputBlock[] }) {
  const box = useRef<HTMLElement>(null)
  const atEnd = useRef(true)
  useLayoutEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [blocks])
  return (
    <FollowEnd>
      <section
        ref={box}
        class="rounds-scroller"
        aria-label="Engine output"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by the keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          atEnd.current = scrollHeight - scrollTop - clientHeight < 32
        }}
      >
        {blocks.map((block) => (
          <Block key={block.key} block={block} />
        ))}
      </section>
    </FollowEnd>
  )
}

function Block({ block }: { block: OutputBlock }) {
  if (block.kind === 'head') return <p class="rounds-job">{stepName(block.step)}</p>
  if (block.kind === 'cut') return <p class="small quiet">The rest of the output was not stored.</p>
  if (block.kind === 'foot')
    return (
      <p class="small quiet number">
        {block.exit_code === 0 ? 'succeeded' : `ended with ${block.exit_code ?? 'no exit code'}`}
        {block.seconds !== null && ` after ${formatSeconds(block.seconds)}`}
      </p>
    )
  return (
    <pre
      class={block.stream === 'stderr' ? 'rounds-text-block rounds-stderr' : 'rounds-text-block'}
      style={{ containIntrinsicBlockSize: `auto ${block.lines * 1.25}rem` }}
    >
      {block.text}
    </pre>
  )
}

const WholeTexts = ({ round }: { round: Round }) => (
  <ul class="rounds-outputs">
    {round.outputs.map(({ id, url, step, exit_code, file_size_bytes }) => (
      <li key={id}>
        <Unfold
          summary={
            <>
              {stepName(step)}{' '}
              <Badge tone={exit_code === 0 ? 'good' : 'bad'}>
                {exit_code === null ? 'no exit code' : `exit ${exit_code}`}
              </Badge>{' '}
              {file_size_bytes !== null && <span class="small quiet number">{formatBytes(file_size_bytes)}</span>}
            </>
          }
        >
          <Loaded url={url} label={`Output of ${stepName(step)}`} />
        </Unfold>
      </li>
    ))}
  </ul>
)

function Loaded({ url, label }: { url: string; label: string }) {
  const { session } = useOpenSession()
  const { data, error, refetch } = useArtifact(session.uuid, url)
  const chunks = useMemo(() => (data ? inChunks(data.text) : []), [data])
  if (error) return <ErrorNotice error={error} title="The text could not be read" retry={() => void refetch()} />
  if (!data) return <Skeleton lines={4} />
  return (
    <Scrolling class="rounds-scroller" label={label}>
      {chunks.map((text, index) => (
        <pre key={index} class="rounds-text-block">
          {text}
        </pre>
      ))}
    </Scrolling>
  )
}

/** Shows the state of the stream of a round. */
const StreamState = ({ events, isOver }: { events: RoundEvents<unknown>; isOver: boolean }) => (
  <span class="rounds-stream-state small quiet" role="status">
    {wordsFor(events, isOver)}
  </span>
)

function wordsFor({ stream, error, events }: RoundEvents<unknown>, isOver: boolean): string {
  if (error !== null) return `Cannot be followed: ${error}`
  if (stream === 'waiting') return 'Interrupted; reconnecting.'
  if (stream === 'connecting' && events.length === 0) return 'Connecting…'
  if (stream === 'connecting') return 'Reconnecting…'
  return stream === 'open' && !isOver ? 'Live' : ''
}
