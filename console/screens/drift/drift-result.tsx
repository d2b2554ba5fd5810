import { useCallback, useId, useMemo, useState } from 'preact/hooks'
import type { Round } from '../../client/api/client.ts'
import { useDraft } from '../../client/drafts.ts'
import { useArtifact } from '../../client/sessions/use-session.ts'
import { CodeDiff, CodeFile } from '../../ui/code/code-view.tsx'
import { Scrolling, SearchField, Unfold } from '../../ui/controls.tsx'
import { Ago, Badge, ErrorNotice, Notice, Origin, ReportBadge, SignBadge, Skeleton } from '../../ui/kit.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { FirstOf, Table } from '../../ui/table.tsx'
import { excerpt, formatNumber, plural, visibleText } from '../../ui/words.ts'
import { ReadDocument, SessionLink, useOpenSession } from '../session/open-session.tsx'
import { blockOf } from './code-block.ts'
import {
  countFates,
  type Difference,
  type DriftReport,
  type Entry,
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
      <pre>{excerpt(data.text, 200_000)}</pre>
    </Scrolling>
  )
}

/** Returns the draft: the selected addresses and the typed sentence. */
export const useDriftDraft = (sessionId: string) =>
  useDraft<{ ticked: string[]; sentence: string }>(`drift.${sessionId}`, { ticked: [], sentence: '' })
export type DriftDraft = ReturnType<typeof useDriftDraft>

const OUTCOMES = {
  left: ['≠', 'differs', 'warn'],
  remediated: ['✓', 'remediated', 'good'],
  excepted: ['~', 'expected', 'neutral'],
} as const
const KINDS = {
  differs: null,
  'only-code': 'The code has it, the cloud does not.',
  'only-cloud': 'The cloud has it, the code does not.',
} as const
/** The maximum number of listed attributes of a resource, and length of a value. */
const MAX_DIFFERENCES = 200
const MAX_VALUE = 2_000

/** Shows one resource: its values in code and cloud, its outcome, and the code that was changed for it. */
function EntryCard({ entry, round, draft }: { entry: Entry; round: Round; draft: DriftDraft }) {
  const { is_own } = useOpenSession()
  const id = useId().replaceAll(':', '')
  const { ticked } = draft.value
  const { address, fate, file, kind, differences } = entry
  const name = address === '' ? 'The drift check as a whole' : excerpt(address, 500)
  const explained = KINDS[kind]
  return (
    <article class="card drift-entry" aria-labelledby={id}>
      <header class="drift-entry-head">
        {fate === 'left' && address !== '' && is_own && (
          <input
            type="checkbox"
            aria-label={`Remediate ${name}`}
            checked={ticked.includes(address)}
            onChange={({ currentTarget }) => {
              const others = ticked.filter((other) => other !== address)
              draft.change({ ticked: currentTarget.checked ? [...others, address] : others })
            }}
          />
        )}
        <h4 id={id} class={address === '' ? '' : 'mono'}>
          {name}
        </h4>
        <SignBadge of={OUTCOMES[fate]} />
        {file !== '' && <span class="small quiet mono">{visibleText(file)}</span>}
      </header>
      {explained && <p>{explained}</p>}
      <div class={fate === 'remediated' ? 'drift-sides' : undefined}>
        {differences.length > 0 && <Differences differences={differences} isRemediated={fate === 'remediated'} />}
        {fate === 'remediated' && <CodeSide entry={entry} round={round} />}
      </div>
      <Words entry={entry} isPreview={round.preview} />
    </article>
  )
}

function Differences({ differences, isRemediated }: { differences: Difference[]; isRemediated: boolean }) {
  const hidden = differences.length - MAX_DIFFERENCES
  return (
    <div class="scroll-x">
      <Table class="drift-table" head={['What', isRemediated ? 'Code, before' : 'Code', 'Cloud']}>
        {differences.slice(0, MAX_DIFFERENCES).map(({ path, code, cloud }) => (
          <tr key={path}>
            <th scope="row" class="mono">
              {excerpt(path, MAX_VALUE) || 'the whole'}
            </th>
            <Value of={code} />
            <Value of={cloud} />
          </tr>
        ))}
      </Table>
      {hidden > 0 && <p class="small quiet">and {formatNumber(hidden)} more, in the drift check below</p>}
    </div>
  )
}

const Value = ({ of }: { of: string | null }) => (
  <td class={of === null ? 'quiet' : 'mono'}>{of === null ? 'absent' : excerpt(of, MAX_VALUE)}</td>
)

/** The reasons that the platform writes, not a model. */
const CODE_SAYS = /^(The last plan still shows this difference|It could not be read again)/

/** Shows the remarks beside the values. A list in words is hidden when the differences are known. */
function Words({ entry, isPreview }: { entry: Entry; isPreview: boolean }) {
  const { address, fate, reason, rule, remarks, details, differences } = entry
  // A preview calls no model for words: its reason is the same for every resource.
  const hasReason = reason !== '' && !(isPreview && differences.length > 0 && fate === 'left')
  const isModels = !isPreview && address !== '' && !CODE_SAYS.test(reason)
  const lines = differences.length > 0 ? [] : details
  return (
    <>
      {lines.length > 0 && (
        <ul class="drift-lines small">
          {lines.slice(0, MAX_DIFFERENCES).map((line, index) => (
            <li key={index}>{excerpt(line, 4_000)}</li>
          ))}
        </ul>
      )}
      {hasReason && (
        <p class="small">
          {isModels && <Origin by="model" />} {`${fate === 'excepted' ? 'Differs: ' : ''}${excerpt(reason, 4_000)}`}
        </p>
      )}
      {rule !== '' && (
        <p class="small">
          {isModels && <Origin by="model" />} Rule: {excerpt(rule, 4_000)}
        </p>
      )}
      {remarks.length > 0 && (
        <ul class="drift-lines small">
          {remarks.slice(0, MAX_DIFFERENCES).map(({ attribute, text }, index) => (
            <li key={index}>
              <Origin by="model" /> {attribute !== '' && <code>{excerpt(attribute, 500)}</code>} {excerpt(text, 4_000)}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** The number of files that are searched for a resource without a known file. */
const MAX_SEARCHED = 8

/** Shows the changed code of a resource: its block if it can be found. */
const CodeSide = ({ entry: { address, file }, round }: { entry: Entry; round: Round }) => (
  <div class="drift-code">
    {round.code_changes
      .filter(({ file_name }, index) => (file === '' ? index < MAX_SEARCHED : file_name === file))
      .map((change) => (
        <ChangedCode key={change.id} change={change} address={address} isKnown={file !== ''} />
      ))}
  </div>
)

interface ChangeProps {
  change: Round['code_changes'][number]
  address: string
  /** True if the change is known to concern the resource. */
  isKnown: boolean
}

function ChangedCode({ change: { url, file_name: name }, address, isKnown }: ChangeProps) {
  const { session } = useOpenSession()
  const { data, error, refetch } = useArtifact(session.uuid, url)
  if (error) return <ErrorNotice error={error} title="The code could not be read" retry={() => void refetch()} />
  if (!data) return <Skeleton lines={4} label="Loading the code" />
  const isDiff = /^@@ -/m.test(data.text)
  const block = isDiff ? blockOf(data.text, address) : null
  if (block !== null) return <CodeDiff diff={block} name={name} />
  if (!isKnown) return null
  return (
    <details>
      <summary class="small">All changes of this file</summary>
      {isDiff ? <CodeDiff diff={data.text} name={name} /> : <CodeFile text={data.text} name={name} />}
    </details>
  )
}
