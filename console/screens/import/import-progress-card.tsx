import { useMemo } from 'preact/hooks'
import type { Round } from '../../client/api/schemas.ts'
import { useActivity, useOutput } from '../../client/sessions/use-streams.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { formatNumber, shorten, visibleText } from '../../ui/words.ts'
import { useOpenSession } from '../session/session-context.ts'
import { SessionLink } from '../session/session-link.tsx'
import { type Import, isImport, readImports, totalOf } from './import-progress.ts'

const ROW_PX = 40
const MAX_HEIGHT_PX = 400

export function Progress({ round }: { round: Round }) {
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
        <SessionLink class="small" id={session.uuid} search={{ round: round.number }}>
          Watch round {round.number}, or stop it
        </SessionLink>
      </header>
      <p role="status">{visibleText(shorten(message, 500)) || 'Waiting for a worker.'}</p>
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
        <span class="mono">{shorten(visibleText(id || address), 500) || 'Starting'}</span>
        {error !== '' && <span class="small">{shorten(visibleText(error), 1_000)}</span>}
      </span>
    </div>
  )
}
