import type { PlannedResource } from '../../client/api/client.ts'
import { Badge } from '../kit.tsx'
import { FirstOf, Table } from '../table.tsx'
import { excerpt, plural } from '../words.ts'
import { diffLines, diffWords, likeness, type Piece } from './text-diff.ts'
import { columnsOf, orderAttributes, pathKey, pathParts, type Shown, type Sides, showSide } from './values.ts'

/** The number of attributes drawn at first, so that a resource of 1,000 attributes opens at once. */
const AT_FIRST = 60
const HEADS = { before: 'Now', after: 'After the apply' } as const

/** Shows the changes of a resource, attribute by attribute, for readers who do not know HCL. */
export function AttributeChanges({ resource }: { resource: PlannedResource }) {
  const rows = orderAttributes(resource)
  const columns = columnsOf(resource.attributes)
  return (
    <div class="plan-changes">
      {explain(resource).map((sentence) => (
        <p key={sentence} class="small">
          {sentence}
        </p>
      ))}
      {rows.length > 0 && (
        <FirstOf items={rows} count={AT_FIRST}>
          {(shown) => (
            <Table
              class="plan-table"
              caption="Attributes that change"
              head={['Attribute', ...columns.map((column) => HEADS[column])]}
            >
              {shown.map((row) => (
                <Attribute key={pathKey(row.attribute.path)} {...row} columns={columns} />
              ))}
            </Table>
          )}
        </FirstOf>
      )}
      <p class="small quiet">{summarise(resource)}</p>
    </div>
  )
}

function summarise({ attributes, attributes_unchanged, attributes_left_out }: PlannedResource): string {
  const said = [
    attributes.length === 0 && attributes_left_out === 0 && 'None of its attributes changes.',
    attributes_unchanged > 0 &&
      `${plural(attributes_unchanged, 'more attribute stays as it is', 'more attributes stay as they are')}.`,
    attributes_left_out > 0 && `${plural(attributes_left_out, 'change')} not listed here: see the text of the plan.`,
  ]
  return said.filter(Boolean).join(' ')
}

type AttributeProps = ReturnType<typeof orderAttributes>[number] & { columns: ('before' | 'after')[] }

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
          <Value shown={showSide(attribute, 'before')} /> <span class="quiet">stays</span>
        </td>
      ) : columns.length === 1 ? (
        <td>
          <Value shown={showSide(attribute, columns[0] ?? 'after')} />
        </td>
      ) : (
        <Change sides={attribute} />
      )}
    </tr>
  )
}

/** The engine's reasons as sentences. */
const REASONS: Record<string, string> = {
  replace_because_tainted: 'It is marked as damaged (tainted), so it is replaced.',
  replace_because_cannot_update: 'See its changes cannot be changed in place.',
  replace_by_request: 'Its replacement was requested.',
  replace_by_triggers: 'A change triggers its replacement, as its code says.',
  delete_because_no_resource_config: 'Its block is no longer in the code.',
  delete_because_wrong_repetition: 'Its code now counts its instances in another way.',
  delete_because_count_index: 'The code asks for fewer of its kind than there are.',
  delete_because_each_key: 'Its key is no longer in the code.',
  delete_because_no_module: 'Its module is no longer in the code.',
  delete_because_no_move_target: 'It was moved to an address that is not in the code.',
  read_because_config_unknown: 'Its arguments are known only during the apply.',
  read_because_dependency_pending: 'It depends on something that changes first.',
  read_because_check_nested: 'It belongs to a check.',
}

const known = (reason: string): string =>
  REASONS[reason] ?? `The engine's reason: ${excerpt(reason, 200).replaceAll('_', ' ')}.`

/** Returns sentences about a resource beyond its attributes: reason, order, origin. */
function explain(resource: PlannedResource): string[] {
  const { action_reason, replace, moved_from, deposed } = resource
  const said = [
    deposed !== null && `This is an old object left over from an interrupted replacement (${clean(deposed)}).`,
    replace !== null && explainOrder(replace),
    action_reason !== null && !(replace?.reasons.length && action_reason === CANNOT_UPDATE) && known(action_reason),
    moved_from !== null && `It was renamed in the code; until the apply it is ${clean(moved_from)}.`,
    resource.action === 'move' && 'Nothing in the cloud changes.',
    resource.import !== null && explainImport(resource.import),
    resource.action === 'forget' && 'It stays in the cloud and becomes unmanaged.',
    resource.action === 'read' && 'It is only read; nothing in the cloud changes.',
  ]
  return said.filter((sentence) => sentence !== false)
}

const CANNOT_UPDATE = 'replace_because_cannot_update'
const clean = (text: string): string => excerpt(text, 400)

function explainOrder({ order, keeps_old, reasons }: NonNullable<PlannedResource['replace']>): string {
  const why = reasons.length > 0 ? ` ${plural(reasons.length, 'attribute')} cannot be changed in place.` : ''
  const how = keeps_old
    ? 'A new one is created; the old one stays in the cloud and becomes unmanaged.'
    : order === 'create_first'
      ? 'The new one is created first, then the old one is destroyed.'
      : 'The old one is destroyed first, then the new one is created: there is none in between.'
  return how + why
}

const explainImport = ({ id }: NonNullable<PlannedResource['import']>): string =>
  id === null
    ? 'It already exists and becomes managed; its identifier is not shown.'
    : `It already exists as ${clean(id)} and becomes managed.`

function Value({ shown: { kind, text, is_block } }: { shown: Shown }) {
  if (kind === 'note') return <span class="plan-note">{text}</span>
  if (!is_block) return <span class="mono">{text}</span>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by the keyboard
    <pre class="plan-block" tabIndex={0}>
      {text}
    </pre>
  )
}

/** The minimum share in common for marks inside two texts. */
const ALIKE = 0.35

/** Shows both sides, with changes marked, or as one column of lines when both are long. */
export function Change({ sides }: { sides: Sides }) {
  const before = showSide(sides, 'before')
  const after = showSide(sides, 'after')
  if (before.kind === 'text' && after.kind === 'text') {
    if (before.text === after.text)
      return (
        <td colSpan={2}>
          <Value shown={after} /> <span class="plan-note">same meaning, different notation</span>
        </td>
      )
    if (before.text.includes('\n') || after.text.includes('\n'))
      return (
        <td colSpan={2}>
          <Lines pieces={diffLines(before.text, after.text)} />
        </td>
      )
    const pieces = diffWords(before.text, after.text)
    if (typeof sides.after === 'string' && likeness(pieces) >= ALIKE) return <Words pieces={pieces} />
  }
  return (
    <>
      <td data-label="Now">
        <Value shown={before} />
      </td>
      <td data-label="After">
        <Value shown={after} />
      </td>
    </>
  )
}

/** Shows single-line texts side by side, with differing words marked. */
const Words = ({ pieces }: { pieces: Piece[] }) => (
  <>
    {(['removed', 'added'] as const).map((side) => (
      <td key={side} data-label={side === 'removed' ? 'Now' : 'After'}>
        <span class="mono">
          {pieces.map(
            (piece, index) => (piece.kind === side || piece.kind === 'same') && <Part key={index} {...piece} />,
          )}
        </span>
      </td>
    ))}
  </>
)

const TAGS = { same: 'span', removed: 'del', added: 'ins' } as const

function Part({ kind, text }: Piece) {
  const Tag = TAGS[kind]
  return <Tag>{text}</Tag>
}

const SIGNS = { same: ' ', removed: '−', added: '+' } as const

const Lines = ({ pieces }: { pieces: Piece[] }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by the keyboard
  <pre class="plan-block" tabIndex={0}>
    {pieces.map(({ kind, text }, index) => (
      <Part key={index} kind={kind} text={`${SIGNS[kind]} ${text.replaceAll('\n', `\n${SIGNS[kind]} `)}\n`} />
    ))}
  </pre>
)
