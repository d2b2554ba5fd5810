import { generate, generateText } from './generate.ts'
import { findFaults, fits, innerSchemas, isRecord, type Schema } from './schema.ts'

/** One body and its special property, for example `body.cloud has 33 characters`. */
export interface Variant {
  what: string
  body: unknown
}

export type Fault = 'missing' | 'types' | 'lengths' | 'undeclared' | 'values'

type Prepare = (body: unknown) => unknown

const ASTRAL = '😀'
const ODD = `o'neil "50%" a=b x/y naïve мир 漢字 😀`
/** Most characters beyond a limit: a service may cut the connection of a much larger body before it answers. */
const FAR = 100_000

/** Generates bodies with and without optional keys, and with every allowed null and unusual text. */
export function validBodies(schema: Schema, seed: number, prepare: Prepare): Variant[] {
  const wishes = ['none', 'all', ...Array.from({ length: 6 }, () => 'some' as const)] as const
  const made = wishes.map((optional, index) => ({
    what: `${optional} of the optional keys`,
    body: prepare(generate(schema, seed + index, { optional })),
  }))
  const base = createBase(schema, seed, prepare)
  const special = [null, ODD].flatMap((value) =>
    listPlaces(schema, base)
      .filter((place) => fits(place.schema, value))
      .map((place) => variantAt(base, place, `is ${JSON.stringify(value)}`, value)),
  )
  return [...made, ...special].map((variant) => checked(schema, variant))
}

/** Generates bodies at their limits: each text and list at its minimum and maximum length, in ASCII and beyond. */
export function bodiesAtLimits(schema: Schema, seed: number, prepare: Prepare): Variant[] {
  const base = createBase(schema, seed, prepare)
  const variants = listPlaces(schema, base).flatMap((place) => {
    const { minLength, maxLength, maxItems, items } = place.schema
    const lengths = [minLength, maxLength].filter((length) => length !== undefined)
    return [
      ...lengths.flatMap((length) => textsOfLength(base, place, length, seed)),
      ...(maxItems !== undefined && items
        ? [variantAt(base, place, 'has no items', []), withItems(base, place, maxItems, seed)]
        : []),
    ].filter(({ body }) => fits(place.schema, valueAt(body, place.path)))
  })
  return variants.map((variant) => checked(schema, variant))
}

/** Reports whether a schema forbids anything of this kind of fault. */
export function forbids(schema: Schema, fault: Fault): boolean {
  const { required = [], additionalProperties, minLength, maxLength, maxItems, enum: choices, pattern, format } = schema
  const here = {
    missing: required.length > 0,
    types: schema.type !== undefined,
    lengths: minLength !== undefined || maxLength !== undefined || maxItems !== undefined,
    undeclared: additionalProperties === false,
    values: choices !== undefined || (pattern !== undefined && hostileTexts(schema).length > 0) || format === 'uri',
  }
  return here[fault] || innerSchemas(schema).some((inner) => forbids(inner, fault))
}

/** Generates one body per fault of this kind that the schema forbids. */
export function invalidBodies(schema: Schema, fault: Fault, seed: number, prepare: Prepare): Variant[] {
  const base = createBase(schema, seed, prepare)
  const variants = listPlaces(schema, base).flatMap((place) => FAULTS[fault](place, base, seed))
  return variants.filter(({ body }) => !fits(schema, body))
}

const WRONG = [null, true, 0, 1.5, 'text', [], {}, ['text'], { key: 'text' }, [[]]]
const UNDECLARED = ['undeclared', '__proto__', 'constructor', 'toString', '', ' ']

const FAULTS: Record<Fault, (place: Place, base: unknown, seed: number) => Variant[]> = {
  missing: (place, base) =>
    place.required && place.path.length > 0
      ? [{ what: `${nameOf(place)} is missing`, body: removeAt(base, place.path) }]
      : [],
  types: (place, base) => WRONG.map((value) => variantAt(base, place, `is ${JSON.stringify(value)}`, value)),
  lengths: (place, base, seed) => {
    const { minLength = 0, maxLength, maxItems, items } = place.schema
    const far = (max: number) => generateText(place.schema, seed, Math.min(max * 10, max + FAR))
    return [
      ...(minLength > 0 ? [variantAt(base, place, 'is empty', '')] : []),
      ...(maxLength === undefined
        ? []
        : [
            ...textsOfLength(base, place, maxLength + 1, seed),
            variantAt(base, place, 'is far too long', far(maxLength)),
          ]),
      ...(maxItems !== undefined && items ? [withItems(base, place, maxItems + 1, seed)] : []),
    ]
  },
  undeclared: ({ path, schema }, base) =>
    schema.additionalProperties === false
      ? UNDECLARED.map((key) => ({
          what: `${nameOf({ path })} has the key ${JSON.stringify(key)}`,
          body: extendAt(base, path, key, 1),
        }))
      : [],
  values: (place, base) =>
    wrongValues(place.schema).map((value) => variantAt(base, place, `is ${JSON.stringify(value)}`, value)),
}

/** Texts that break a pattern of the contracts, or a program that does not expect them. */
const HOSTILE = [
  ...['', '.', '..', '../up.plan', 'relative/path', 'C:\\work', ' /work', 'a/b', 'a\\b', 'a b', 'a.b', 'plän', 'ä'],
  ...['-', '-x', '-out', '-destroy', '--help', '-var=x=y', '_x', '1st', 'x'.repeat(129)],
  ...['f'.repeat(63), 'f'.repeat(65), 'F'.repeat(64), 'g'.repeat(64)],
  ...['a\n', 'two\nlines', 'two\r\nlines', 'two\rlines', '\nsubject', 'subject\n'],
]

const hostileTexts = ({ pattern = '' }: Schema) => HOSTILE.filter((text) => !new RegExp(pattern, 'u').test(text))

function wrongValues(schema: Schema): unknown[] {
  const choices = schema.enum ?? schema.oneOf?.flatMap((branch) => branch.enum ?? []) ?? []
  const misspelt = choices.flatMap((each) =>
    typeof each === 'string' ? [each.toUpperCase(), `${each} `, each.slice(0, -1), [each]] : [],
  )
  const addresses = schema.format === 'uri' ? ['', 'no address', '/path', '//example.com/x'] : []
  return [...misspelt, ...(schema.pattern === undefined ? [] : hostileTexts(schema)), ...addresses]
}

const createBase = (schema: Schema, seed: number, prepare: Prepare) =>
  prepare(generate(schema, seed, { optional: 'all', full: true }))

const variantAt = (base: unknown, place: Place, what: string, value: unknown): Variant => ({
  what: `${nameOf(place)} ${what}`,
  body: replaceAt(base, place.path, value),
})

const textsOfLength = (base: unknown, place: Place, length: number, seed: number): Variant[] => [
  variantAt(base, place, `has ${length} characters`, generateText(place.schema, seed, length)),
  variantAt(base, place, `has ${length} characters of ASCII`, 'x'.repeat(length)),
  variantAt(base, place, `has ${length} characters of two UTF-16 units each`, ASTRAL.repeat(length)),
]

function withItems(base: unknown, place: Place, count: number, seed: number): Variant {
  const { items = {} } = place.schema
  const values = Array.from({ length: count }, (_, index) => generate(items, seed + index, { optional: 'none' }))
  return variantAt(base, place, `has ${count} items`, values)
}

function checked(schema: Schema, variant: Variant): Variant {
  const [fault] = findFaults(schema, variant.body)
  if (fault) throw new Error(`the suite made a body that does not fit its contract: ${variant.what}: ${fault}`)
  return variant
}

/** One part of a body. The path consists of keys and indices from the root. */
interface Place {
  path: (string | number)[]
  schema: Schema
  required: boolean
}

/** Lists every declared part of a value, the root first. Only the first item of a list is visited. */
function listPlaces(schema: Schema, value: unknown, path: Place['path'] = [], required = true): Place[] {
  const branches = schema.oneOf ?? schema.anyOf
  const places: Place[] = [{ path, schema, required }]
  if (branches)
    return [
      ...places,
      ...branches
        .filter(({ type }) => type !== 'null')
        .flatMap((branch) => listPlaces(branch, value, path, required).slice(1)),
    ]
  for (const part of schema.allOf ?? []) places.push(...listPlaces(part, value, path, required).slice(1))
  if (isRecord(value))
    for (const [key, inner] of Object.entries(schema.properties ?? {}))
      if (Object.hasOwn(value, key))
        places.push(...listPlaces(inner, value[key], [...path, key], schema.required?.includes(key) ?? false))
  if (Array.isArray(value) && value.length > 0 && schema.items)
    places.push(...listPlaces(schema.items, value[0], [...path, 0], false))
  return places
}

const nameOf = ({ path }: Pick<Place, 'path'>): string => ['body', ...path].join('.')

/** Returns a copy of the document with another value at the path. */
function replaceAt(root: unknown, path: Place['path'], value: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  if (Array.isArray(root)) return root.map((each, index) => (index === key ? replaceAt(each, rest, value) : each))
  if (!isRecord(root)) throw new Error(`there is no ${String(key)}`)
  return Object.fromEntries(
    Object.entries(root).map(([name, each]) => [name, name === key ? replaceAt(each, rest, value) : each]),
  )
}

/** Returns a copy of the document without the key at the end of the path. */
function removeAt(root: unknown, path: Place['path']): unknown {
  const parent = path.slice(0, -1)
  return replaceAt(
    root,
    parent,
    Object.fromEntries(Object.entries(Object(valueAt(root, parent))).filter(([name]) => name !== path.at(-1))),
  )
}

/** Returns a copy with one more key in the object at the path. `__proto__` becomes an ordinary key. */
function extendAt(root: unknown, path: Place['path'], key: string, value: unknown): unknown {
  return replaceAt(root, path, Object.fromEntries([...Object.entries(Object(valueAt(root, path))), [key, value]]))
}

function valueAt(root: unknown, path: Place['path']): unknown {
  let value = root
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  return value
}
