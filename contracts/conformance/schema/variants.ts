import { generate, generateText } from './generate.ts'
import { findPattern } from './patterns.ts'
import { extendAt, listPlaces, nameOf, type Place, removeAt, replaceAt } from './places.ts'
import type { Random } from './random.ts'
import { innerSchemas, type Schema } from './types.ts'
import { fits } from './validate.ts'

/** One body, and what is special about it, for example `body.cloud has 33 characters`. */
export interface Variant {
  what: string
  body: unknown
}

/** The kind of fault in an invalid body. */
export type Fault = 'missing' | 'types' | 'lengths' | 'undeclared' | 'values'

const WRONG = [null, true, 0, 1.5, 'text', [], {}, ['text'], { key: 'text' }, [[]]]
const UNDECLARED = ['undeclared', '__proto__', 'constructor', 'toString', '', ' ']
const ASTRAL = '😀'
/** A service may cut the connection of a body of many megabytes, so that its answer is never read. */
const FAR = 100_000

/**
 * Makes bodies with and without the optional keys, and with every null that is allowed.
 * @param prepare changes a generated body into one that the service accepts, for example by naming a folder that exists
 */
export function validBodies(schema: Schema, random: Random, prepare: (body: unknown) => unknown): Variant[] {
  const wishes = ['none', 'all', ...Array.from({ length: 6 }, () => 'some' as const)] as const
  const made = wishes.map((optional) => ({
    what: `${optional} of the optional keys`,
    body: prepare(generate(schema, random, { optional })),
  }))
  const base = prepare(generate(schema, random, { optional: 'all', full: true }))
  const nulls = listPlaces(schema, base)
    .filter((place) => fits(place.schema, null))
    .map((place) => ({ what: `${nameOf(place)} is null`, body: replaceAt(base, place.path, null) }))
  return [...made, ...nulls].map((variant) => checked(schema, variant))
}

/** Makes bodies at their limits: each text and list as short and as long as it may be, in ASCII and beyond. */
export function bodiesAtLimits(schema: Schema, random: Random, prepare: (body: unknown) => unknown): Variant[] {
  const base = prepare(generate(schema, random, { optional: 'all', full: true }))
  const variants = listPlaces(schema, base).flatMap((place) => atLimits(place, base, random))
  return variants.map((variant) => checked(schema, variant))
}

function atLimits({ path, schema, required: _ }: Place, base: unknown, random: Random): Variant[] {
  const { minLength, maxLength, maxItems, items, pattern, format } = schema
  const variant = (what: string, value: unknown): Variant => ({
    what: `${nameOf({ path })} ${what}`,
    body: replaceAt(base, path, value),
  })
  const variants: Variant[] = []
  if (minLength !== undefined)
    variants.push(variant(`has ${minLength} characters`, generateText(schema, random, minLength)))
  if (maxLength !== undefined) {
    variants.push(variant(`has ${maxLength} characters`, generateText(schema, random, maxLength)))
    if (pattern === undefined && format === undefined)
      variants.push(variant(`has ${maxLength} characters of ASCII`, 'x'.repeat(maxLength)))
    if (format === undefined && (pattern === undefined || fits(schema, ASTRAL)))
      variants.push(variant(`has ${maxLength} characters of two UTF-16 units each`, ASTRAL.repeat(maxLength)))
  }
  if (maxItems !== undefined && items)
    variants.push(
      variant('has no items', []),
      variant(
        `has ${maxItems} items`,
        Array.from({ length: maxItems }, () => generate(items, random, { optional: 'none' })),
      ),
    )
  return variants.filter(({ body }) => fits(schema, at(body, path)))
}

/** Whether a schema forbids anything of this kind of fault. */
export function forbids(schema: Schema, fault: Fault): boolean {
  const { required = [], additionalProperties, minLength, maxLength, maxItems, enum: choices, pattern, format } = schema
  const here = {
    missing: required.length > 0,
    types: schema.type !== undefined,
    lengths: minLength !== undefined || maxLength !== undefined || maxItems !== undefined,
    undeclared: additionalProperties === false,
    values:
      choices !== undefined || (pattern !== undefined && findPattern(pattern).invalid.length > 0) || format === 'uri',
  }
  return here[fault] || innerSchemas(schema).some((inner) => forbids(inner, fault))
}

/** Makes bodies with one fault each: every fault of this kind that the schema forbids. */
export function invalidBodies(
  schema: Schema,
  fault: Fault,
  random: Random,
  prepare: (body: unknown) => unknown,
): Variant[] {
  const base = prepare(generate(schema, random, { optional: 'all', full: true }))
  const places = listPlaces(schema, base)
  return FAULTS[fault](places, base, random).filter(({ body }) => !fits(schema, body))
}

const FAULTS: Record<Fault, (places: Place[], base: unknown, random: Random) => Variant[]> = {
  missing: (places, base) =>
    places
      .filter(({ path, required }) => required && path.length > 0)
      .map(({ path }) => ({ what: `${nameOf({ path })} is missing`, body: removeAt(base, path) })),
  types: (places, base) =>
    places.flatMap((place) =>
      WRONG.map((value) => ({
        what: `${nameOf(place)} is ${JSON.stringify(value)}`,
        body: replaceAt(base, place.path, value),
      })),
    ),
  lengths: (places, base, random) => places.flatMap((place) => beyondLimits(place, base, random)),
  undeclared: (places, base) =>
    places
      .filter((place) => place.schema.additionalProperties === false)
      .flatMap(({ path }) =>
        UNDECLARED.map((key) => ({
          what: `${nameOf({ path })} has the key ${JSON.stringify(key)}`,
          body: extendAt(base, path, key, 1),
        })),
      ),
  values: (places, base) => places.flatMap((place) => wrongValues(place, base)),
}

function beyondLimits({ path, schema }: Place, base: unknown, random: Random): Variant[] {
  const { minLength = 0, maxLength, maxItems, items } = schema
  const variant = (what: string, value: unknown): Variant => ({
    what: `${nameOf({ path })} ${what}`,
    body: replaceAt(base, path, value),
  })
  const variants: Variant[] = []
  if (minLength > 0) variants.push(variant('is empty', ''))
  if (maxLength !== undefined) {
    variants.push(variant(`has ${maxLength + 1} characters`, generateText(schema, random, maxLength + 1)))
    variants.push(variant(`has ${maxLength + 1} characters of ASCII`, 'x'.repeat(maxLength + 1)))
    variants.push(variant(`has ${maxLength + 1} characters of two UTF-16 units each`, ASTRAL.repeat(maxLength + 1)))
    variants.push(variant('is far too long', generateText(schema, random, Math.min(maxLength * 10, maxLength + FAR))))
  }
  if (maxItems !== undefined && items)
    variants.push(
      variant(
        `has ${maxItems + 1} items`,
        Array.from({ length: maxItems + 1 }, () => generate(items, random, { optional: 'none' })),
      ),
    )
  return variants
}

function wrongValues({ path, schema }: Place, base: unknown): Variant[] {
  const values: unknown[] = []
  for (const each of schema.enum ?? schema.oneOf?.flatMap((branch) => branch.enum ?? []) ?? [])
    if (typeof each === 'string') values.push(each.toUpperCase(), `${each} `, each.slice(0, -1), [each])
  if (schema.pattern !== undefined) values.push(...findPattern(schema.pattern).invalid)
  if (schema.format === 'uri') values.push('', 'no address', '/path', '//example.com/x')
  return values.map((value) => ({
    what: `${nameOf({ path })} is ${JSON.stringify(value)}`,
    body: replaceAt(base, path, value),
  }))
}

function at(body: unknown, path: Place['path']): unknown {
  let value = body
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
  return value
}

function checked(schema: Schema, variant: Variant): Variant {
  if (!fits(schema, variant.body))
    throw new Error(`the suite made a body that does not fit its contract: ${variant.what}`)
  return variant
}
