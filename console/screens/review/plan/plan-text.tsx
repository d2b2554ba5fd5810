import { useState } from 'preact/hooks'
import type { Session } from '../../../client/api/schemas.ts'
import { useArtifact } from '../../../client/sessions/use-artifact.ts'
import { ErrorNotice, Skeleton } from '../../../ui/notice.tsx'
import { excerpt, formatBytes, formatMoment } from '../../../ui/words.ts'
import type { RoundPlan } from './use-chosen-plan.ts'

const MAX_TEXT = 200_000

interface PlanTextsProps {
  session: Session
  plans: readonly RoundPlan[]
  /** The plan that is open at first; null for all. */
  first: RoundPlan | null
}

/** Shows plans as the engine wrote them, the last one first. Each is read when it is opened. */
export const PlanTexts = ({ session, plans, first }: PlanTextsProps) => (
  <div class="review-sections">
    {plans.toReversed().map((plan) => (
      <PlanText key={plan.id} session={session} plan={plan} open={first === null || first.id === plan.id} />
    ))}
  </div>
)

export function PlanText({ session, plan, open = false }: { session: Session; plan: RoundPlan; open?: boolean }) {
  const [wanted, setWanted] = useState(open)
  return (
    <details class="review-section" open={open} onToggle={({ currentTarget }) => currentTarget.open && setWanted(true)}>
      <summary>
        Engine output{' '}
        <span class="quiet">
          {formatMoment(plan.created_at)}
          {plan.file_size_bytes !== null && `, ${formatBytes(plan.file_size_bytes)}`}
        </span>
      </summary>
      {wanted && <Text session={session} plan={plan} />}
    </details>
  )
}

function Text({ session, plan }: { session: Session; plan: RoundPlan }) {
  const read = useArtifact(session.uuid, plan.url)
  if (read.error)
    return <ErrorNotice error={read.error} title="The text could not be read" retry={() => void read.refetch()} />
  if (!read.data) return <Skeleton lines={8} label="Loading the plan's text" />
  const { text, metadata } = read.data
  const isDrift = metadata.type === 'drift'
  return (
    <>
      {isDrift && <p class="small quiet">This is the drift check, not the plan.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by the keyboard */}
      <pre class="plan-block review-text" tabIndex={0}>
        {isDrift && text.trim() === '[]' ? 'No drift.' : excerpt(text, MAX_TEXT)}
      </pre>
      {text.length > MAX_TEXT && /^https?:/.test(plan.url) && (
        <a href={plan.url} rel="noreferrer" target="_blank">
          The whole text ({formatBytes(text.length)})
        </a>
      )}
    </>
  )
}
