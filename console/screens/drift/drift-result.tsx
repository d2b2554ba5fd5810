import { useMemo, useState } from 'preact/hooks'
import type { Round } from '../../client/api/schemas.ts'
import { useArtifact, useJsonArtifact } from '../../client/sessions/use-artifact.ts'
import { Badge, Origin, type Tone } from '../../ui/badge.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { ErrorNotice, Notice, Skeleton } from '../../ui/notice.tsx'
import { FirstOf } from '../../ui/table.tsx'
import { Ago } from '../../ui/time.tsx'
import { formatNumber, plural, shorten, visibleText } from '../../ui/words.ts'
import { useOpenSession } from '../session/session-context.ts'
import { SessionLink } from '../session/session-link.tsx'
import type { DriftDraft } from './drift-actions.tsx'
import { EntryCard } from './drift-entry.tsx'
import {
  countFates,
  type DriftReport,
  type DriftStatus,
  type Entry,
  explainStatus,
  type Fate,
  readOperations,
  readReport,
} from './drift-report.ts'

const TONES: Record<DriftStatus, Tone> = { Succeeded: 'good', Partial: 'warn', Failed: 'bad' }

export function Result({ round, draft }: { round: Round; draft: DriftDraft }) {
  const { session } = useOpenSession()
  const url = round.reports.findLast(({ type }) => type === 'drift')?.url ?? null
  const document = useJsonArtifact<unknown>(session.uuid, url)
  const readings = useReadings(session.uuid, round)
  const report = useMemo(
    () => (document.isSuccess ? readReport(document.data, readings.all) : null),
    [document.isSuccess, document.data, readings.all],
  )
  if (document.error)
    return (
      <ErrorNotice error={document.error} title="The report could not be read" retry={() => void document.refetch()} />
    )
  if (!document.isSuccess || readings.isPending) return <Skeleton lines={8} label="Loading the report" />
  if (report === null) return <Notice tone="warn">The format of the report of this round is unknown.</Notice>
  return (
    <>
      <Summary report={report} round={round} />
      <Entries report={report} round={round} draft={draft} />
      {round.code_changes.length > 0 && (
        <p>
          <SessionLink id={session.uuid} part="review" search={{ part: 'code', round: round.number }}>
            All code changes of this round
          </SessionLink>
        </p>
      )}
      <Raw round={round} />
    </>
  )
}

/** Returns the first and the last drift check of the round. */
function useReadings(sessionId: string, { plans }: Round) {
  const drift = plans.filter(({ document_url }) => document_url === null)
  const first = useArtifact(sessionId, drift[0]?.url ?? null)
  const last = useArtifact(sessionId, drift.length > 1 ? (drift.at(-1)?.url ?? null) : null)
  const texts = [first.data?.text, last.data?.text]
  const all = useMemo(() => texts.flatMap((text) => (text === undefined ? [] : (readOperations(text) ?? []))), texts)
  return { all, isPending: first.isLoading || last.isLoading }
}

function Summary({ report, round }: { report: DriftReport; round: Round }) {
  const counts = countFates(report.entries)
  const isMissed = round.preview && report.status === 'Failed'
  return (
    <section class="card drift-summary" aria-label="Result">
      <p class="drift-status">
        <Badge tone={round.preview && !isMissed ? 'neutral' : TONES[report.status]}>
          {round.preview && !isMissed ? 'Preview' : report.status}
        </Badge>
        <span>{explainStatus(report.status, round.preview, counts)}</span>
        <span class="quiet small">
          <Ago at={round.created_at} />
        </span>
      </p>
      <dl class="drift-counts">
        {!round.preview && (
          <Count name="remediated" value={counts.remediated} meaning="the code now matches what really runs" />
        )}
        <Count
          name={round.preview ? 'differ' : 'remaining'}
          value={counts.left}
          meaning={round.preview ? 'not remediated yet' : 'they still differ'}
        />
        <Count name="expected" value={counts.excepted} meaning="covered by an exception rule" />
      </dl>
      <p class="small">
        <Origin by="code" /> <span class="quiet">status, counts and the values on both sides</span>
      </p>
      {report.summary !== '' && <Markdown text={report.summary} />}
      {report.summary !== '' && !round.preview && (
        <p class="small">
          <Origin by="model" /> <span class="quiet">the text after the counts</span>
        </p>
      )}
    </section>
  )
}

const Count = ({ name, value, meaning }: { name: string; value: number; meaning: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      <b class="number">{formatNumber(value)}</b>
      <span class="small quiet">{meaning}</span>
    </dd>
  </div>
)

const ORDER: Fate[] = ['left', 'remediated', 'excepted']
const titleOf = (fate: Fate, isPreview: boolean): string =>
  ({ left: isPreview ? 'Differs' : 'Remaining', remediated: 'Remediated', excepted: 'Expected to differ' })[fate]

/** Shows the resources by outcome. */
export function Entries({ report, round, draft }: { report: DriftReport; round: Round; draft: DriftDraft }) {
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const shown = report.entries.filter(({ address, file }) => `${address} ${file}`.toLowerCase().includes(wanted))
  return (
    <>
      {report.entries.length > 10 && (
        <input
          type="search"
          aria-label="Search resources"
          placeholder="Search by address or file"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
      )}
      {wanted !== '' && <p role="status">{formatNumber(shown.length)} found</p>}
      {ORDER.map((fate) => (
        <Group
          key={fate}
          title={titleOf(fate, round.preview)}
          entries={shown.filter((entry) => entry.fate === fate)}
          round={round}
          draft={draft}
        />
      ))}
    </>
  )
}

interface GroupProps {
  title: string
  entries: Entry[]
  round: Round
  draft: DriftDraft
}

function Group({ title, entries, round, draft }: GroupProps) {
  if (entries.length === 0) return null
  return (
    <section class="drift-group">
      <h3>
        {title} <span class="number quiet">{formatNumber(entries.length)}</span>
      </h3>
      <FirstOf items={entries}>
        {(shown) =>
          shown.map((entry, index) => (
            <EntryCard key={`${index} ${entry.address}`} entry={entry} round={round} draft={draft} />
          ))
        }
      </FirstOf>
    </section>
  )
}

const MAX_SHOWN = 200_000

/** Shows the stored documents of the page; each is read when it is opened. */
function Raw({ round }: { round: Round }) {
  const plans = round.plans.map(({ url, targets, document_url }, index) => ({
    url,
    name: `${document_url === null ? 'Drift check' : 'Plan'} ${index + 1}`,
    about: targets.length > 0 ? plural(targets.length, 'target') : 'the whole root',
  }))
  const outputs = round.outputs
    .filter(({ step }) => step === 'plan')
    .map(({ url }, index) => ({ url, name: `Engine output ${index + 1}`, about: 'plan' }))
  const documents = [...plans, ...outputs]
  if (documents.length === 0) return null
  return (
    <details class="card">
      <summary>Stored engine output</summary>
      {documents.map((document) => (
        <Document key={document.url} {...document} />
      ))}
    </details>
  )
}

function Document({ url, name, about }: { url: string; name: string; about: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="drift-raw" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {name} <span class="small quiet">{about}</span>
      </summary>
      {isOpen && <Text url={url} name={name} />}
    </details>
  )
}

function Text({ url, name }: { url: string; name: string }) {
  const { session } = useOpenSession()
  const { data, error, refetch } = useArtifact(session.uuid, url)
  if (error) return <ErrorNotice error={error} title={`${name} could not be read`} retry={() => void refetch()} />
  if (!data) return <Skeleton lines={4} />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by the keyboard
    <section class="drift-text" tabIndex={0} aria-label={name}>
      <pre>{visibleText(shorten(data.text, MAX_SHOWN))}</pre>
    </section>
  )
}
