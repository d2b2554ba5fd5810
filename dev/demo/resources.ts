import type { Json } from '../../src/base/json.ts'
import type { DocumentAttribute, DocumentResource, PlanDocument } from '../../src/plan/document/plan-document.ts'
import type { Display } from './display.ts'

const SIGNS: Record<DocumentResource['action'], string> = {
  create: '+',
  update: '~',
  replace: '-/+',
  delete: '-',
  read: '<=',
  import: '<-',
  move: '->',
  forget: 'x',
  none: ' ',
}
const COLOURS: Partial<Record<DocumentResource['action'], 'green' | 'red' | 'yellow'>> = {
  create: 'green',
  import: 'green',
  update: 'yellow',
  replace: 'red',
  delete: 'red',
}
const MAX_ATTRIBUTES = 8
const MAX_VALUE = 60

/** Makes lines for each resource that changes, with its attributes before and after. */
export function resourceLines(display: Display, document: PlanDocument): string[] {
  return document.resources
    .filter(({ action }) => action !== 'none' && action !== 'read')
    .flatMap((resource) => describe(display, resource))
}

function describe(display: Display, resource: DocumentResource): string[] {
  const { action, address, attributes, is_critical, moved_from, findings } = resource
  const colour = COLOURS[action]
  const head = [
    `${SIGNS[action].padEnd(3)} ${address}`,
    ...(moved_from === null ? [] : [`from ${moved_from}`]),
    ...(is_critical ? ['(critical)'] : []),
  ].join(' ')
  const shown = attributes.slice(0, MAX_ATTRIBUTES)
  const left = attributes.length - shown.length + resource.attributes_left_out
  return [
    colour ? display.paint(colour, head) : head,
    ...shown.map((attribute) => `      ${describeAttribute(attribute, forces(resource, attribute))}`),
    ...(left > 0 ? [display.paint('dim', `      and ${left} more`)] : []),
    ...findings.map(({ rule_id, message }) => display.paint('yellow', `      ${rule_id}: ${message}`)),
  ]
}

const forces = ({ replace }: DocumentResource, { path }: DocumentAttribute): boolean =>
  replace?.reasons.some((reason) => reason.path.join('\0') === path.join('\0')) ?? false

function describeAttribute(attribute: DocumentAttribute, forcing: boolean): string {
  const { path, change, before, after, unknown, sensitive } = attribute
  const name = path.join('.')
  const later = sensitive ? '(sensitive)' : unknown ? '(known after apply)' : show(after)
  const value =
    change === 'added' || change === 'same'
      ? later
      : change === 'removed'
        ? `${sensitive ? '(sensitive)' : show(before)} -> gone`
        : `${sensitive ? '(sensitive)' : show(before)} -> ${later}`
  return `${name} = ${value}${forcing ? '  (forces the replacement)' : ''}`
}

/** Renders a value in one line, without the control characters that a terminal would obey. */
function show(value: Json): string {
  const text = JSON.stringify(value) ?? 'null'
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text
}
