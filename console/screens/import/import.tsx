import type { Round } from '../../client/api/schemas.ts'
import { Term } from '../../ui/term.tsx'
import { useSelectedRound } from '../session/selected-round.tsx'
import { useOpenSession } from '../session/session-context.ts'
import { Actions } from './import-actions.tsx'
import { Progress } from './import-progress-card.tsx'
import { Result } from './import-result.tsx'
import { InventoryOf } from './inventory-card.tsx'
import { useChoice } from './use-choice.ts'

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
