import type { Round } from '../../client/api/types.ts'
import { hasEnded } from '../../client/sessions/use-session.ts'
import { Empty } from '../../ui/notice.tsx'
import { RoundPicker } from '../../ui/round-picker.tsx'
import { Term } from '../../ui/words/term.tsx'
import { visibleText } from '../../ui/words/text.ts'
import { useOpenSession } from '../session/context.ts'
import { useSelectedRound } from '../session/selected-round.ts'
import { Actions } from './actions.tsx'
import { Report } from './report.tsx'
import { useDriftDraft } from './use-drift-draft.ts'

const isDrift = ({ reports }: Round) => reports.some(({ type }) => type === 'drift')

/** What differs between code and cloud, what became of it, and how to bring the code in line. */
export function Screen() {
  const { session } = useOpenSession()
  const { round, rounds, select } = useSelectedRound(isDrift)
  const draft = useDriftDraft(session.uuid)
  return (
    <section class="drift">
      <header class="drift-head">
        <h2>Drift</h2>
        <RoundPicker rounds={rounds} selected={round?.number ?? 0} onSelect={select} />
      </header>
      <p class="drift-lead quiet">
        <Term name="drift">Drift</Term> is what differs between the code and the cloud. To mend it means that the code
        is changed until it says what really runs, on the branch <code>{visibleText(session.workspace.branch)}</code>.
        Nothing in the cloud is changed, by looking or by mending.
      </p>
      {round ? (
        <Report key={round.id} round={round} draft={draft} />
      ) : (
        <Empty title="Nobody has looked for drift in this session">
          {session.rounds.some((last) => !hasEnded(last))
            ? 'A round runs. When it looks for drift, its report will be here.'
            : 'Look what differs, which changes nothing, or let the code be brought in line.'}
        </Empty>
      )}
      <Actions draft={draft} hasReport={round !== null} />
    </section>
  )
}
