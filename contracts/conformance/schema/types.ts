/** The part of JSON Schema 2020-12 that the contracts use. `KEYWORDS` lists all of it. */
export interface Schema {
  type?: JsonType | JsonType[]
  enum?: unknown[]
  const?: unknown
  required?: string[]
  properties?: Record<string, Schema>
  additionalProperties?: boolean | Schema
  propertyNames?: Schema
  items?: Schema
  minItems?: number
  maxItems?: number
  minProperties?: number
  maxProperties?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  minimum?: number
  maximum?: number
  oneOf?: Schema[]
  anyOf?: Schema[]
  allOf?: Schema[]
  /** A key of an addition: bodies of the suite do not have it. */
  'x-optional'?: boolean
}
export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/** The keywords that a schema of a contract may hold. Those with false say nothing about values. */
export const KEYWORDS: Readonly<Record<keyof Schema, true>> & Readonly<Record<string, boolean>> = {
  type: true,
  enum: true,
  const: true,
  required: true,
  properties: true,
  additionalProperties: true,
  propertyNames: true,
  items: true,
  minItems: true,
  maxItems: true,
  minProperties: true,
  maxProperties: true,
  minLength: true,
  maxLength: true,
  pattern: true,
  format: true,
  minimum: true,
  maximum: true,
  oneOf: true,
  anyOf: true,
  allOf: true,
  'x-optional': true,
  title: false,
  description: false,
  default: false,
  example: false,
  examples: false,
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Lists the schemas directly inside this one. */
export function innerSchemas(schema: Schema): Schema[] {
  const { properties = {}, additionalProperties, propertyNames, items, oneOf = [], anyOf = [], allOf = [] } = schema
  const single = [additionalProperties, propertyNames, items].filter((each) => typeof each === 'object')
  return [...Object.values(properties), ...single, ...oneOf, ...anyOf, ...allOf]
}
