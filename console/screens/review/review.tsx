import { Link } from '@tanstack/react-router'
import type { Round, Session } from '../../client/api/schemas.ts'
import { Empty } from '../../ui/notice.tsx'
import { RoundPicker, useOpenSession, useSelectedRound } from '../session/open-session.tsx'
import { SessionLink } from '../session/session-link.tsx'
import { CodePart } from './code/code-part.tsx'
import { Glance } from './glance.tsx'
import { PlanPart } from './plan/plan-part.tsx'
import { CompliancePart } from './report/compliance-part.tsx'
import { ReportPart } from './report/report-part.tsx'
import { isReviewable, PARTS, type Part, useReviewAddress } from './review-address.ts'

/** Shows the review of a round: its plan, code, report and compliance check. */
export function Screen() {
  const { session } = useOpenSession()
  const selected = useSelectedRound(isReviewable)
  const { round } = selected
  if (round === null) return <NothingYet session={session} />
  return (
    <div class="review">
      <RoundPicker {...selected} />
      <Glance key={`glance-${round.id}`} session={session} round={round} />
      <Parts session={session} round={round} />
    </div>
  )
}

const NothingYet = ({ session }: { session: Session }) => (
  <section>
    <h2 class="unseen">Review</h2>
    <Empty
      title={session.in_flight ? 'Nothing to review yet' : 'There is nothing to review'}
      actions={<SessionLink id={session.uuid}>See the rounds</SessionLink>}
    >
      {session.in_flight
        ? 'A round is running. Its plan appears here as soon as the engine has made one.'
        : 'No round of this session made a plan. Its rounds say why, and you can send another request there.'}
    </Empty>
  </section>
)

const NAMES: Record<Part, string> = { plan: 'Plan', code: 'Code', report: 'Report and cost', compliance: 'Compliance' }

function Parts({ session, round }: { session: Session; round: Round }) {
  const { part } = useReviewAddress()
  const given = { session, round }
  return (
    <>
      <nav class="review-parts" aria-label="Parts of the review">
        {PARTS.map((name) => (
          <Link
            key={name}
            to="."
            search={{ round: round.number, part: name }}
            resetScroll={false}
            activeProps={{}}
            aria-current={name === part ? 'page' : undefined}
            class="button button-small"
          >
            {NAMES[name]}
            {name === 'code' && <span class="quiet number"> {round.code_changes.length}</span>}
          </Link>
        ))}
      </nav>
      {part === 'plan' && <PlanPart key={round.id} {...given} />}
      {part === 'code' && <CodePart key={round.id} {...given} />}
      {part === 'report' && <ReportPart key={round.id} {...given} />}
      {part === 'compliance' && <CompliancePart key={round.id} {...given} />}
    </>
  )
}
