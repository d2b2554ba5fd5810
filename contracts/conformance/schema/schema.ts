import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

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

/** The strict validator: it refuses unknown keywords and formats, whose promises would never be checked. */
const ajv = new Ajv2020({ allErrors: true, strictRequired: false, strictTypes: false })
addFormats.default(ajv, ['uuid', 'date-time', 'uri'])
ajv.addVocabulary(['x-optional', 'example'])

/** Returns one sentence per fault of a value; empty when it fits. Checks `format` too. */
export function findFaults(schema: Schema, value: unknown, where = 'body'): string[] {
  const validate = ajv.compile(schema)
  validate(value)
  return (validate.errors ?? []).map(({ instancePath, message = '', params }) => {
    const detail = params.additionalProperty ?? params.allowedValues
    return `${where}${instancePath.replaceAll('/', '.')} ${message}${detail ? `: ${JSON.stringify(detail)}` : ''}`
  })
}

export const fits = (schema: Schema, value: unknown): boolean => ajv.compile(schema)(value)
