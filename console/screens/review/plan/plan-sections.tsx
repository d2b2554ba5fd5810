import type { ComponentChildren } from 'preact'
import type { PlanDocument, Round, Session } from '../../../client/api/schemas.ts'
import { ActionBadge, Badge, Origin, type Tone } from '../../../ui/badge.tsx'
import { Change } from '../../../ui/plan/value-change.tsx'
import { pathParts } from '../../../ui/plan/values.ts'
import { FirstOf, Table } from '../../../ui/table.tsx'
import { Term } from '../../../ui/term.tsx'
import { excerpt, plural } from '../../../ui/words.ts'
import { linkTo, useReviewAddress } from '../review-address.ts'
import { ResourceLink } from '../review-links.tsx'
import { asText, findingNames } from './plan-filter.ts'
import { PlanText } from './plan-text.tsx'
import { FindingItem } from './resource-item.tsx'
import type { RoundPlan } from './use-chosen-plan.ts'

interface SectionsProps {
  session: Session
  round: Round
  document: PlanDocument
  plan: RoundPlan | null
}

/** Shows the parts of a plan besides its resources. Those that need attention are open. */
export function PlanSections({ session, round, document, plan }: SectionsProps) {
  const { statements, findings, outside_targets, drift, drift_left_out, outputs } = document
  return (
    <div class="review-sections">
      {statements.length > 0 && <Statements document={document} />}
      {findings.length > 0 && <PlanFindings findings={findings} round={round} />}
      {outside_targets && <Outside outside={outside_targets} />}
      {drift.length > 0 && <Drift drift={drift} leftOut={drift_left_out} />}
      {outputs.length > 0 && <Outputs outputs={outputs} />}
      {plan && <PlanText key={plan.id} session={session} plan={plan} />}
    </div>
  )
}

const VERDICTS: Record<PlanDocument['statements'][number]['verdict'], [sign: string, name: string, tone: Tone]> = {
  met: ['✓', 'met', 'good'],
  unmet: ['✕', 'not met', 'bad'],
  unknown: ['?', 'unknown', 'warn'],
}
const MAX_ABOUT = 3

function Statements({ document: { statements, resources } }: { document: PlanDocument }) {
  const open = statements.filter(({ verdict }) => verdict !== 'met').length
  const about = (id: string) => resources.filter((resource) => resource.statements.includes(id))
  return (
    <Section
      open={open > 0}
      title={
        <>
          Conditions of the request <span class="quiet">{open === 0 ? 'all met' : `${open} not met or unknown`}</span>
        </>
      }
    >
      <p class="small quiet">
        The conditions are <Origin by="model" />. Whether the plan meets them is <Origin by="code" />.
      </p>
      <ul class="review-list">
        {statements.map(({ id, text, verdict, finding }) => {
          const [sign, name, tone] = VERDICTS[verdict]
          const named = about(id)
          return (
            <li key={id} class="review-statement">
              <Badge tone={tone}>
                <span aria-hidden="true">{sign}</span> {name}
              </Badge>
              <div>
                <p>{excerpt(text, 2_000)}</p>
                <p class="small quiet">{excerpt(finding, 2_000)}</p>
                {named.slice(0, MAX_ABOUT).map(({ address }) => (
                  <p key={address} class="small">
                    <ResourceLink address={address} />
                  </p>
                ))}
                {named.length > MAX_ABOUT && <p class="small quiet">and {named.length - MAX_ABOUT} more</p>}
              </div>
            </li>
          )
        })}
      </ul>
    </Section>
  )
}

function PlanFindings({ findings, round }: { findings: PlanDocument['findings']; round: Round }) {
  const { search } = useReviewAddress()
  const names = findingNames(findings)
  const linked = search.resource === undefined ? names.indexOf(asText(search.finding)) : -1
  return (
    <Section
      open
      title={
        <>
          Findings about the plan as a whole <span class="quiet">{findings.length}</span>
        </>
      }
    >
      <FirstOf items={findings} count={Math.max(50, linked + 1)}>
        {(shown) => (
          <ul class="review-list">
            {shown.map((finding, index) => (
              <FindingItem
                key={index}
                finding={finding}
                link={linkTo({ round: round.number, part: 'plan', finding: names[index] })}
                linked={index === linked}
              />
            ))}
          </ul>
        )}
      </FirstOf>
    </Section>
  )
}

function Outside({ outside }: { outside: NonNullable<PlanDocument['outside_targets']> }) {
  const title = <Term name="targets">Outside the targets</Term>
  if (!outside.made) return <p class="small quiet">Outside the targets: {excerpt(outside.reason, 500)}</p>
  if (outside.changes.length === 0) return null
  return (
    <Section
      title={
        <>
          Outside the targets{' '}
          <span class="quiet">{plural(outside.changes.length + outside.changes_left_out, 'change')} left out</span>
        </>
      }
    >
      <p class="small quiet">
        {title}: a plan for the whole root would also make these changes. This plan makes none of them.
      </p>
      <FirstOf items={outside.changes}>
        {(shown) => (
          <ul class="review-list">
            {shown.map(({ address, action }) => (
              <li key={address} class="review-statement">
                <ActionBadge action={action} /> <span class="mono">{excerpt(address, 500)}</span>
              </li>
            ))}
          </ul>
        )}
      </FirstOf>
      {outside.changes_left_out > 0 && <p class="small">{plural(outside.changes_left_out, 'more')} not listed.</p>}
    </Section>
  )
}

const Drift = ({ drift, leftOut }: { drift: PlanDocument['drift']; leftOut: number }) => (
  <Section
    open
    title={
      <>
        Drift <span class="quiet">{plural(drift.length + leftOut, 'resource')} changed outside the engine</span>
      </>
    }
  >
    <p class="small quiet">
      <Term name="drift">Drift</Term>: these changed outside the engine; the plan is based on their present state.
    </p>
    <FirstOf items={drift}>
      {(shown) => (
        <ul class="review-list">
          {shown.map(({ address, action, paths, paths_left_out }) => (
            <li key={address} class="review-statement">
              <Badge tone="warn">{action === 'delete' ? 'gone' : 'changed'}</Badge>
              <div>
                <p class="mono">{excerpt(address, 500)}</p>
                <p class="small quiet">
                  {paths.map((path) => pathParts(path).join(' › ')).join(', ')}
                  {paths_left_out > 0 && ` and ${paths_left_out} more`}
                </p>
              </div>
            </li>
          ))}
        </ul>
      )}
    </FirstOf>
    {leftOut > 0 && <p class="small">{plural(leftOut, 'more')} not listed.</p>}
  </Section>
)

export const Outputs = ({ outputs }: { outputs: PlanDocument['outputs'] }) => (
  <Section
    title={
      <>
        Outputs <span class="quiet">{outputs.length} change</span>
      </>
    }
  >
    <FirstOf items={outputs}>
      {(shown) => (
        <div class="plan-changes">
          <Table class="plan-table" head={['Output', 'Now', 'After the apply']}>
            {shown.map((output) => (
              <tr key={output.name}>
                <th scope="row">
                  <span class="plan-name">{excerpt(output.name, 200)}</span>
                  <ActionBadge action={output.action} />
                </th>
                <Change sides={output} />
              </tr>
            ))}
          </Table>
        </div>
      )}
    </FirstOf>
  </Section>
)

interface SectionProps {
  title: ComponentChildren
  open?: boolean
  children: ComponentChildren
}

/** Shows a part of the page that is opened on demand. */
export const Section = ({ title, open = false, children }: SectionProps) => (
  <details class="review-section" open={open}>
    <summary>{title}</summary>
    {children}
  </details>
)
