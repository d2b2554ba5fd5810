import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Round } from '../../client/api/schemas.ts'
import { useArtifact } from '../../client/sessions/use-artifact.ts'
import { type RoundEvents, useOutput } from '../../client/sessions/use-streams.ts'
import { Badge } from '../../ui/badge.tsx'
import { ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { stepName } from '../../ui/round/activity-lines.ts'
import { FollowEnd } from '../../ui/round/activity-stream.tsx'
import { formatBytes, formatSeconds, plural } from '../../ui/words.ts'
import { useOpenSession } from '../session/open-session.tsx'
import { createOutputFolder, inChunks, type OutputBlock } from './fold-output.ts'

/** Shows the engine output. It is read only when it is opened, because browsers limit the connections to a host. */
export function RoundOutput({ round, over }: { round: Round; over: boolean }) {
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
        <StreamState events={output} quietWhen={over} />
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
    {round.outputs.map((output) => (
      <li key={output.id}>
        <WholeText output={output} />
      </li>
    ))}
  </ul>
)

function WholeText({ output }: { output: Round['outputs'][number] }) {
  const [open, setOpen] = useState(false)
  return (
    <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {stepName(output.step)}{' '}
        <Badge tone={output.exit_code === 0 ? 'good' : 'bad'}>
          {output.exit_code === null ? 'no exit code' : `exit ${output.exit_code}`}
        </Badge>{' '}
        {output.file_size_bytes !== null && (
          <span class="small quiet number">{formatBytes(output.file_size_bytes)}</span>
        )}
      </summary>
      {open && <Loaded url={output.url} label={`Output of ${stepName(output.step)}`} />}
    </details>
  )
}

function Loaded({ url, label }: { url: string; label: string }) {
  const { session } = useOpenSession()
  const { data, error, refetch } = useArtifact(session.uuid, url)
  const chunks = useMemo(() => (data ? inChunks(data.text) : []), [data])
  if (error) return <ErrorNotice error={error} title="The text could not be read" retry={() => void refetch()} />
  if (!data) return <Skeleton lines={4} />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by the keyboard
    <section class="rounds-scroller" aria-label={label} tabIndex={0}>
      {chunks.map((text, index) => (
        <pre key={index} class="rounds-text-block">
          {text}
        </pre>
      ))}
    </section>
  )
}

interface StateProps {
  events: RoundEvents<unknown>
  /** True once the round is over, so that only failures are shown. */
  quietWhen?: boolean
}

/** Shows the state of the stream of a round. */
export function StreamState({ events, quietWhen }: StateProps) {
  return (
    <span class="rounds-stream-state small quiet" role="status">
      {wordsFor(events, quietWhen ?? false)}
    </span>
  )
}

function wordsFor({ stream, error, events }: RoundEvents<unknown>, quiet: boolean): string {
  if (error !== null) return `Cannot be followed: ${error}`
  if (stream === 'waiting') return 'Interrupted; reconnecting.'
  if (stream === 'connecting' && events.length === 0) return 'Connecting…'
  if (stream === 'connecting') return 'Reconnecting…'
  return stream === 'open' && !quiet ? 'Live' : ''
}
