import * as v from 'valibot'
import { PlatformError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Masker } from '../base/masking.ts'
import { type ReportType, SEVERITIES } from '../base/vocabulary.ts'
import { REPORT_ACTIONS, STATE_ACTIONS } from '../plan/actions.ts'

// Field kinds of documents that a model writes. They accept unambiguous variants, such as a number as text, a null list
// or another letter case, and refuse the rest, so that the model tries again.

// A `description` is what a model reads about the field.

/** Accepts text; absent and null become the empty string. */
const text = (description?: string) => {
  const schema = v.pipe(
    v.nullable(v.string()),
    v.transform((value) => value ?? ''),
    v.string(),
  )
  return v.optional(description === undefined ? schema : v.pipe(schema, v.description(description)), '')
}

/** Requires text with at least one character that is not a blank. */
const requiredText = () =>
  v.pipe(
    v.string(),
    v.check((value) => value.trim() !== '', 'must not be blank'),
  )

/** Accepts text or null; absent becomes null. */
const textOrNull = () => v.optional(v.nullable(v.string()), null)

/** Accepts a list; absent and null become empty. Validates items twice: the JSON schema describes the pipe's output. */
const list = <Item extends v.GenericSchema>(item: Item) =>
  v.optional(v.pipe(v.nullable(v.array(item)), v.transform(emptyListWhenNull<v.InferOutput<Item>>), v.array(item)), [])
const emptyListWhenNull = <Item>(value: Item[] | null): Item[] => value ?? []

/** Accepts one of the values, in any letter case, with blanks or hyphens for underscores. */
const choice = <const Values extends readonly string[]>(values: Values) =>
  v.pipe(v.string(), v.transform(canonical(values)), v.picklist(values))
const canonical = (values: readonly string[]) => {
  const fold = (value: string) =>
    value
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, '_')
  const byFolded = new Map(values.map((value) => [fold(value), value]))
  return (value: string): string => byFolded.get(fold(value)) ?? value
}

/** Accepts a non-negative integer; absent and null become 0. */
const count = () => v.optional(v.pipe(numeric(), v.integer(), v.minValue(0)), 0)

/** Accepts a finite amount of money; absent and null become 0. */
const amount = () => v.optional(v.pipe(numeric(), v.finite()), 0)

/** Accepts a finite amount of money, or null for one that is not known. */
const knownAmount = () => v.nullable(v.pipe(numeric(), v.finite()))

const numeric = () => v.pipe(v.union([v.number(), v.string(), v.null()]), v.transform(toNumber), v.number())

/** Reads `"$1,234.50"` as 1234.5; other text stays text, which the next step refuses. */
function toNumber(value: number | string | null): number | string {
  if (value === null) return 0
  if (typeof value === 'number') return value
  const bare = value.replaceAll(/[\s$€£¥]/g, '').replaceAll(/,(?=\d{3}(?:\D|$))/g, '')
  return /^[+-]?\d+(\.\d+)?$/.test(bare) ? Number(bare) : value
}

/** Accepts a currency code of three capital letters; absent, null and blank become `USD`. */
const currency = () =>
  v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.transform((value) => value?.trim().toUpperCase() || 'USD'),
      v.string(),
      v.regex(/^[A-Z]{3}$/, 'must be a currency code of three letters, for example USD'),
    ),
    'USD',
  )

const OVERALL = ['Succeeded', 'Partial', 'Failed'] as const

const costRow = v.object({
  resource_type: requiredText(),
  pricing_model: choice(['fixed', 'usage_based', 'free']),
  fixed_monthly_cost: amount(),
  notes: text(),
})

const narratedChange = v.object({
  name: v.pipe(requiredText(), v.description('The full address, with its index')),
  notes: text('What to watch: interruption, loss, exposure; empty when there is nothing'),
  summary: text('What the change means, in one sentence'),
  details: text('The attributes that matter, with old and new value; no list of all'),
})

/** The reports as models write them. That of a plan has no counts, actions and totals, which code adds. */
export const narrationSchemas = {
  generate: v.object({
    detailed_changes: list(narratedChange),
    potential_impact: v.object({
      banner: v.object({ level: choice(['low', 'medium', 'high']), title: requiredText(), description: text() }),
      summary: text(),
      bullet_points: list(v.object({ title: requiredText(), description: text() })),
    }),
    estimated_costs: v.object({
      currency: currency(),
      introduction_paragraph: text(),
      // What a row costs today; code puts the difference into words.
      breakdown: list(v.object({ ...costRow.entries, fixed_monthly_cost_before: v.exactOptional(knownAmount()) })),
    }),
  }),
  drift: v.object({
    summary: requiredText(),
    status: choice(OVERALL),
    remediated_resources: list(
      v.object({
        file_path: text(),
        resource_address: requiredText(),
        changes: list(
          v.object({
            attribute_modified: text(),
            change_description: requiredText(),
            details: list(v.string()),
            reason: text(),
          }),
        ),
      }),
    ),
    unreconciled_drift: list(v.object({ resource_address: text(), reason: requiredText(), details: list(v.string()) })),
    whitelisted_exceptions: list(v.object({ resource_address: text(), change: requiredText(), rule: text() })),
  }),
  apply: v.object({
    summary: v.object({
      total_resources: count(),
      created: count(),
      updated: count(),
      destroyed: count(),
      failed: count(),
    }),
    status: choice(['Success', 'Partial', 'Failed']),
    execution_summary: requiredText(),
    resource_changes: list(
      v.object({
        resource_type: text(),
        resource_name: requiredText(),
        action: choice(['created', 'updated', 'destroyed', 'no_change']),
        status: choice(['success', 'failed']),
        details: text(),
        error_message: textOrNull(),
      }),
    ),
    recommendations: list(v.string()),
  }),
  import: v.object({
    summary: v.object({ selected: count(), imported: count(), failed: count() }),
    status: choice(OVERALL),
    execution_summary: requiredText(),
    imported_resources: list(
      v.object({
        resource_address: text(),
        resource_id: requiredText(),
        status: choice(['imported', 'failed']),
        details: text(),
        error_message: textOrNull(),
      }),
    ),
    excluded_resources: list(v.object({ resource_id: requiredText(), details: text() })),
    state_alignment: text(),
    recommendations: list(v.string()),
  }),
} as const satisfies Record<ReportType, v.GenericSchema>

const stateCount = v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1)))

/** What a plan does in the state alone. Both fields are absent where it does nothing there. */
const stateChange = <const Extra extends v.ObjectEntries>(extra: Extra) =>
  v.exactOptional(
    v.array(
      v.object({
        name: v.string(),
        action: v.picklist(STATE_ACTIONS),
        previous_name: v.exactOptional(v.string()),
        summary: v.string(),
        ...extra,
      }),
    ),
  )

/** The stored reports; browser clients read their keys. Code adds moves, imports and forgotten objects. */
export const reportSchemas = {
  ...narrationSchemas,
  generate: v.object({
    summary: v.object({
      ...{ create: count(), update: count(), delete: count(), recreate: count() },
      ...{ move: stateCount, import: stateCount, forget: stateCount },
    }),
    ...narrationSchemas.generate.entries,
    detailed_changes: list(v.object({ ...narratedChange.entries, action: choice(REPORT_ACTIONS) })),
    estimated_costs: v.object({
      ...narrationSchemas.generate.entries.estimated_costs.entries,
      total_fixed_monthly_cost: amount(),
      breakdown: list(costRow),
    }),
    state_changes: stateChange({}),
  }),
  apply: v.object({
    ...narrationSchemas.apply.entries,
    summary: v.object({
      ...narrationSchemas.apply.entries.summary.entries,
      ...{ moved: stateCount, imported: stateCount, forgotten: stateCount },
    }),
    state_changes: stateChange({ status: v.picklist(['success', 'failed', 'unknown']) }),
  }),
} as const satisfies Record<ReportType, v.GenericSchema>

export const complianceFindings = v.object({
  violations: list(
    v.object({
      rule_id: requiredText(),
      severity: choice(SEVERITIES),
      resource: textOrNull(),
      message: requiredText(),
      suggested_fix: textOrNull(),
    }),
  ),
  summary: text(),
  checked_rules: list(v.string()),
})

export type ReportDocuments = { [Type in ReportType]: v.InferOutput<(typeof reportSchemas)[Type]> }
export type GenerateNarration = v.InferOutput<typeof narrationSchemas.generate>
export type GenerateReport = ReportDocuments['generate']
export type DriftReport = ReportDocuments['drift']
export type ApplyReport = ReportDocuments['apply']
export type ImportReport = ReportDocuments['import']
/** Findings of the auditing model; the verdict is computed by code. */
export type ComplianceFindings = v.InferOutput<typeof complianceFindings>
export type ComplianceReport = ComplianceFindings & { passed: boolean }

/**
 * Masks a settled document and checks it against its schema.
 * Errors: `ReportGenerationError`, for example `report 'apply' generation error.`
 */
export function finishReport<Schema extends v.GenericSchema>(
  type: ReportType | 'compliance',
  schema: Schema,
  document: Json,
  masker: Pick<Masker, 'json'>,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, masker.json(document))
  if (parsed.success) return parsed.output
  const cause = new v.ValiError(parsed.issues)
  throw new PlatformError('ReportGenerationError', 502, `report '${type}' generation error.`, { cause })
}
