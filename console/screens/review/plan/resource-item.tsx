import { useEffect, useRef } from 'preact/hooks'
import type { Finding, PlannedResource } from '../../../client/api/client.ts'
import { ActionBadge, Badge, Copy, SEVERITY_TONES } from '../../../ui/kit.tsx'
import { AttributeChanges } from '../../../ui/plan/attribute-changes.tsx'
import { isUnknownLoss } from '../../../ui/plan/values.ts'
import { excerpt, plural } from '../../../ui/words.ts'
import { linkTo, ResourceLink } from '../review-links.tsx'
import { findingNames, worstOf } from './plan-filter.ts'

interface ResourceItemProps {
  resource: PlannedResource
  /** The number of its round, for links. */
  round: number
  isOpen: boolean
  /** True for the one row that the Tab key reaches; arrow keys lead to the others. */
  isStop: boolean
  /** The rule of this resource's finding that the address names. */
  finding: string | null
  onToggle: () => void
}

/** Shows the action of a resource in one line, and its details when it is opened. */
export const ResourceItem = ({ resource, round, isOpen, isStop, finding, onToggle }: ResourceItemProps) => (
  <article class="review-resource">
    <h4>
      <button
        type="button"
        class="review-row"
        aria-expanded={isOpen}
        tabIndex={isStop ? 0 : -1}
        onClick={onToggle}
        data-row=""
      >
        <ActionBadge action={resource.action} />
        <Address resource={resource} />
        <Marks resource={resource} />
      </button>
    </h4>
    {isOpen && <Details resource={resource} round={round} finding={finding} />}
  </article>
)

/** Shows an address, with the name emphasized over its modules. */
function Address({ resource: { address, module_address } }: { resource: PlannedResource }) {
  const inModule = module_address !== null && address.startsWith(`${module_address}.`)
  const name = inModule ? address.slice(module_address.length + 1) : address
  return (
    <span class="mono review-address">
      {inModule && <span class="quiet">{excerpt(module_address, 200)}.</span>}
      {excerpt(name, 300)}
    </span>
  )
}

function Marks({ resource }: { resource: PlannedResource }) {
  const { is_critical, critical_reason, findings, is_targeted, moved_from, attributes, attributes_left_out } = resource
  const worst = worstOf(findings)
  const changes = attributes.filter(({ change }) => change !== 'same').length + attributes_left_out
  return (
    <span class="review-marks">
      {is_critical && <Badge tone="bad">{critical_reason === 'access' ? 'grants access' : 'holds data'}</Badge>}
      {isUnknownLoss(resource) && <Badge tone="bad">may hold data</Badge>}
      {worst && <Badge tone={SEVERITY_TONES[worst]}>{plural(findings.length, 'finding')}</Badge>}
      {!is_targeted && <Badge tone="warn">outside the targets</Badge>}
      {resource.import !== null && resource.action !== 'import' && <Badge tone="accent">imported</Badge>}
      {moved_from !== null && resource.action !== 'move' && <Badge tone="accent">moved</Badge>}
      <span class="small quiet number">{changes > 0 && plural(changes, 'attribute')}</span>
    </span>
  )
}

function Details({ resource, round, finding }: Pick<ResourceItemProps, 'resource' | 'round' | 'finding'>) {
  const { address, findings, depends_on, depends_on_left_out } = resource
  const names = findingNames(findings)
  const here = { round, part: 'plan', resource: address }
  return (
    <div class="review-details">
      {findings.length > 0 && (
        <ul class="review-list">
          {findings.map((found, index) => (
            <FindingItem
              key={index}
              finding={found}
              link={linkTo({ ...here, finding: names[index] })}
              linked={finding === names[index]}
            />
          ))}
        </ul>
      )}
      <AttributeChanges resource={resource} />
      {depends_on.length > 0 && (
        <p class="small review-depends">
          <span class="quiet">Depends on</span>
          {depends_on.map((other) => (
            <ResourceLink key={other} address={other} />
          ))}
          {depends_on_left_out > 0 && <span class="quiet">and {depends_on_left_out} more</span>}
        </p>
      )}
      <p class="small">
        <Copy text={linkTo(here)} label="Copy link to this resource" />
        <Copy text={address} label="Copy its address" />
      </p>
    </div>
  )
}

interface FindingItemProps {
  finding: Finding
  /** The address of this finding. */
  link: string
  /** True if the address of the page names it. */
  linked: boolean
}

/** Shows a finding of a rule, with its suggested fix. */
export function FindingItem({ finding, link, linked }: FindingItemProps) {
  const item = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (!linked) return
    // The list scrolls to the resource first.
    const frame = setTimeout(() => item.current?.focus(), 120)
    return () => clearTimeout(frame)
  }, [linked])
  return (
    <li ref={item} tabIndex={-1} class="review-finding" aria-current={linked || undefined}>
      <p>
        <Badge tone={SEVERITY_TONES[finding.severity]}>{finding.severity}</Badge> {excerpt(finding.message, 2_000)}
      </p>
      {finding.suggested_fix && <p class="quiet">Suggested fix: {excerpt(finding.suggested_fix, 2_000)}</p>}
      <p class="small quiet">
        Rule <span class="mono">{excerpt(finding.rule_id, 200)}</span>{' '}
        <Copy text={link} label="Copy link to this finding" />
      </p>
    </li>
  )
}
