import { Link } from '@tanstack/react-router'
import type { ComponentChildren } from 'preact'
import type { PlanDocument, Round } from '../../client/api/client.ts'
import { useAnySearch } from '../../client/use-address.ts'
import { ActionBadge, Badge, Empty, Origin, SEVERITY_TONES, Skeleton, Term } from '../../ui/kit.tsx'
import { isLoss, isUnknownLoss } from '../../ui/plan/values.ts'
import { formatNumber, plural } from '../../ui/words.ts'
import {
  LastUnlock,
  LockReasons,
  RoundPicker,
  SessionLink,
  useOpenSession,
  useSelectedRound,
} from '../session/open-session.tsx'
import { CodePart } from './code/code-part.tsx'
import { countFindings, ORDER } from './plan/plan-filter.ts'
import { PlanPart } from './plan/plan-part.tsx'
import { CompliancePart } from './report/compliance-part.tsx'
import { ReportPart } from './report/report-part.tsx'
import { FilterLink, useChosenPlan } from './review-links.tsx'

/** True for a round with something to review. The report of an apply has its own screen. */
const isReviewable = ({ plans, code_changes, compliance_checks, reports }: Round): boolean =>
  plans.length + code_changes.length + compliance_checks.length > 0 || reports.some(({ type }) => type !== 'apply')

/** Shows the review of a round: its plan, code, report and compliance check. */
export function Screen() {
  const selected = useSelectedRound(isReviewable)
  const { round } = selected
  if (round === null) return <NothingYet />
  return (
    <div class="review">
      <RoundPicker {...selected} />
      <Glance key={`glance-${round.id}`} round={round} />
      <Parts round={round} />
    </div>
  )
}

function NothingYet() {
  const { session } = useOpenSession()
  return (
    <section>
      <h2 class="unseen">Review</h2>
      <Empty
        title={session.in_flight ? 'Nothing to review yet' : 'There is nothing to review'}
        actions={<SessionLink>See the rounds</SessionLink>}
      >
        {session.in_flight
          ? 'A round is running. Its plan appears here as soon as the engine has made one.'
          : 'No round of this session made a plan. Its rounds say why, and you can send another request there.'}
      </Empty>
    </section>
  )
}

const PARTS = [
  ['plan', 'Plan', PlanPart],
  ['code', 'Code', CodePart],
  ['report', 'Report and cost', ReportPart],
  ['compliance', 'Compliance', CompliancePart],
] as const

function Parts({ round }: { round: Round }) {
  const search = useAnySearch()
  const [part, , Shown] = PARTS.find(([name]) => name === search.part) ?? PARTS[0]
  return (
    <>
      <nav class="review-parts" aria-label="Parts of the review">
        {PARTS.map(([name, title]) => (
          <Link
            key={name}
            to="."
            search={{ round: round.number, part: name }}
            resetScroll={false}
            activeProps={{}}
            aria-current={name === part ? 'page' : undefined}
            class="button button-small"
          >
            {title}
            {name === 'code' && <span class="quiet number"> {round.code_changes.length}</span>}
          </Link>
        ))}
      </nav>
      <Shown key={round.id} round={round} />
    </>
  )
}

/** Shows the facts for a decision at a glance. */
function Glance({ round }: { round: Round }) {
  const { plan, read, document } = useChosenPlan(round)
  return (
    <section class="card review-glance" aria-labelledby="review-glance">
      <h2 id="review-glance">At a glance</h2>
      {plan !== null && read.isPending ? (
        <Skeleton lines={6} label="Loading the plan" />
      ) : (
        <dl class="review-facts">
          {document && <PlanFacts document={document} />}
          {document === null && plan === null && (
            <Fact name={<Term name="plan">Plan</Term>}>
              {round.plans.length > 0 ? 'Available as text only.' : 'This round has no plan.'}
            </Fact>
          )}
          <LockFact />
        </dl>
      )}
    </section>
  )
}

interface FactProps {
  name: ComponentChildren
  /** False if it was not checked, so that there is no value. */
  known?: boolean
  children: ComponentChildren
}

const Fact = ({ name, known = true, children }: FactProps) => (
  <div class="review-fact">
    <dt>
      {name} {known && <Origin by="code" />}
    </dt>
    <dd class={known ? undefined : 'quiet'}>{children}</dd>
  </div>
)

function PlanFacts({ document }: { document: PlanDocument }) {
  const critical = document.resources.filter(({ is_critical, action }) => is_critical && action !== 'none')
  const lost = critical.filter(isLoss).length
  const unknown = document.resources.filter(isUnknownLoss).length
  return (
    <>
      <Fact name={<Term name="plan">Plan</Term>}>
        <ActionCounts document={document} />
      </Fact>
      <Fact name="Critical">
        {unknown > 0 && (
          <>
            <Badge tone="bad">{formatNumber(unknown)} unknown</Badge> It cannot be told whether{' '}
            {plural(unknown, 'destroyed or replaced resource')} {unknown === 1 ? 'holds' : 'hold'} data or{' '}
            {unknown === 1 ? 'grants' : 'grant'} access.{' '}
          </>
        )}
        {critical.length === 0 ? (
          unknown === 0 && 'Nothing that holds data or grants access changes.'
        ) : (
          <>
            <Badge tone={lost > 0 ? 'bad' : 'warn'}>
              {lost > 0 ? `${formatNumber(lost)} destroyed or replaced` : 'none is lost'}
            </Badge>{' '}
            <FilterLink filter={{ critical: true }}>
              {plural(critical.length, 'change')} of resources that hold data or grant access
            </FilterLink>
          </>
        )}
      </Fact>
      <Fact name="Rules" known={document.checked.rules}>
        <FindingCounts document={document} />
      </Fact>
      <Fact name="Request" known={document.checked.request}>
        <StatementCounts document={document} />
      </Fact>
      <Fact name={<Term name="targets">Outside the targets</Term>} known={sawOutside(document)}>
        {sayOutside(document)}
      </Fact>
    </>
  )
}

function ActionCounts({ document: { summary } }: { document: PlanDocument }) {
  const counted = ORDER.filter((action) => action !== 'none' && summary[action] > 0)
  if (counted.length === 0) return <>No resource changes.</>
  return (
    <ul class="review-counts">
      {counted.map((action) => (
        <li key={action}>
          <FilterLink filter={{ action }}>
            <b class="number">{formatNumber(summary[action])}</b> <ActionBadge action={action} />
          </FilterLink>
        </li>
      ))}
    </ul>
  )
}

function FindingCounts({ document }: { document: PlanDocument }) {
  const counts = countFindings(document)
  if (!document.checked.rules) return <>This plan was not checked against the rules.</>
  if (counts.length === 0) return <>No findings.</>
  return (
    <>
      {counts.map(([severity, count]) => (
        <Badge key={severity} tone={SEVERITY_TONES[severity]}>
          {formatNumber(count)} {severity}
        </Badge>
      ))}{' '}
      <FilterLink filter={{ findings: true }}>Show</FilterLink>
    </>
  )
}

function StatementCounts({ document: { statements, checked } }: { document: PlanDocument }) {
  if (!checked.request) return <>This plan was not checked against the request.</>
  if (statements.length === 0) return <>The request states nothing that code can check.</>
  const count = (verdict: string) => statements.filter((statement) => statement.verdict === verdict).length
  const [unmet, unknown] = [count('unmet'), count('unknown')]
  return (
    <>
      <Badge tone={unmet + unknown === 0 ? 'good' : 'neutral'}>
        {count('met')} of {statements.length} met
      </Badge>
      {unmet > 0 && <Badge tone="bad">{unmet} not met</Badge>}
      {unknown > 0 && <Badge tone="warn">{unknown} unknown</Badge>}
    </>
  )
}

const sawOutside = ({ outside_targets, targets, checked }: PlanDocument): boolean =>
  targets.length === 0 || (checked.outside_targets && outside_targets?.made === true)

function sayOutside({ outside_targets, targets, checked }: PlanDocument): string {
  if (targets.length === 0) return 'The plan covers the whole root.'
  if (!checked.outside_targets || outside_targets === null) return 'Not checked.'
  if (!outside_targets.made) return 'The check failed.'
  const count = outside_targets.changes.length + outside_targets.changes_left_out
  return count === 0 ? 'Nothing else would change.' : `${plural(count, 'other change')} that this plan leaves out.`
}

function LockFact() {
  const { session } = useOpenSession()
  return (
    <Fact name={<Term name="lock">Lock</Term>}>
      {session.is_blocked ? (
        <>
          <Badge tone="bad">Locked</Badge> Apply and merge are refused.
          <LockReasons lock={session.lock} />
        </>
      ) : (
        <>
          Not locked.
          <LastUnlock session={session} />
        </>
      )}
    </Fact>
  )
}
