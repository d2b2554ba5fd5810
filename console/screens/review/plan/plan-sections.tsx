import type { ComponentChildren } from 'preact'
import type { PlanDocument, Round } from '../../../client/api/schemas.ts'
import { ActionBadge, Badge, Origin, type Tone } from '../../../ui/badge.tsx'
import { Change } from '../../../ui/plan/attribute-changes.tsx'
import { pathParts } from '../../../ui/plan/values.ts'
import { FirstOf, Table } from '../../../ui/table.tsx'
import { Term } from '../../../ui/term.tsx'
import { excerpt, plural } from '../../../ui/words.ts'
import { linkTo, useReviewAddress } from '../review-address.ts'
import { ResourceLink } from '../review-links.tsx'
import { asText, findingNames } from './plan-filter.ts'
import { FindingItem } from './resource-item.tsx'

interface SectionsProps {
  round: Round
  document: PlanDocument
  children: ComponentChildren
}

/** Shows the parts of a plan besides its resources. Those that need attention are open. */
export function PlanSections({ round, document, children }: SectionsProps) {
  const { statements, findings, outside_targets, drift, drift_left_out, outputs } = document
  return (
    <div class="review-sections">
      {statements.length > 0 && <Statements document={document} />}
      {findings.length > 0 && <PlanFindings findings={findings} round={round} />}
      {outside_targets && <Outside outside={outside_targets} />}
      {drift.length > 0 && <Drift drift={drift} leftOut={drift_left_out} />}
      {outputs.length > 0 && <Outputs outputs={outputs} />}
      {children}
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
  return (
    <Section
      open={open > 0}
      title="Conditions of the request"
      note={open === 0 ? 'all met' : `${open} not met or unknown`}
    >
      <p class="small quiet">
        The conditions are <Origin by="model" />. Whether the plan meets them is <Origin by="code" />.
      </p>
      <ul class="review-list">
        {statements.map(({ id, text, verdict, finding }) => {
          const [sign, name, tone] = VERDICTS[verdict]
          const named = resources.filter((resource) => resource.statements.includes(id))
          return (
            <li key={id} class="review-statement">
              <Badge tone={tone} sign={sign}>
                {name}
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
    <Section open title="Findings about the plan as a whole" note={findings.length}>
      <Entries items={findings} count={Math.max(50, linked + 1)}>
        {(finding, index) => (
          <FindingItem
            key={index}
            finding={finding}
            link={linkTo({ round: round.number, part: 'plan', finding: names[index] })}
            linked={index === linked}
          />
        )}
      </Entries>
    </Section>
  )
}

function Outside({ outside }: { outside: NonNullable<PlanDocument['outside_targets']> }) {
  if (!outside.made) return <p class="small quiet">Outside the targets: {excerpt(outside.reason, 500)}</p>
  const { changes, changes_left_out } = outside
  if (changes.length === 0) return null
  return (
    <Section title="Outside the targets" note={`${plural(changes.length + changes_left_out, 'change')} left out`}>
      <p class="small quiet">
        <Term name="targets">Outside the targets</Term>: a plan for the whole root would also make these changes. This
        plan makes none of them.
      </p>
      <Entries items={changes} leftOut={changes_left_out}>
        {({ address, action }) => (
          <li key={address} class="review-statement">
            <ActionBadge action={action} /> <span class="mono">{excerpt(address, 500)}</span>
          </li>
        )}
      </Entries>
    </Section>
  )
}

const Drift = ({ drift, leftOut }: { drift: PlanDocument['drift']; leftOut: number }) => (
  <Section open title="Drift" note={`${plural(drift.length + leftOut, 'resource')} changed outside the engine`}>
    <p class="small quiet">
      <Term name="drift">Drift</Term>: these changed outside the engine; the plan is based on their present state.
    </p>
    <Entries items={drift} leftOut={leftOut}>
      {({ address, action, paths, paths_left_out }) => (
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
      )}
    </Entries>
  </Section>
)

const Outputs = ({ outputs }: { outputs: PlanDocument['outputs'] }) => (
  <Section title="Outputs" note={`${outputs.length} change`}>
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

interface EntriesProps<Item> {
  items: readonly Item[]
  /** The number of items that are shown first. */
  count?: number
  /** The number of items that the document leaves out. */
  leftOut?: number
  children: (item: Item, index: number) => ComponentChildren
}

const Entries = <Item,>({ items, count, leftOut = 0, children }: EntriesProps<Item>) => (
  <>
    <FirstOf items={items} count={count}>
      {(shown) => <ul class="review-list">{shown.map(children)}</ul>}
    </FirstOf>
    {leftOut > 0 && <p class="small">{plural(leftOut, 'more')} not listed.</p>}
  </>
)

interface SectionProps {
  title: string
  note: ComponentChildren
  open?: boolean
  children: ComponentChildren
}

/** Shows a part of the page that is opened on demand. */
const Section = ({ title, note, open, children }: SectionProps) => (
  <details class="review-section" open={open}>
    <summary>
      {title} <span class="quiet">{note}</span>
    </summary>
    {children}
  </details>
)
