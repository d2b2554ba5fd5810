import type { Json } from '../../base/json.ts'
import type { Change } from '../plan.ts'
import { compareChange, type Difference } from './differences.ts'
import { MAX_ATTRIBUTES } from './limits.ts'
import type { DocumentAttribute, DocumentResource } from './plan-document.ts'
import type { Display, ShownValue } from './shown.ts'

/** The listed attributes of a resource, and the number of the others. */
type ListedAttributes = Pick<DocumentResource, 'attributes' | 'attributes_left_out' | 'attributes_unchanged'>

/** Attributes that identify an object to people; listed even when unchanged. */
const IDENTIFYING = new Set(['id', 'arn', 'name', 'self_link', 'display_name', 'bucket', 'fqdn'])

/** Lists the attribute changes of an object, in the plan's order. */
export function listAttributes(change: Change, display: Display): ListedAttributes {
  const listed: ListedAttributes = { attributes: [], attributes_left_out: 0, attributes_unchanged: 0 }
  const add = (difference: Difference) => {
    if (listed.attributes.length < MAX_ATTRIBUTES) listed.attributes.push(showDifference(difference, display))
    else listed.attributes_left_out++
  }
  const { clipped } = compareChange(isForgotten(change) ? withoutChange(change) : change, {
    differs: add,
    same: (difference) => {
      if (isIdentifying(difference)) add(difference)
      else listed.attributes_unchanged++
    },
  })
  if (clipped) listed.attributes_left_out++
  return listed
}

/** Reports whether an object stays and only leaves the state. */
const isForgotten = ({ actions }: Change) => actions.includes('forget') && !actions.includes('create')

const withoutChange = (change: Change): Change => ({
  ...change,
  after: change.before,
  after_sensitive: change.before_sensitive,
  after_unknown: null,
})

const isIdentifying = ({ path, after, isSensitive }: Difference): boolean =>
  path.length === 1 && IDENTIFYING.has(String(path[0])) && typeof after.value === 'string' && !isSensitive

function showDifference(difference: Difference, display: Display): DocumentAttribute {
  const { path, change, isUnknown } = difference
  const { before, after, sensitive, cut } = showSides(difference, display)
  return {
    path: display.path(path),
    change,
    before: before.value,
    after: isUnknown ? null : after.value,
    ...(isUnknown && { unknown: true as const }),
    ...(sensitive && { sensitive: true as const }),
    ...(cut && { cut: true as const }),
  }
}

/** Returns both values for display; a part that one side marks sensitive is hidden on both. */
export function showSides(
  { before, after, isSensitive }: Pick<Difference, 'before' | 'after' | 'isSensitive'>,
  display: Display,
) {
  const marksOf = (own: Json | undefined): Json | undefined => (isSensitive ? true : own)
  const shown: Record<'before' | 'after', ShownValue> = {
    before: display.value(before.value, marksOf(before.sensitive)),
    after: display.value(after.value, marksOf(after.sensitive)),
  }
  return {
    ...shown,
    sensitive: isSensitive || shown.before.sensitive || shown.after.sensitive,
    cut: shown.before.cut || shown.after.cut,
  }
}
