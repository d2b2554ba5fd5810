import type { PlanDocument, Round } from '../../../client/api/schemas.ts'
import { useArtifact } from '../../../client/sessions/use-artifact.ts'
import { Select, Unfold } from '../../../ui/controls.tsx'
import { ErrorNotice, Notice, Skeleton } from '../../../ui/notice.tsx'
import { Term } from '../../../ui/term.tsx'
import { excerpt, formatBytes, formatMoment, plural } from '../../../ui/words.ts'
import { useOpenSession } from '../../session/open-session.tsx'
import { SessionLink } from '../../session/session-link.tsx'
import { type RoundPlan, useChosenPlan, useReviewAddress } from '../review-address.ts'
import { PlanSections } from './plan-sections.tsx'
import { ResourceList } from './resource-list.tsx'

/** Shows the plan resource by resource, or its text if it cannot be read as data. */
export function PlanPart({ round }: { round: Round }) {
  const { session } = useOpenSession()
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
          <PlanSections round={round} document={document}>
            {plan && <PlanText key={plan.id} plan={plan} />}
          </PlanSections>
          <ResourceList key={plan?.id} document={document} round={round} />
        </>
      ) : plan === null ? (
        <NoDocument round={round} />
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
          <PlanTexts plans={round.plans} first={plan} />
        </>
      )}
    </section>
  )
}

function NoDocument({ round }: { round: Round }) {
  if (round.plans.length === 0)
    return (
      <Notice title="This round has no plan" actions={<SessionLink>See its attempts</SessionLink>}>
        It ended before the engine made one, or it was a preview.
      </Notice>
    )
  return (
    <>
      <Notice title="This plan is available as text only">
        The engine could not finish it, or it was made before plans were stored as data.
      </Notice>
      <PlanTexts plans={round.plans} />
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
    <Select
      class="review-choice"
      name="Plan"
      aria-label="Plan"
      value={plan.id}
      options={plans
        .toReversed()
        .map(({ id, created_at }, index) => [
          id,
          `${index === 0 ? 'the last one' : `${plans.length - index} of ${plans.length}`}, ${formatMoment(created_at)}`,
        ])}
      onSelect={(id) => change({ plan: Number(id), resource: undefined, finding: undefined }, false)}
    />
  )
}

const Limits = ({ document: { resources_without_attributes: count } }: { document: PlanDocument }) =>
  count > 0 ? (
    <Notice tone="warn" title="The plan is too large to be shown in full">
      The changes of {plural(count, 'resource')} are only in the text of the plan.
    </Notice>
  ) : null

const MAX_TEXT = 200_000

/** Shows plans as the engine wrote them, the last one first. At first one is open, or all. */
const PlanTexts = ({ plans, first }: { plans: readonly RoundPlan[]; first?: RoundPlan }) => (
  <div class="review-sections">
    {plans.toReversed().map((plan) => (
      <PlanText key={plan.id} plan={plan} open={!first || first.id === plan.id} />
    ))}
  </div>
)

const PlanText = ({ plan, open }: { plan: RoundPlan; open?: boolean }) => (
  <Unfold
    class="review-section"
    open={open}
    summary={
      <>
        Engine output{' '}
        <span class="quiet">
          {formatMoment(plan.created_at)}
          {plan.file_size_bytes !== null && `, ${formatBytes(plan.file_size_bytes)}`}
        </span>
      </>
    }
  >
    <Text plan={plan} />
  </Unfold>
)

function Text({ plan }: { plan: RoundPlan }) {
  const { session } = useOpenSession()
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
