import type { ComponentChildren } from 'preact'
import type { PlanDocument, Round } from '../../../client/api/client.ts'
import { useArtifact } from '../../../client/sessions/use-session.ts'
import { useAnySearch, useSearchChange } from '../../../client/use-address.ts'
import { NamedSelect, Unfold } from '../../../ui/controls.tsx'
import { ActionBadge, Badge, ErrorNotice, Notice, Origin, SignBadge, Skeleton, Term } from '../../../ui/kit.tsx'
import { Change } from '../../../ui/plan/attribute-changes.tsx'
import { pathParts } from '../../../ui/plan/values.ts'
import { FirstOf, Table } from '../../../ui/table.tsx'
import { excerpt, formatBytes, formatMoment, plural } from '../../../ui/words.ts'
import { SessionLink, useOpenSession } from '../../session/open-session.tsx'
import { linkTo, ResourceLink, useChosenPlan } from '../review-links.tsx'
import { asText, findingNames, type RoundPlan } from './plan-filter.ts'
import { FindingItem } from './resource-item.tsx'
import { ResourceList } from './resource-list.tsx'

/** Shows the plan resource by resource, or its text if it cannot be read as data. */
export function PlanPart({ round }: { round: Round }) {
  const { plan, plans, read, document } = useChosenPlan(round)
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
  const change = useSearchChange()
  return (
    <NamedSelect
      class="review-choice"
      label="Plan"
      aria-label="Plan"
      value={plan.id}
      options={plans
        .toReversed()
        .map(({ id, created_at }, index) => [
          id,
          `${index === 0 ? 'the last one' : `${plans.length - index} of ${plans.length}`}, ${formatMoment(created_at)}`,
        ])}
      change={(id) => change({ plan: Number(id), resource: undefined, finding: undefined }, false)}
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

interface SectionsProps {
  round: Round
  document: PlanDocument
  children: ComponentChildren
}

/** Shows the parts of a plan besides its resources. Those that need attention are open. */
function PlanSections({ round, document, children }: SectionsProps) {
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

const VERDICTS = {
  met: ['✓', 'met', 'good'],
  unmet: ['✕', 'not met', 'bad'],
  unknown: ['?', 'unknown', 'warn'],
} as const
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
          const named = resources.filter((resource) => resource.statements.includes(id))
          return (
            <li key={id} class="review-statement">
              <SignBadge of={VERDICTS[verdict]} />
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
  const search = useAnySearch()
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
