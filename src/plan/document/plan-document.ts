import { z } from 'zod'
import type { Json } from '../../base/json.ts'
import { SEVERITIES } from '../../base/vocabulary.ts'
import type { EngineInfo } from '../../services/iac/contract.ts'
import { PLAN_ACTIONS } from '../actions.ts'
import type { Plan } from '../plan.ts'
import type { BeyondTargets } from '../targets.ts'

const count = () => z.number().int().min(0)
const text = () => z.string()

/** Attribute names, map keys and list indexes (from 0), outermost first. */
const path = () =>
  z.array(z.union([z.string(), z.number()])).describe('Names, keys of maps and indexes from 0, from the outside in.')
/** Makes the schema of a plan value: any JSON. */
const value = (description: string) => z.custom<Json>((given) => given !== undefined).describe(description)
const onlyTrue = (description: string) => z.literal(true).optional().describe(description)

const sides = {
  before: value('Null where there was none.'),
  after: value('Null where there will be none, and where only the apply knows it.'),
  unknown: onlyTrue('Known only after the apply.'),
  sensitive: onlyTrue('A mask of fixed length stands in the place of the value.'),
  cut: onlyTrue('A long value was cut.'),
}

const finding = {
  rule_id: text(),
  severity: z.enum(SEVERITIES),
  message: text(),
  suggested_fix: text().nullable(),
}

const Attribute = z.object({
  path: path(),
  change: z
    .enum(['added', 'changed', 'removed', 'same'])
    .describe('`same` only for attributes by which people know an object, such as its id.'),
  ...sides,
})

const Replacement = z.object({
  order: z.enum(['delete_first', 'create_first']),
  keeps_old: z.boolean().describe('The old object stays, and nobody manages it any more.'),
  reasons: z
    .array(z.object({ path: path() }))
    .describe('Attributes that force it; empty when something else does: see `action_reason`.'),
})

const Resource = z.object({
  address: text(),
  module_address: text().nullable().describe('Null in the root module.'),
  mode: z.enum(['managed', 'data']),
  type: text(),
  name: text(),
  index: z.union([z.string(), z.number()]).nullable().describe('Of the instance, with `for_each` or `count`.'),
  deposed: text().nullable().describe('Key of an object that an interrupted replacement left over.'),
  provider: z.object({ source: text(), name: text() }).nullable(),
  action: z
    .enum(PLAN_ACTIONS)
    .describe('`import` and `move` when nothing else happens to the object: see `import` and `moved_from`.'),
  action_reason: text().nullable().describe("The engine's word, for example `replace_because_tainted`."),
  replace: Replacement.nullable(),
  import: z
    .object({ id: text().nullable() })
    .nullable()
    .describe('Set for every object that is imported. The id is null when it is sensitive or not known.'),
  moved_from: text().nullable().describe('The address in the state until the apply.'),
  is_targeted: z.boolean().describe('Whether a target names it; true in a plan of the whole root.'),
  is_critical: z.boolean(),
  critical_reason: z.enum(['data', 'access']).nullable().describe('It holds data, or it grants access.'),
  criticality_known: z
    .boolean()
    .describe('False for a type of which it cannot be told whether it holds data or grants access.'),
  attributes: z.array(Attribute).describe('What changes, attribute by attribute, 1,000 at most.'),
  attributes_left_out: count(),
  attributes_unchanged: count().describe('How many are the same and not listed.'),
  depends_on: z.array(z.string()).describe('Addresses of other resources of this document, 100 at most.'),
  depends_on_left_out: count(),
  findings: z.array(z.object(finding)),
  statements: z.array(z.string()).describe('Ids of the statements that are about it.'),
})

const Outside = z.union([
  z.object({
    made: z.literal(true),
    changes: z.array(
      z.object({ address: text(), type: text(), action: z.enum(PLAN_ACTIONS), moved_from: text().optional() }),
    ),
    changes_left_out: count(),
  }),
  z.object({ made: z.literal(false), reason: text() }),
])

const summary = Object.fromEntries(PLAN_ACTIONS.map((action) => [action, count()])) as Record<
  (typeof PLAN_ACTIONS)[number],
  ReturnType<typeof count>
>

/** A plan as data, served at `rounds[].plans[].document_url`. All texts are masked. Readers must tolerate unknown fields. */
export const PlanDocumentSchema = z
  .object({
    /** Increases when a field changes its meaning or is removed, but not for new fields. */
    schema_version: z.literal(1),
    engine: z.object({ name: text().nullable(), version: text().nullable() }),
    targets: z.array(z.string()).describe('What the plan was restricted to; none for the whole root.'),
    checked: z
      .object({ rules: z.boolean(), request: z.boolean(), outside_targets: z.boolean() })
      .describe('What the plan was held against by then. The plan that was reviewed last knows most.'),
    summary: z.object(summary).describe('Resources by action; all that are imported or moved count there too.'),
    resources: z.array(Resource),
    outputs: z.array(z.object({ name: text(), action: z.enum(['create', 'update', 'delete']), ...sides })),
    drift: z
      .array(
        z.object({
          address: text(),
          action: z.enum(['update', 'delete']),
          paths: z.array(path()),
          paths_left_out: count(),
        }),
      )
      .describe('What somebody changed without the engine.'),
    drift_left_out: count(),
    findings: z
      .array(z.object({ ...finding, resource: text().nullable() }))
      .describe('Findings about the plan as a whole; those about a resource are with it.'),
    statements: z
      .array(z.object({ id: text(), text: text(), verdict: z.enum(['met', 'unmet', 'unknown']), finding: text() }))
      .describe('What the request asks for, and what the plan says about it.'),
    outside_targets: Outside.nullable().describe('What only a plan of the whole root would change.'),
    resources_without_attributes: count().describe(
      'Resources at the end whose attributes were left out, because the document would have been too large.',
    ),
  })
  .describe('A plan as data; all texts in it are masked.')

export type PlanDocument = z.output<typeof PlanDocumentSchema>
export type DocumentResource = z.output<typeof Resource>
export type DocumentAttribute = z.output<typeof Attribute>
export type DocumentPath = DocumentAttribute['path']
export type DocumentOutside = z.output<typeof Outside>
export type DocumentOutput = PlanDocument['outputs'][number]
export type DocumentDrift = PlanDocument['drift'][number]
export type DocumentFinding = PlanDocument['findings'][number]
type DocumentStatement = PlanDocument['statements'][number]

/** Facts about a plan beside its JSON; absent for what was not examined. */
export interface PlanDocumentFacts {
  plan: Plan
  targets: readonly string[]
  masker: { text(text: string): string }
  engine?: EngineInfo | null
  findings?: readonly DocumentFinding[]
  /** Statements with the `addresses` that each is about. */
  statements?: readonly (DocumentStatement & { addresses: readonly string[] })[]
  beyond?: BeyondTargets | null
}
