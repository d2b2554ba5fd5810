import * as v from 'valibot'
import { isJsonObject } from '../../base/json.ts'
import { cutEnd } from '../../base/text.ts'
import { fromReportAction, REPORT_ACTIONS } from '../../plan/actions.ts'

/** Comparisons of a planned value with a statement's value. */
export const OPERATORS = [
  'eq',
  'ne',
  'contains',
  'not_contains',
  'matches',
  'exists',
  'absent',
  'at_least',
  'at_most',
] as const
export type Operator = (typeof OPERATORS)[number]

export type Scalar = string | number | boolean

const MAX_TEXT = 400
const shorten = (text: string): string => cutEnd(text, MAX_TEXT)
const NOT_BLANK = 'must not be blank'
const short = (max = 200) =>
  v.pipe(v.string(), v.trim(), v.nonEmpty(NOT_BLANK), v.maxLength(max, `must have at most ${max} characters`))
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
  v.nonEmpty(NOT_BLANK),
)

const needsValue = ({ op, value }: { op: string; value?: Scalar | undefined }) =>
  op === 'exists' || op === 'absent' || value !== undefined
const VALUE_MISSING = 'value is required for this op'
const conditionEntries = {
  path: short(300),
  op: v.picklist(OPERATORS),
  /** Absent for `exists` and `absent`. */
  value: v.exactOptional(scalar),
}
const condition = v.pipe(
  v.object(conditionEntries),
  v.check((item) => needsValue(item), VALUE_MISSING),
)
/** A comparison of the value at a path, for example `versioning_configuration.status`. */
export type Condition = v.InferOutput<typeof condition>

const textEntries = {
  /** The statement as a sentence. */
  text: v.pipe(v.string(), v.trim(), v.nonEmpty(NOT_BLANK), v.transform(shorten)),
  /** The request's words behind it; may be empty. */
  words: v.optional(v.pipe(v.string(), v.trim(), v.transform(shorten)), ''),
}
const selectorEntries = {
  type: v.exactOptional(resourceName),
  name: v.exactOptional(short()),
  /** Address with or without indexes; a module's address includes everything in it. */
  address: v.exactOptional(resourceName),
}
const selector = v.object(selectorEntries)
/** A selection of resources by patterns with `*`, `?` and `|`, in any letter case. */
export type Selector = v.InferOutput<typeof selector>
const namesResources = ({ type, address }: Selector) => type !== undefined || address !== undefined
const RESOURCES_MISSING = 'type or address is required'
const nameList = v.optional(v.pipe(v.array(resourceName), v.maxLength(50, 'must have at most 50 entries')), [])

/**
 * A statement as sent by a model: one flat object, because several model providers accept no alternatives in a schema.
 * Fields of other kinds, null and blank ones are dropped before validation.
 */
const statement = v.variant('kind', [
  v.object({
    kind: v.literal('resource_count'),
    ...textEntries,
    ...selectorEntries,
    type: resourceName,
    /** Kind of changes to count; without it, resources after the apply are counted. */
    action: v.exactOptional(v.pipe(v.picklist(REPORT_ACTIONS), v.transform(fromReportAction))),
    op: v.picklist(['eq', 'at_least', 'at_most']),
    value: count,
    where: v.optional(v.pipe(v.array(condition), v.maxLength(5, 'must have at most 5 entries')), []),
  }),
  v.pipe(
    v.object({
      kind: v.literal('attribute'),
      ...textEntries,
      ...selectorEntries,
      ...conditionEntries,
      every: v.optional(v.boolean(), false),
    }),
    v.check((item) => needsValue(item), VALUE_MISSING),
    v.check((item) => namesResources(item), RESOURCES_MISSING),
  ),
  v.pipe(
    v.object({ kind: v.literal('unchanged'), ...textEntries, ...selectorEntries }),
    v.check((item) => namesResources(item), RESOURCES_MISSING),
  ),
  v.object({ kind: v.literal('no_deletions'), ...textEntries }),
  v.pipe(
    v.object({ kind: v.literal('no_changes_outside'), ...textEntries, types: nameList, addresses: nameList }),
    v.check(({ types, addresses }) => types.length + addresses.length > 0, 'types or addresses is required'),
  ),
  v.object({ kind: v.literal('output_exists'), ...textEntries, name: short() }),
])

/** A statement; its id is unique in its list, for example `s3`. */
export type Statement = { id: string } & v.InferOutput<typeof statement>
export type StatementOf<Kind extends Statement['kind']> = Extract<Statement, { kind: Kind }>

/** A verdict; `unknown` when the plan cannot tell. */
export type Verdict = 'met' | 'unmet' | 'unknown'

/** The verdict on a statement; `finding` describes the plan, without sensitive values. */
export interface StatementResult {
  statement: Statement
  verdict: Verdict
  finding: string
}

/** Most statements that are read. */
export const MAX_STATEMENTS = 20

/** Reads the first 20 statements of a list; `faults` has a line for each refused one. */
export function readStatements(list: readonly unknown[]): { statements: Statement[]; faults: string[] } {
  const read: ReturnType<typeof readStatements> = { statements: [], faults: [] }
  for (const [index, item] of list.slice(0, MAX_STATEMENTS).entries()) {
    const parsed = v.safeParse(statement, withoutBlanks(item))
    if (parsed.success) read.statements.push({ id: `s${index + 1}`, ...parsed.output })
    else read.faults.push(`statements.${index}: ${faultsOf(parsed.issues)}`)
  }
  return read
}

const faultsOf = (issues: readonly v.BaseIssue<unknown>[]): string =>
  issues
    .slice(0, 4)
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
