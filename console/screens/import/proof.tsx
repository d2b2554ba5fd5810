import type { PlanDocument, Round } from '../../client/api/types.ts'
import { useArtifact, useJsonArtifact } from '../../client/sessions/use-artifact.ts'
import { Origin } from '../../ui/badge.tsx'
import { Notice, Skeleton } from '../../ui/notice.tsx'
import { plural } from '../../ui/words/format.ts'
import { visibleText } from '../../ui/words/text.ts'
import { useOpenSession } from '../session/context.ts'
import { countChanges, saysNoChanges } from './report.ts'

/** The last plan of an import round: when it is empty, the code says exactly what exists. */
export function Proof({ round, alignment }: { round: Round; alignment: string }) {
  const { session } = useOpenSession()
  const last = round.plans.at(-1) ?? null
  const document = useJsonArtifact<PlanDocument>(session.uuid, last?.document_url ?? null)
  const text = useArtifact(session.uuid, last && last.document_url === null ? last.url : null)
  if (document.isLoading || text.isLoading) return <Skeleton lines={2} label="The last plan is being read" />
  const changes = document.data?.summary ? countChanges(document.data) : null
  const isEmpty = changes === null ? saysNoChanges(text.data?.text ?? '') : changes === 0
  const [tone, title] =
    last === null
      ? (['neutral', 'No plan was made'] as const)
      : isEmpty === null
        ? (['warn', 'Whether the last plan is empty could not be read'] as const)
        : isEmpty
          ? (['good', 'Proof: the last plan is empty'] as const)
          : (['warn', `The last plan is not empty: ${plural(changes ?? 0, 'change')}`] as const)
  return (
    <Notice tone={tone} title={title}>
      {isEmpty && <p>With the code as it is now, the engine would change nothing that was imported.</p>}
      {alignment !== '' && <p>{visibleText(alignment)}</p>}
      <Origin by="code" />
    </Notice>
  )
}
