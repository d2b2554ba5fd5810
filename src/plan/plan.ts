import * as v from 'valibot'
import { badGateway, PlatformError } from '../base/errors.ts'
import { isJsonObject, itemsOf, type Json, type JsonObject, memberOf, ownMember, parseExactly } from '../base/json.ts'
import { withoutIndexes } from './addresses.ts'
import { within } from './code/modules.ts'

/** A validated plan; `document` is the whole JSON, which must never be shown unmasked. */
export interface Plan {
  resource_changes: ResourceChange[]
  document: JsonObject
}

const isJson = (value: unknown): value is Json => value !== undefined
const json = v.pipe(
  v.optional(v.unknown(), null),
  v.transform((value): Json => (isJson(value) ? value : null)),
)

const changeSchema = v.object({
  actions: v.array(v.string()),
  before: json,
  after: json,
  /** `true` where a value is known only after the apply; nested like `after`. */
  after_unknown: json,
  /** `true` where a value is sensitive; nested like `before` and `after`. */
  before_sensitive: json,
  after_sensitive: json,
  importing: v.optional(v.custom<JsonObject>(isJsonObject)),
  /** Key and index lists: the attributes that force a replacement. */
  replace_paths: v.optional(v.custom<Json>(isJson)),
})
export type Change = v.InferOutput<typeof changeSchema>

const resourceChangeSchema = v.pipe(
  v.object({
    address: v.string(),
    previous_address: v.optional(v.string()),
    module_address: v.optional(v.string()),
    mode: v.optional(v.string(), 'managed'),
    type: v.optional(v.string()),
    name: v.optional(v.string()),
    /** Instance key or number, where the engine states it. */
    index: v.optional(v.custom<Json>(isJson)),
    provider_name: v.optional(v.string()),
    /** Key of an object left over from an interrupted replacement. */
    deposed: v.optional(v.string()),
    action_reason: v.optional(v.string()),
    change: changeSchema,
  }),
  // A missing type and name are at the end of the address.
  v.transform(({ type, name, ...change }) => {
    const [, typeInAddress = '', nameInAddress = ''] = /([\w-]+)\.([\w-]+)$/.exec(withoutIndexes(change.address)) ?? []
    return { ...change, type: type ?? typeInAddress, name: name ?? nameInAddress }
  }),
)
/** An entry of `resource_changes` in the engine's `show -json`. */
export type ResourceChange = v.InferOutput<typeof resourceChangeSchema>

const planSchema = v.object({ resource_changes: v.optional(v.nullable(v.array(resourceChangeSchema)), []) })

/** Reads `show -json <plan file>`. Errors: 502 for other text, a major format error from format 2.0 on. */
export function parsePlan(text: string): Plan {
  const document = readDocument(text)
  const major = /^(\d+)(\.\d+)*$/.exec(String(document.format_version ?? ''))?.[1]
  if (major === undefined) throw unreadablePlan()
  if (Number(major) >= 2)
    throw new PlatformError('PlanFormatChanged', 502, 'Engine plan json output major format change.')
  const parsed = v.safeParse(planSchema, document)
  if (!parsed.success) throw unreadablePlan(new v.ValiError(parsed.issues))
  return { resource_changes: parsed.output.resource_changes ?? [], document }
}

function readDocument(text: string): JsonObject {
  try {
    const value = parseExactly(text)
    if (isJsonObject(value)) return value
  } catch (error) {
    // The parser's message quotes the text, which may contain secrets.
    throw unreadablePlan(error instanceof Error ? error.name : undefined)
  }
  throw unreadablePlan()
}

/** Reports whether the document describes the code; the contract of the iac sidecar does not require it. */
export const describesCode = ({ document }: Plan): boolean => isJsonObject(document.configuration ?? null)

const MAX_MODULE_DEPTH = 40

/**
 * Returns the root module and all called modules of the code, at most 40 levels deep.
 * @returns `address`: without indexes, for example `module.a.module.b`, empty for the root; `inputs`: arguments of the
 * call, none for the root
 */
export function modulesOf(plan: Plan) {
  const modules: { address: string; module: JsonObject; inputs: JsonObject }[] = []
  const visit = (module: Json | undefined, address: string, inputs: JsonObject, depth: number) => {
    if (!isJsonObject(module) || depth > MAX_MODULE_DEPTH) return
    modules.push({ address, module, inputs })
    const calls = ownMember(module, 'module_calls')
    if (!isJsonObject(calls)) return
    for (const [name, call] of Object.entries(calls)) {
      const inputExpressions = memberOf(call, 'expressions')
      const inner = within(address, `module.${name}`)
      visit(memberOf(call, 'module'), inner, isJsonObject(inputExpressions) ? inputExpressions : {}, depth + 1)
    }
  }
  visit(memberOf(plan.document.configuration, 'root_module'), '', {}, 0)
  return modules
}

/** Reports whether neither code nor state has a resource; false when the document does not describe the code. */
export const isWithoutResources = (plan: Plan): boolean =>
  describesCode(plan) &&
  plan.resource_changes.length + stateResources(plan).length === 0 &&
  modulesOf(plan).every(({ module }) => itemsOf(module.resources).length === 0)

/** Reports whether the refresh found a resource, at its present or previous address, unlike the state. */
export const isRefreshed = ({ document }: Plan, { address, previous_address }: ResourceChange): boolean =>
  itemsOf(document.resource_drift).some((entry) =>
    [memberOf(entry, 'address'), memberOf(entry, 'previous_address')].some(
      (own) => typeof own === 'string' && (own === address || own === previous_address),
    ),
  )

/** Returns the resources of the prior state, in all modules. */
export const stateResources = ({ document }: Plan): JsonObject[] =>
  resourcesIn(memberOf(memberOf(document.prior_state, 'values'), 'root_module'))

/** Returns the resources of the planned values, in all modules. */
export const plannedResources = ({ document }: Plan): JsonObject[] =>
  resourcesIn(memberOf(document.planned_values, 'root_module'))

const resourcesIn = (module: Json | undefined): JsonObject[] => [
  ...itemsOf(memberOf(module, 'resources')).filter(isJsonObject),
  ...itemsOf(memberOf(module, 'child_modules')).flatMap(resourcesIn),
]

const unreadablePlan = (cause?: unknown) => badGateway('Engine plan json output could not be read.', cause)
