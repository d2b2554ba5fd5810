import { useCallback, useMemo, useState } from 'preact/hooks'
import type { Round } from '../../client/api/schemas.ts'
import { useArtifact } from '../../client/sessions/use-artifact.ts'
import { Badge, Origin, ReportBadge } from '../../ui/badge.tsx'
import { Scrolling, SearchField, Unfold } from '../../ui/controls.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { ErrorNotice, Notice, Skeleton } from '../../ui/notice.tsx'
import { FirstOf } from '../../ui/table.tsx'
import { Ago } from '../../ui/time.tsx'
import { excerpt, formatNumber, plural } from '../../ui/words.ts'
import { ReadDocument, useOpenSession } from '../session/open-session.tsx'
import { SessionLink } from '../session/session-link.tsx'
import { type DriftDraft, EntryCard } from './drift-entry.tsx'
import {
  countFates,
  type DriftReport,
  explainStatus,
  FATES,
  type Fate,
  readOperations,
  readReport,
} from './drift-report.ts'

interface ResultProps {
  round: Round
  draft: DriftDraft
}

export function Result({ round, draft }: ResultProps) {
  const { session } = useOpenSession()
  const readings = useReadings(session.uuid, round)
  const parse = useCallback((document: unknown) => readReport(document, readings.all), [readings.all])
  if (readings.isPending) return <Skeleton lines={8} label="Loading the report" />
  return (
    <ReadDocument
      url={round.reports.findLast(({ type }) => type === 'drift')?.url ?? null}
      parse={parse}
      what="report"
      lines={8}
      unknown={<Notice tone="warn">The format of the report of this round is unknown.</Notice>}
    >
      {(report) => (
        <>
          <Summary report={report} round={round} />
          <Entries report={report} round={round} draft={draft} />
          {round.code_changes.length > 0 && (
            <p>
              <SessionLink part="review" search={{ part: 'code', round: round.number }}>
                All code changes of this round
              </SessionLink>
            </p>
          )}
          <Raw round={round} />
        </>
      )}
    </ReadDocument>
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
  return (
    <section class="card drift-summary" aria-label="Result">
      <p class="drift-status">
        {round.preview && report.status !== 'Failed' ? <Badge>Preview</Badge> : <ReportBadge status={report.status} />}
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

const titleOf = (fate: Fate, isPreview: boolean): string =>
  ({ left: isPreview ? 'Differs' : 'Remaining', remediated: 'Remediated', excepted: 'Expected to differ' })[fate]

/** Shows the resources by outcome. */
function Entries({ report, round, draft }: ResultProps & { report: DriftReport }) {
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const shown = report.entries.filter(({ address, file }) => `${address} ${file}`.toLowerCase().includes(wanted))
  const groups = Map.groupBy(shown, ({ fate }) => fate)
  return (
    <>
      {report.entries.length > 10 && (
        <SearchField
          aria-label="Search resources"
          placeholder="Search by address or file"
          value={search}
          onSearch={setSearch}
        />
      )}
      {wanted !== '' && <p role="status">{formatNumber(shown.length)} found</p>}
      {FATES.flatMap((fate) => {
        const entries = groups.get(fate)
        if (!entries) return []
        return (
          <section key={fate} class="drift-group">
            <h3>
              {titleOf(fate, round.preview)} <span class="number quiet">{formatNumber(entries.length)}</span>
            </h3>
            <FirstOf items={entries}>
              {(first) =>
                first.map((entry, index) => (
                  <EntryCard key={`${index} ${entry.address}`} entry={entry} round={round} draft={draft} />
                ))
              }
            </FirstOf>
          </section>
        )
      })}
    </>
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
      {documents.map(({ url, name, about }) => (
        <Unfold
          key={url}
          class="drift-raw"
          summary={
            <>
              {name} <span class="small quiet">{about}</span>
            </>
          }
        >
          <Text url={url} name={name} />
        </Unfold>
      ))}
    </details>
  )
}

function Text({ url, name }: { url: string; name: string }) {
  const { session } = useOpenSession()
  const { data, error, refetch } = useArtifact(session.uuid, url)
  if (error) return <ErrorNotice error={error} title={`${name} could not be read`} retry={() => void refetch()} />
  if (!data) return <Skeleton lines={4} />
  return (
    <Scrolling class="drift-text" label={name}>
      <pre>{excerpt(data.text, MAX_SHOWN)}</pre>
    </Scrolling>
  )
}
