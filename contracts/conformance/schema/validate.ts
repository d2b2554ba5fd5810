import { isRecord, type JsonType, type Schema } from './types.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/
const URI = /^[a-z][a-z0-9+.-]*:[^\s<>"\\^`{|}]+$/i
const FORMATS: Record<string, (text: string) => boolean> = {
  uuid: (text) => UUID.test(text),
  'date-time': (text) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)),
  uri: (text) => URI.test(text),
}

/** The length of a text in code points, as JSON Schema counts it. */
export const lengthOf = (text: string): number => [...text].length

/** Finds what is wrong with a value, with a sentence for each fault; empty when it fits. `format` is checked too. */
export function findFaults(schema: Schema, value: unknown, where = 'body'): string[] {
  const types = schema.type === undefined ? null : [schema.type].flat()
  if (types && !types.some((type) => isOf(type, value)))
    return [`${where} must be ${types.join(' or ')}, is ${kindOf(value)}`]
  const faults: string[] = []
  if ('const' in schema && !same(schema.const, value)) faults.push(`${where} must be ${JSON.stringify(schema.const)}`)
  if (schema.enum && !schema.enum.some((each) => same(each, value)))
    faults.push(`${where} must be one of ${JSON.stringify(schema.enum)}`)
  if (typeof value === 'string') faults.push(...textFaults(schema, value, where))
  if (typeof value === 'number') faults.push(...numberFaults(schema, value, where))
  if (Array.isArray(value)) faults.push(...arrayFaults(schema, value, where))
  if (isRecord(value)) faults.push(...objectFaults(schema, value, where))
  return [...faults, ...combined(schema, value, where)]
}

export const fits = (schema: Schema, value: unknown): boolean => findFaults(schema, value).length === 0

function isOf(type: JsonType, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value)
  return type === kindOf(value)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

function textFaults(
  { minLength = 0, maxLength = Infinity, pattern, format }: Schema,
  text: string,
  where: string,
): string[] {
  const faults: string[] = []
  const length = lengthOf(text)
  if (length < minLength || length > maxLength)
    faults.push(`${where} must have ${range(minLength, maxLength)} characters, has ${length}`)
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) faults.push(`${where} must match ${pattern}`)
  const check = format === undefined ? undefined : FORMATS[format]
  if (check && !check(text)) faults.push(`${where} must be a ${format}`)
  return faults
}

function numberFaults({ minimum = -Infinity, maximum = Infinity }: Schema, value: number, where: string): string[] {
  return value < minimum || value > maximum ? [`${where} must be ${range(minimum, maximum)}, is ${value}`] : []
}

function arrayFaults({ items, minItems = 0, maxItems = Infinity }: Schema, values: unknown[], where: string): string[] {
  const faults = items ? values.flatMap((value, index) => findFaults(items, value, `${where}[${index}]`)) : []
  const { length } = values
  return length < minItems || length > maxItems
    ? [`${where} must have ${range(minItems, maxItems)} items, has ${length}`, ...faults]
    : faults
}

function objectFaults(schema: Schema, value: Record<string, unknown>, where: string): string[] {
  const {
    required = [],
    properties = {},
    additionalProperties = true,
    propertyNames,
    minProperties = 0,
    maxProperties = Infinity,
  } = schema
  const faults = required.filter((key) => !Object.hasOwn(value, key)).map((key) => `${where}.${key} is missing`)
  const keys = Object.keys(value)
  if (keys.length < minProperties || keys.length > maxProperties)
    faults.push(`${where} must have ${range(minProperties, maxProperties)} keys`)
  for (const key of keys) {
    if (propertyNames) faults.push(...findFaults(propertyNames, key, `a key of ${where}`))
    const declared = Object.hasOwn(properties, key) ? properties[key] : additionalProperties
    if (declared === false) faults.push(`${where}.${key} is not declared`)
    else if (typeof declared === 'object') faults.push(...findFaults(declared, value[key], `${where}.${key}`))
  }
  return faults
}

function combined({ oneOf, anyOf, allOf = [] }: Schema, value: unknown, where: string): string[] {
  const faults = allOf.flatMap((each) => findFaults(each, value, where))
  for (const [branches, exactly] of [
    [oneOf, true],
    [anyOf, false],
  ] as const) {
    if (!branches) continue
    const each = branches.map((branch) => findFaults(branch, value, where))
    const matching = each.filter((list) => list.length === 0).length
    if (matching > 1 && exactly) faults.push(`${where} fits more than one of the alternatives`)
    if (matching === 0) faults.push(`${where} fits none of the alternatives: ${each.map((list) => list[0]).join('; ')}`)
  }
  return faults
}

function range(from: number, to: number): string {
  if (to === Infinity) return `at least ${from}`
  return from === -Infinity ? `at most ${to}` : `${from} to ${to}`
}
