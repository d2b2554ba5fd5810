import type { Round } from '../../client/api/schemas.ts'
import { hasEnded } from '../../client/sessions/use-session.ts'
import { Empty } from '../../ui/notice.tsx'
import { Term } from '../../ui/term.tsx'
import { visibleText } from '../../ui/words.ts'
import { RoundPicker, useSelectedRound } from '../session/selected-round.tsx'
import { useOpenSession } from '../session/session-context.ts'
import { Actions, useDriftDraft } from './drift-actions.tsx'
import { Result } from './drift-result.tsx'

const isDrift = ({ reports }: Round) => reports.some(({ type }) => type === 'drift')

/** Shows the differences between code and cloud, and the remediation of the code. */
export function Screen() {
  const { session } = useOpenSession()
  const selected = useSelectedRound(isDrift)
  const draft = useDriftDraft(session.uuid)
  const { round } = selected
  return (
    <section class="drift">
      <header class="drift-head">
        <h2>Drift</h2>
        <RoundPicker {...selected} />
      </header>
      <p class="drift-lead quiet">
        <Term name="drift">Drift</Term> is any difference between the code and the cloud. To remediate it, the platform
        changes the code until it describes what really runs, on the branch{' '}
        <code>{visibleText(session.workspace.branch)}</code>. Neither a check nor a remediation changes the cloud.
      </p>
      {round ? (
        <Result key={round.id} round={round} draft={draft} />
      ) : (
        <Empty title="No drift check in this session yet">
          {session.rounds.some((last) => !hasEnded(last))
            ? 'A round is running. If it checks for drift, its report appears here.'
            : 'Check for drift, which changes nothing, or remediate the code.'}
        </Empty>
      )}
      <Actions draft={draft} hasReport={round !== null} />
    </section>
  )
}
