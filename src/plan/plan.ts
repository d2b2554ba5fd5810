import * as v from 'valibot'
import { badGateway, PlatformError } from '../base/errors.ts'
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'

/** One entry of `resource_changes`, as `show -json` of the engine writes it. */
export interface ResourceChange {
  address: string
  previous_address?: string
  module_address?: string
  mode: string
  type: string
  name: string
  provider_name?: string
  /** Set for an object left over from an interrupted replacement. */
  deposed?: string
  action_reason?: string
  change: Change
}

export interface Change {
  actions: string[]
  before: Json
  after: Json
  /** `true` for a value known only after apply; nested like the value. */
  after_unknown: Json
  /** `true` for a sensitive value; nested like the value. */
  before_sensitive: Json
  after_sensitive: Json
  importing?: JsonObject
}

/** A plan document whose format was checked. `document` is the whole JSON, never shown unmasked. */
export interface Plan {
  resource_changes: ResourceChange[]
  document: JsonObject
}

/** What happens to an object. `none` covers no-op, read and forget. */
export type ChangeAction = 'create' | 'update' | 'delete' | 'recreate' | 'none'

export interface PlannedChange {
  address: string
  type: string
  action: Exclude<ChangeAction, 'none'>
}

export type PlanCounts = {
  create: number
  update: number
  delete: number
  recreate: number
}

const isJson = (value: unknown): value is Json => value !== undefined
const json = v.pipe(
  v.optional(v.unknown(), null),
  v.transform((value): Json => (isJson(value) ? value : null)),
)

const changeSchema = v.looseObject({
  actions: v.array(v.string()),
  before: json,
  after: json,
  after_unknown: json,
  before_sensitive: json,
  after_sensitive: json,
  importing: v.optional(v.custom<JsonObject>(isJsonObject)),
})
const resourceChangeSchema = v.looseObject({
  address: v.string(),
  previous_address: v.optional(v.string()),
  module_address: v.optional(v.string()),
  mode: v.optional(v.string(), 'managed'),
  type: v.optional(v.string()),
  name: v.optional(v.string()),
  provider_name: v.optional(v.string()),
  deposed: v.optional(v.string()),
  action_reason: v.optional(v.string()),
  change: changeSchema,
})
const planSchema = v.looseObject({ resource_changes: v.optional(v.nullable(v.array(resourceChangeSchema)), []) })
type ReadChange = v.InferOutput<typeof resourceChangeSchema>

const INDEX = /\[("(\\.|[^"\\])*"|\d+)\]/g

/** Type and name of an entry that does not tell them stand at the end of its address. */
function identified({ type, name, ...change }: ReadChange): ResourceChange {
  const [, of_address = '', at_address = ''] = /([\w-]+)\.([\w-]+)$/.exec(change.address.replaceAll(INDEX, '')) ?? []
  return { ...change, type: type ?? of_address, name: name ?? at_address }
}

/**
 * Reads the output of `show -json <plan file>`.
 * Errors: `PlatformError` 502 when the text is no plan document, and
 * `Engine plan json output major format change.` from format 2.0 on.
 */
export function parsePlan(text: string): Plan {
  const document = readDocument(text)
  const major = /^(\d+)(\.\d+)*$/.exec(String(document.format_version ?? ''))?.[1]
  if (major === undefined) throw unreadable()
  if (Number(major) >= 2)
    throw new PlatformError('PlanFormatChanged', 502, 'Engine plan json output major format change.')
  const parsed = v.safeParse(planSchema, document)
  if (!parsed.success) throw unreadable(new v.ValiError(parsed.issues))
  return { resource_changes: (parsed.output.resource_changes ?? []).map(identified), document }
}

function readDocument(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
  } catch (error) {
    // The parser's message quotes the text, which may hold secrets.
    throw unreadable(error instanceof Error ? error.name : undefined)
  }
  throw unreadable()
}

/** Whether the document tells what the code declares, as that of every engine does; the contract does not ask for it. */
export const describesCode = ({ document }: Plan): boolean => isJsonObject(document.configuration ?? null)

const unreadable = (cause?: unknown) => badGateway('Engine plan json output could not be read.', cause)
