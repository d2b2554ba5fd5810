import { generateSync } from 'json-schema-faker'
import { fits, type Schema } from './schema.ts'

const PROBABILITY = { all: 1, some: 0.5, none: 0 }

/**
 * Generates a value that fits the schema; the same seed gives the same value.
 * @param wanted.optional the optional keys that are present
 * @param wanted.full true if alternatives other than null are chosen and lists filled, so that every part exists
 */
export function generate(
  schema: Schema,
  seed: number,
  wanted: { optional: keyof typeof PROBABILITY; full?: boolean },
): unknown {
  const { optional, full = false } = wanted
  const options = { optionalsProbability: PROBABILITY[optional], alwaysFakeOptionals: optional === 'all', maxDepth: 12 }
  const narrowed = narrow(schema, full)
  return firstFitting(
    seed,
    (each) => generateSync(narrowed, { ...options, seed: each }),
    (value) => fits(schema, value),
  )
}

/** Tries seeds until a value fits, because the generator sometimes ignores negative lookahead in a pattern. */
function firstFitting<T>(seed: number, make: (seed: number) => T, isFitting: (value: T) => boolean): T {
  for (let attempt = 0; attempt < 100; attempt++) {
    const value = make(seed + attempt * 7919)
    if (isFitting(value)) return value
  }
  throw new Error('the suite can make no value that fits its contract')
}

const MAX_ITEMS = 3

/** Drops keys of additions, which an implementation may refuse, and shrinks the body to what `full` asks for. */
function narrow(schema: Schema, full: boolean): Schema {
  const inner = (each: Schema) => narrow(each, full)
  const all = (branches: Schema[] | undefined) =>
    branches?.filter(({ type }) => !full || type !== 'null' || branches.length === 1).map(inner)
  const { properties, items, oneOf, anyOf, allOf, additionalProperties, type, minLength = 0, minItems = 0 } = schema
  return {
    ...schema,
    ...(full && Array.isArray(type) && { type: type.filter((each) => each !== 'null' || type.length === 1) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).flatMap(([key, each]) => (each['x-optional'] === true ? [] : [[key, inner(each)]])),
      ),
    }),
    ...(schema.maxLength && { maxLength: Math.max(minLength, Math.min(schema.maxLength, 48)) }),
    ...(items && {
      items: inner(items),
      minItems: full ? Math.max(1, minItems) : minItems,
      maxItems: Math.max(minItems, Math.min(schema.maxItems ?? MAX_ITEMS, MAX_ITEMS)),
    }),
    ...(oneOf && { oneOf: all(oneOf) }),
    ...(anyOf && { anyOf: all(anyOf) }),
    ...(allOf && { allOf: all(allOf) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: inner(additionalProperties) }),
  }
}

/** Generates a text of exactly `length` characters for a pattern or format that allows this length. */
export function generateText(schema: Schema, seed: number, length: number): string {
  const { minLength: _, maxLength: __, ...free } = schema
  const pattern = new RegExp(schema.pattern ?? '', 'u')
  const text = firstFitting(
    seed,
    (each) => String(generateSync(free, { seed: each })),
    (made) => pattern.test(made),
  )
  return text.slice(0, length).padEnd(length, 'x')
}

/** Derives a seed from the name of a promise, so that it behaves the same when it runs alone. */
export function deriveSeed(seed: number, name: string): number {
  let hash = seed | 0
  for (const character of name) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) | 0
  return hash >>> 0
}
