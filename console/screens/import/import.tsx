import { useMemo } from 'preact/hooks'
import { ApiError, type PlanDocument, type Round } from '../../client/api/client.ts'
import {
  type RoundRequest,
  useArtifact,
  useJsonArtifact,
  useRoundRequest,
  whyNoRound,
} from '../../client/sessions/use-session.ts'
import { useActivity, useOutput } from '../../client/sessions/use-streams.ts'
import { Badge, Button, Empty, Notice, Origin, ReportBadge, Skeleton, Term, type Tone } from '../../ui/kit.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { FirstOf, Table } from '../../ui/table.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { excerpt, formatNumber, plural, visibleText } from '../../ui/words.ts'
import {
  ReadDocument,
  RoundPicker,
  type SelectedRound,
  SessionLink,
  useOpenSession,
  useSelectedRound,
} from '../session/open-session.tsx'
import { RequestFailure, RoundButton, SentenceForm } from '../session/round-request.tsx'
import {
  countChanges,
  type Import,
  type ImportReport,
  isImport,
  readImportReport,
  readImports,
  saysNoChanges,
  totalOf,
} from './import-report.ts'
import { type Choice, refusedIds, useChoice } from './inventory.ts'
import { InventoryOf } from './inventory-card.tsx'

const isResult = ({ reports, preview }: Round) => !preview && reports.some(({ type }) => type === 'import')

/** Shows the unmanaged resources of the scope, and their import. */
export function Screen() {
  const { session } = useOpenSession()
  const choice = useChoice(session.uuid)
  const selected = useSelectedRound(isResult)
  const { round } = selected
  const latest = session.rounds.findLast(({ previews }) => previews.length > 0) ?? null
  const running = session.in_flight ? (session.rounds.at(-1) ?? null) : null
  return (
    <section class="import">
      <h2>Import</h2>
      <p class="import-lead quiet">
        An import writes code for resources that already exist in the <Term name="scope">scope</Term>, and the engine
        manages them from then on. Nothing in the cloud is changed; an empty <Term name="plan">plan</Term> afterwards
        proves that the code matches the resources.
      </p>
      {running && <Progress key={running.id} round={running} />}
      {round && <Result key={`result ${round.id}`} {...selected} round={round} />}
      {latest && <InventoryOf key={`inventory ${latest.id}`} round={latest} choice={choice} />}
      <Actions choice={choice} hasPreview={latest !== null} />
    </section>
  )
}

const ROW_PX = 40

function Progress({ round }: { round: Round }) {
  const { session, live } = useOpenSession()
  const activity = useActivity(session.uuid, { round: round.number })
  const isOurs = useMemo(() => isImport(activity.events), [activity.events])
  const output = useOutput(session.uuid, { round: round.number, enabled: isOurs && !round.preview })
  const imports = useMemo(() => readImports(output.events), [output.events])
  const done = imports.filter(({ state }) => state === 'imported').length
  const total = totalOf(round.statuses.map(({ message }) => message)) ?? 0
  const message = live?.message ?? round.statuses.at(-1)?.message ?? ''
  return (
    <section class="card import-progress" aria-labelledby="import-progress">
      <header class="import-line">
        <h3 id="import-progress">{isOurs && !round.preview ? 'Import running' : 'A round is running'}</h3>
        <SessionLink class="small" search={{ round: round.number }}>
          Watch round {round.number}, or stop it
        </SessionLink>
      </header>
      <p role="status">{excerpt(message, 500) || 'Waiting for a worker.'}</p>
      {imports.length > 0 && (
        <>
          <progress aria-label="Imported" value={done} max={Math.max(total, imports.length)} />
          <p class="small quiet number">
            {formatNumber(done)} of {formatNumber(Math.max(total, imports.length))} imported
          </p>
          <div class="import-rows" style={{ height: `${Math.min(imports.length * ROW_PX + 8, 400)}px` }}>
            <VirtualList
              items={imports}
              estimate={ROW_PX}
              keyOf={({ job }) => job}
              label="Resources of this import"
              follow
              row={(item) => <ImportRow item={item} />}
            />
          </div>
        </>
      )}
    </section>
  )
}

const STATES: Record<Import['state'], [name: string, tone: Tone]> = {
  runs: ['importing', 'accent'],
  imported: ['imported', 'good'],
  failed: ['refused', 'bad'],
}

function ImportRow({ item: { address, id, state, error } }: { item: Import }) {
  const [name, tone] = STATES[state]
  return (
    <div class="import-row">
      <Badge tone={tone}>{name}</Badge>
      <span class="import-item">
        <span class="mono">{excerpt(id || address, 500) || 'Starting'}</span>
        {error !== '' && <span class="small">{excerpt(error, 1_000)}</span>}
      </span>
    </div>
  )
}

const LOOK: RoundRequest = { mode: 'import', kind: 'look', preview: true, q: 'What does nobody manage yet?' }
const ALL: RoundRequest = { mode: 'import', kind: 'all', q: 'Import all the infrastructure' }

/** Shows the import rounds that can be requested, or the reason why none can. */
function Actions({ choice, hasPreview }: { choice: Choice; hasPreview: boolean }) {
  const open = useOpenSession()
  const { session } = open
  const request = useRoundRequest(session.uuid)
  const refusal = whyNoRound(open)
  const { chosen } = choice
  const ask = async (round: RoundRequest) => {
    choice.refuse(new Map())
    try {
      const number = await request.mutateAsync(round)
      if (number !== null && !round.preview) choice.clear()
    } catch (error) {
      if (error instanceof ApiError) choice.refuse(refusedIds(error.problems, round.resource_ids ?? []))
    }
  }
  const requests = { request, ask }
  const q = `Import ${plural(chosen.size, 'chosen resource')}.`
  return (
    <section class="import-actions card" aria-labelledby="import-actions">
      <h3 id="import-actions">Actions</h3>
      {!hasPreview && (
        <Empty title="No inventory in this session yet">
          An inventory lists what exists, changes nothing and uses no model. Then you select what to import.
        </Empty>
      )}
      {refusal !== null ? (
        <Notice title="No round can be requested now">{refusal}</Notice>
      ) : (
        <>
          <div class="import-line">
            <RoundButton {...requests} round={LOOK} primary={!hasPreview}>
              {hasPreview ? 'List again' : 'List what exists'}
            </RoundButton>
            {hasPreview && chosen.size === 0 && (
              <span class="small quiet">Select resources above to import only these.</span>
            )}
            {hasPreview && chosen.size > 0 && (
              <RoundButton
                {...requests}
                round={{ mode: 'import', kind: 'chosen', resource_ids: [...chosen], q }}
                primary
              >
                Import the {plural(chosen.size, 'selected resource')}
              </RoundButton>
            )}
            <RoundButton {...requests} round={ALL}>
              Import everything
            </RoundButton>
          </div>
          <SentenceForm
            {...requests}
            mode="import"
            class="import-named"
            label="Import only what a sentence names"
            hint="A model selects what the sentence means. For example: Import the queues of the invoices service."
            action="Import what is named"
            sentence={choice.sentence}
            change={choice.say}
          />
        </>
      )}
      {choice.refused.size > 0 ? (
        <Notice
          tone="bad"
          title={`${plural(choice.refused.size, 'selected resource was', 'selected resources were')} refused`}
          actions={
            <>
              <Button onClick={() => choice.drop(choice.refused.keys())}>Deselect the refused resources</Button>
              <Button onClick={() => void ask(LOOK)}>List again</Button>
            </>
          }
        >
          The scope has changed since the inventory was made. Each refused resource is marked in the list, with the
          reason.
        </Notice>
      ) : (
        <RequestFailure {...requests} />
      )}
      {request.isSuccess && request.data !== null && (
        <p role="status">
          Round {formatNumber(request.data)} was accepted.{' '}
          <SessionLink search={{ round: request.data }}>Watch it</SessionLink>
        </p>
      )}
    </section>
  )
}

function Result({ round, ...selected }: SelectedRound & { round: Round }) {
  return (
    <section class="card import-result" aria-labelledby="import-result">
      <header class="import-line import-apart">
        <h3 id="import-result">Result of round {round.number}</h3>
        <RoundPicker round={round} {...selected} />
      </header>
      <ReadDocument
        url={round.reports.findLast(({ type }) => type === 'import')?.url ?? null}
        parse={readImportReport}
        what="report"
        lines={6}
        unknown={<Notice tone="warn">The format of the report of this round is unknown.</Notice>}
      >
        {(report) => <ReportBody report={report} round={round} />}
      </ReadDocument>
    </section>
  )
}

function ReportBody({ report, round }: { report: ImportReport; round: Round }) {
  const { imported, refused, excluded } = report
  return (
    <>
      <p class="import-line">
        <ReportBadge status={report.status} />
        <span>
          {plural(imported.length, 'resource')} imported, {formatNumber(refused.length)} refused
        </span>
        <Origin by="code" />
      </p>
      <Proof round={round} alignment={report.alignment} />
      {report.summary !== '' && (
        <div>
          <Markdown text={report.summary} />
          <Origin by="model" />
        </div>
      )}
      {refused.length > 0 && <ResultTable title="Refused" entries={refused} />}
      {imported.length > 0 && <ResultTable title="Imported" entries={imported} />}
      {report.recommendations.length > 0 && (
        <section>
          <h4>Recommendations</h4>
          <Markdown text={report.recommendations.map((line) => `- ${line}`).join('\n')} />
        </section>
      )}
      {excluded.length > 0 && <Excluded excluded={excluded} />}
      {round.code_changes.length > 0 && (
        <p>
          <SessionLink part="review" search={{ part: 'code', round: round.number }}>
            Code changes
          </SessionLink>
        </p>
      )}
    </>
  )
}

const MAX_EXCLUDED = 200

const Excluded = ({ excluded }: { excluded: ImportReport['excluded'] }) => (
  <details>
    <summary>{plural(excluded.length, 'resource was', 'resources were')} excluded</summary>
    <ul class="import-lines small">
      {excluded.slice(0, MAX_EXCLUDED).map(({ id, details }, index) => (
        <li key={index}>
          <span class="mono">{excerpt(id, 500)}</span> <span class="quiet">{excerpt(details, 500)}</span>
        </li>
      ))}
      {excluded.length > MAX_EXCLUDED && <li>and {formatNumber(excluded.length - MAX_EXCLUDED)} more</li>}
    </ul>
  </details>
)

/** Shows the resources of a round, each with its place in the code or the reason of its refusal. */
function ResultTable({ title, entries }: { title: string; entries: ImportReport['imported'] }) {
  const hasWords = entries.some(({ error, details }) => error !== null || details !== '')
  const words = title === 'Refused' ? 'Reason' : 'Details'
  return (
    <section class="import-table">
      <h4>
        {title} <span class="number quiet">{formatNumber(entries.length)}</span>
      </h4>
      <FirstOf items={entries} count={100}>
        {(shown) => (
          <div class="scroll-x">
            <Table head={['Resource', 'In the code', ...(hasWords ? [words] : [])]}>
              {shown.map(({ id, address, error, details }, index) => (
                <tr key={index}>
                  <th scope="row" class="mono">
                    {excerpt(id, 500)}
                  </th>
                  <td class="mono">{excerpt(address, 500) || 'not written'}</td>
                  {hasWords && (
                    <td class="import-words">{excerpt([error, details].filter(Boolean).join('\n'), 4_000)}</td>
                  )}
                </tr>
              ))}
            </Table>
          </div>
        )}
      </FirstOf>
    </section>
  )
}

/** Shows the last plan of an import round: when it is empty, the code matches what exists. */
function Proof({ round, alignment }: { round: Round; alignment: string }) {
  const { session } = useOpenSession()
  const last = round.plans.at(-1) ?? null
  const document = useJsonArtifact<PlanDocument>(session.uuid, last?.document_url ?? null)
  const text = useArtifact(session.uuid, last && last.document_url === null ? last.url : null)
  if (document.isLoading || text.isLoading) return <Skeleton lines={2} label="Loading the last plan" />
  const changes = document.data?.summary ? countChanges(document.data) : null
  const isEmpty = changes === null ? saysNoChanges(text.data?.text ?? '') : changes === 0
  const [tone, title] =
    last === null
      ? (['neutral', 'No plan was made'] as const)
      : isEmpty === null
        ? (['warn', 'The last plan could not be read'] as const)
        : isEmpty
          ? (['good', 'Proof: the last plan is empty'] as const)
          : (['warn', `The last plan is not empty: ${plural(changes ?? 0, 'change')}`] as const)
  return (
    <Notice tone={tone} title={title}>
      {isEmpty && <p>With the present code, the engine would change none of the imported resources.</p>}
      {alignment !== '' && <p>{visibleText(alignment)}</p>}
      <Origin by="code" />
    </Notice>
  )
}
