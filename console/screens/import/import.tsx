import { useMemo } from 'preact/hooks'
import { ApiError } from '../../client/api/errors.ts'
import type { Round } from '../../client/api/schemas.ts'
import { type RoundRequest, useRoundRequest, whyNoRound } from '../../client/sessions/use-session.ts'
import { useActivity, useOutput } from '../../client/sessions/use-streams.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty, Notice } from '../../ui/notice.tsx'
import { Term } from '../../ui/term.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { excerpt, formatNumber, plural } from '../../ui/words.ts'
import { useOpenSession, useSelectedRound } from '../session/open-session.tsx'
import { RequestFailure, RoundButton, SentenceForm } from '../session/round-request.tsx'
import { SessionLink } from '../session/session-link.tsx'
import { type Import, isImport, readImports, totalOf } from './import-report.ts'
import { Result } from './import-result.tsx'
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
const MAX_HEIGHT_PX = 400

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
          <div class="import-rows" style={{ height: `${Math.min(imports.length * ROW_PX + 8, MAX_HEIGHT_PX)}px` }}>
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
