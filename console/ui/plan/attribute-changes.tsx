import { useState } from 'preact/hooks'
import type { PlannedResource } from '../../client/api/types.ts'
import { Badge } from '../badge.tsx'
import { Button } from '../button.tsx'
import { formatNumber, plural } from '../words/format.ts'
import { explain } from './explain.ts'
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
