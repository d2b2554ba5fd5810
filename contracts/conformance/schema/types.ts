/** The part of JSON Schema 2020-12 that the contracts use. */
export type Schema = {
  type?: string | string[]
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
  /** True if the key is part of an addition; bodies of the suite omit it. */
  'x-optional'?: boolean
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function innerSchemas(schema: Schema): Schema[] {
  const { properties = {}, additionalProperties, propertyNames, items, oneOf = [], anyOf = [], allOf = [] } = schema
  const single = [additionalProperties, propertyNames, items].filter((each) => typeof each === 'object')
  return [...Object.values(properties), ...single, ...oneOf, ...anyOf, ...allOf]
}
