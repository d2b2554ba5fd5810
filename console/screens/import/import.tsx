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

/** What exists in the scope and nobody manages, and how it comes under management. */
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
        To import means that code is written for what already exists in the <Term name="scope">scope</Term>, and that
        the engine manages it from then on. Nothing in the cloud is changed; an empty <Term name="plan">plan</Term>{' '}
        afterwards proves that the code says what is there.
      </p>
      {running && <Progress key={running.id} round={running} />}
      {round && <Result key={`result ${round.id}`} {...selected} round={round} />}
      {latest && <InventoryOf key={`inventory ${latest.id}`} round={latest} choice={choice} />}
      <Actions choice={choice} hasPreview={latest !== null} />
    </section>
  )
}
