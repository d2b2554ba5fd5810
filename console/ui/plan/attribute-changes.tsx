import { useState } from 'preact/hooks'
import type { PlannedResource } from '../../client/api/schemas.ts'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { formatNumber, plural, shorten, visibleText } from '../words.ts'
import { Change, Side } from './value-change.tsx'
import { columnsOf, orderAttributes, type PlannedAttribute, pathKey, pathParts } from './values.ts'

/** More are drawn when they are asked for, so that a resource of 1,000 attributes opens at once. */
const AT_FIRST = 60
const HEADS = { before: 'Now', after: 'After the apply' } as const

/** What changes in a resource, attribute by attribute, for people who have never seen HCL. */
export function AttributeChanges({ resource }: { resource: PlannedResource }) {
  const [all, setAll] = useState(false)
  const rows = orderAttributes(resource)
  const shown = all ? rows : rows.slice(0, AT_FIRST)
  const columns = columnsOf(resource.attributes)
  return (
    <div class="plan-changes">
      {explain(resource).map((sentence) => (
        <p key={sentence} class="small">
          {sentence}
        </p>
      ))}
      {rows.length > 0 && (
        <table class="plan-table">
          <caption class="unseen">Attributes that change</caption>
          <thead>
            <tr>
              <th scope="col">Attribute</th>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {HEADS[column]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ attribute, forces }) => (
              <Attribute key={pathKey(attribute.path)} attribute={attribute} forces={forces} columns={columns} />
            ))}
          </tbody>
        </table>
      )}
      {shown.length < rows.length && (
        <Button small onClick={() => setAll(true)}>
          Show {formatNumber(rows.length - shown.length)} more
        </Button>
      )}
      <p class="small quiet">{summarise(resource)}</p>
    </div>
  )
}

function summarise({ attributes, attributes_unchanged, attributes_left_out }: PlannedResource): string {
  const said = [
    attributes.length === 0 && attributes_left_out === 0 && 'None of its attributes changes.',
    attributes_unchanged > 0 && `${plural(attributes_unchanged, 'more attribute')} stay${one(attributes_unchanged)}.`,
    attributes_left_out > 0 &&
      `${plural(attributes_left_out, 'change')} not listed here, because there are too many: the plan's text has them.`,
  ]
  return said.filter(Boolean).join(' ')
}

const one = (count: number): string => (count === 1 ? 's as it is' : ' as they are')

interface AttributeProps {
  attribute: PlannedAttribute
  forces: boolean
  columns: ('before' | 'after')[]
}

function Attribute({ attribute, forces, columns }: AttributeProps) {
  const parts = pathParts(attribute.path)
  const [last = ''] = parts.slice(-1)
  return (
    <tr>
      <th scope="row">
        {parts.length > 1 && <span class="quiet">{parts.slice(0, -1).join(' › ')} › </span>}
        <span class="plan-name">{last}</span>
        {forces && (
          <Badge tone="bad" title="It cannot be changed in place">
            forces replacement
          </Badge>
        )}
        {attribute.cut && <span class="quiet"> (long, cut)</span>}
      </th>
      {attribute.change === 'same' ? (
        <td colSpan={columns.length}>
          <Side sides={attribute} side="before" /> <span class="quiet">stays</span>
        </td>
      ) : columns.length === 1 ? (
        <td>
          <Side sides={attribute} side={columns[0] ?? 'after'} />
        </td>
      ) : (
        <Change sides={attribute} />
      )}
    </tr>
  )
}

/** The engine's words for why, in sentences. */
const REASONS: Record<string, string> = {
  replace_because_tainted: 'It is marked as damaged (tainted), so it is made anew.',
  replace_because_cannot_update: 'What changes in it cannot be changed in place.',
  replace_by_request: 'Somebody asked for it to be made anew.',
  replace_by_triggers: 'Something changes that its code names as a reason to make it anew.',
  delete_because_no_resource_config: 'Its block is not in the code any more.',
  delete_because_wrong_repetition: 'Its code now counts its instances in another way.',
  delete_because_count_index: 'The code asks for fewer of its kind than there are.',
  delete_because_each_key: 'Its key is not in the code any more.',
  delete_because_no_module: 'Its module is not in the code any more.',
  delete_because_no_move_target: 'It was to be moved to a place that is not in the code.',
  read_because_config_unknown: 'What it asks for is known only during the apply.',
  read_because_dependency_pending: 'It depends on something that changes first.',
  read_because_check_nested: 'It belongs to a check.',
}

const known = (reason: string): string =>
  REASONS[reason] ?? `The engine's reason: ${visibleText(shorten(reason, 200)).replaceAll('_', ' ')}.`

/** What happens to a resource beside its attributes, in sentences: why, in which order, from where. */
export function explain(resource: PlannedResource): string[] {
  const { action_reason, replace, moved_from, deposed } = resource
  const said = [
    deposed !== null && `This is an old object that an interrupted replacement left over (${clean(deposed)}).`,
    replace !== null && explainOrder(replace),
    action_reason !== null && !(replace?.reasons.length && action_reason === CANNOT_UPDATE) && known(action_reason),
    moved_from !== null && `It has another name in the code now; until the apply it is ${clean(moved_from)}.`,
    resource.action === 'move' && 'Nothing in the cloud changes.',
    resource.import !== null && explainImport(resource.import),
    resource.action === 'forget' && 'It stays in the cloud as it is, and nobody manages it from here any more.',
    resource.action === 'read' && 'It is only looked at, nothing in the cloud changes.',
  ]
  return said.filter((sentence) => sentence !== false)
}

const CANNOT_UPDATE = 'replace_because_cannot_update'
const clean = (text: string): string => visibleText(shorten(text, 400))

function explainOrder({ order, keeps_old, reasons }: NonNullable<PlannedResource['replace']>): string {
  const why = reasons.length > 0 ? ` ${plural(reasons.length, 'attribute')} cannot be changed in place.` : ''
  const how = keeps_old
    ? 'A new one is created; the old one stays in the cloud, and nobody manages it any more.'
    : order === 'create_first'
      ? 'The new one is created first, then the old one is destroyed.'
      : 'The old one is destroyed first, then the new one is created: in between there is none.'
  return how + why
}

const explainImport = ({ id }: NonNullable<PlannedResource['import']>): string =>
  id === null
    ? 'It exists already and comes under management; its identifier is not shown.'
    : `It exists already, as ${clean(id)}, and comes under management.`
