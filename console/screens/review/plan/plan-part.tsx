import type { PlanDocument, Round, Session } from '../../../client/api/schemas.ts'
import { ErrorNotice, Notice, Skeleton } from '../../../ui/notice.tsx'
import { Term } from '../../../ui/term.tsx'
import { excerpt, formatMoment, plural } from '../../../ui/words.ts'
import { SessionLink } from '../../session/session-link.tsx'
import { useReviewAddress } from '../review-address.ts'
import { PlanSections } from './plan-sections.tsx'
import { PlanTexts } from './plan-text.tsx'
import { ResourceList } from './resource-list.tsx'
import type { RoundPlan } from './use-chosen-plan.ts'
import { useChosenPlan } from './use-chosen-plan.ts'

/** Shows the plan resource by resource, or its text if it cannot be read as data. */
export function PlanPart({ session, round }: { session: Session; round: Round }) {
  const { plan, plans, read, document } = useChosenPlan(session, round)
  return (
    <section class="review-part" aria-labelledby="review-plan">
      <header class="review-part-head">
        <h2 id="review-plan">
          <Term name="plan">Plan</Term>
        </h2>
        {document && <Engine document={document} />}
        {plans.length > 1 && plan && <PlanChoice plan={plan} plans={plans} />}
      </header>
      {document ? (
        <>
          <Limits document={document} />
          <PlanSections session={session} round={round} document={document} plan={plan} />
          <ResourceList key={plan?.id} document={document} round={round} />
        </>
      ) : plan === null ? (
        <NoDocument session={session} round={round} />
      ) : read.isPending ? (
        <Skeleton lines={12} label="Loading the plan" />
      ) : (
        <>
          {read.error ? (
            <ErrorNotice error={read.error} title="The plan could not be read" retry={() => void read.refetch()} />
          ) : (
            <Notice tone="warn" title="The format of the plan is unknown">
              It may be newer than this page: reload it. Below is the plan as printed by the engine.
            </Notice>
          )}
          <PlanTexts session={session} plans={round.plans} first={plan} />
        </>
      )}
    </section>
  )
}

function NoDocument({ session, round }: { session: Session; round: Round }) {
  if (round.plans.length === 0)
    return (
      <Notice title="This round has no plan" actions={<SessionLink id={session.uuid}>See its attempts</SessionLink>}>
        It ended before the engine made one, or it was a preview.
      </Notice>
    )
  return (
    <>
      <Notice title="This plan is available as text only">
        The engine could not finish it, or it was made before plans were stored as data.
      </Notice>
      <PlanTexts session={session} plans={round.plans} first={null} />
    </>
  )
}

const Engine = ({ document: { engine, targets } }: { document: PlanDocument }) => (
  <p class="small quiet">
    {engine.name && `Made by ${excerpt(engine.name, 40)} ${excerpt(engine.version ?? '', 40)}, `}
    {targets.length === 0 ? 'for the whole root.' : `limited to ${plural(targets.length, 'target')}.`}
  </p>
)

function PlanChoice({ plan, plans }: { plan: RoundPlan; plans: RoundPlan[] }) {
  const { change } = useReviewAddress()
  return (
    <label class="review-choice">
      <span>Plan</span>
      <select
        aria-label="Plan"
        value={plan.id}
        onChange={({ currentTarget }) =>
          change({ plan: Number(currentTarget.value), resource: undefined, finding: undefined }, false)
        }
      >
        {plans.toReversed().map(({ id, created_at }, index) => (
          <option key={id} value={id}>
            {index === 0 ? 'the last one' : `${plans.length - index} of ${plans.length}`}, {formatMoment(created_at)}
          </option>
        ))}
      </select>
    </label>
  )
}

const Limits = ({ document: { resources_without_attributes: count } }: { document: PlanDocument }) =>
  count > 0 ? (
    <Notice tone="warn" title="The plan is too large to be shown in full">
      The changes of {plural(count, 'resource')} are only in the text of the plan.
    </Notice>
  ) : null
