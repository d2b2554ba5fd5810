import * as v from 'valibot'
import { isJsonObject } from '../../base/json.ts'
import { fromReportAction, REPORT_ACTIONS } from '../../plan/actions.ts'
import { OPERATORS, type Scalar, type Statement } from './statement.ts'

const MAX_TEXT = 400
const short = (max = 200) =>
  v.pipe(v.string(), v.trim(), v.nonEmpty('must not be blank'), v.maxLength(max, `must have at most ${max} characters`))
const scalar = v.pipe(
  v.union([short(500), v.number(), v.boolean()], 'must be a text, a number or a boolean'),
  v.transform((value): Scalar => value),
)
/** A count; models may send it as text. */
const count = v.pipe(
  v.union(
    [v.number(), v.pipe(v.string(), v.trim(), v.regex(/^\d{1,6}$/, 'must be a whole number'), v.transform(Number))],
    'must be a whole number',
  ),
  v.integer('must be a whole number'),
  v.minValue(0, 'must be at least 0'),
  v.maxValue(100_000, 'must be at most 100000'),
)
/** A type or address; the prefix `resource.` that some models write is removed. */
const resourceName = v.pipe(
  short(300),
  v.transform((text) => text.replace(/^resource\./i, '')),
  v.nonEmpty('must not be blank'),
)

const needsValue = ({ op, value }: { op: string; value?: Scalar | undefined }) =>
  op === 'exists' || op === 'absent' || value !== undefined
const VALUE_MISSING = 'value is required for this op'
const conditionEntries = { path: short(300), op: v.picklist(OPERATORS), value: v.exactOptional(scalar) }
const condition = v.pipe(
  v.object(conditionEntries),
  v.check((item) => needsValue(item), VALUE_MISSING),
)

const textEntries = {
  text: v.pipe(v.string(), v.trim(), v.nonEmpty('must not be blank'), v.transform(shorten)),
  words: v.optional(v.pipe(v.string(), v.trim(), v.transform(shorten)), ''),
}
const selector = {
  type: v.exactOptional(resourceName),
  name: v.exactOptional(short()),
  address: v.exactOptional(resourceName),
}
const nameList = v.optional(v.pipe(v.array(resourceName), v.maxLength(50, 'must have at most 50 entries')), [])

/**
 * A statement as sent by a model: one flat object, because several model providers accept no alternatives in a schema.
 * Fields of other kinds, null and blank ones are dropped before validation.
 */
const statement = v.variant('kind', [
  v.object({
    kind: v.literal('resource_count'),
    ...textEntries,
    ...selector,
    type: resourceName,
    action: v.exactOptional(v.pipe(v.picklist(REPORT_ACTIONS), v.transform(fromReportAction))),
    op: v.picklist(['eq', 'at_least', 'at_most']),
    value: count,
    where: v.optional(v.pipe(v.array(condition), v.maxLength(5, 'must have at most 5 entries')), []),
  }),
  v.pipe(
    v.object({
      kind: v.literal('attribute'),
      ...textEntries,
      ...selector,
      ...conditionEntries,
      every: v.optional(v.boolean(), false),
    }),
    v.check((item) => needsValue(item), VALUE_MISSING),
    v.check(({ type, address }) => type !== undefined || address !== undefined, 'type or address is required'),
  ),
  v.pipe(
    v.object({ kind: v.literal('unchanged'), ...textEntries, ...selector }),
    v.check(({ type, address }) => type !== undefined || address !== undefined, 'type or address is required'),
  ),
  v.object({ kind: v.literal('no_deletions'), ...textEntries }),
  v.pipe(
    v.object({ kind: v.literal('no_changes_outside'), ...textEntries, types: nameList, addresses: nameList }),
    v.check(({ types, addresses }) => types.length + addresses.length > 0, 'types or addresses is required'),
  ),
  v.object({ kind: v.literal('output_exists'), ...textEntries, name: short() }),
])

function shorten(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1).toWellFormed()}…` : text
}

/** Most statements that are read. */
export const MAX_STATEMENTS = 20

export interface ReadStatements {
  statements: Statement[]
  /** Faults of refused statements, one line each. */
  faults: string[]
}

/** Reads the first 20 statements of a list. */
export function readStatements(list: readonly unknown[]): ReadStatements {
  const read: ReadStatements = { statements: [], faults: [] }
  for (const [index, item] of list.slice(0, MAX_STATEMENTS).entries()) {
    const parsed = v.safeParse(statement, withoutBlanks(item))
    if (parsed.success) read.statements.push({ id: `s${index + 1}`, ...parsed.output })
    else read.faults.push(`statements.${index}: ${faultsOf(parsed.issues)}`)
  }
  return read
}

const MAX_FAULTS = 4

const faultsOf = (issues: readonly v.BaseIssue<unknown>[]): string =>
  issues
    .slice(0, MAX_FAULTS)
    .map((issue) => [v.getDotPath(issue), issue.message.slice(0, 200)].filter(Boolean).join(': '))
    .join('; ')

/** Removes null, empty texts and empty lists at every level, with which models fill unneeded fields. */
function withoutBlanks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutBlanks)
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).filter(
    ([, item]) => item !== null && item !== '' && !(Array.isArray(item) && item.length === 0),
  )
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutBlanks(item)]))
}
