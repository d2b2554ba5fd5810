import { findPattern, generateFormatted, generateWords } from './patterns.ts'
import type { Random } from './random.ts'
import type { Schema } from './types.ts'

export interface Wish {
  /** Which of the optional keys are present. */
  optional: 'all' | 'none' | 'some'
  /** True chooses alternatives other than null, so that every part of the body exists and can be changed. */
  full?: boolean
}

const MAX_DEPTH = 4

/** Makes a value that fits the schema. */
export function generate(schema: Schema, random: Random, wish: Wish, depth = 0): unknown {
  if ('const' in schema) return schema.const
  if (schema.enum) return random.pick(some(schema.enum))
  const branches = schema.oneOf ?? schema.anyOf
  if (branches)
    return generate(
      random.pick(some(wish.full ? branches.filter(({ type }) => type !== 'null') : branches)),
      random,
      wish,
      depth,
    )
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((each) => generate(each, random, wish, depth)))
  const types = schema.type === undefined ? undefined : [schema.type].flat()
  const type =
    types && random.pick(some(wish.full && types.length > 1 ? types.filter((each) => each !== 'null') : types))
  switch (type) {
    case undefined:
      return anything(random, depth)
    case 'null':
      return null
    case 'boolean':
      return random.chance(0.5)
    case 'integer':
    case 'number':
      return random.int(schema.minimum ?? -1000, schema.maximum ?? (schema.minimum ?? 0) + 1000)
    case 'string':
      return generateText(
        schema,
        random,
        random.int(schema.minLength ?? 0, Math.min(schema.maxLength ?? 48, Math.max(48, schema.minLength ?? 0))),
      )
    case 'array':
      return list(schema, random, wish, depth)
    case 'object':
      return object(schema, random, wish, depth)
  }
}

/** Makes a text that fits the schema. It has `length` characters when pattern and format allow that. */
export function generateText({ pattern, format, minLength = 0 }: Schema, random: Random, length: number): string {
  if (format !== undefined) return generateFormatted(format, random, length)
  if (pattern !== undefined) return findPattern(pattern).valid(random, Math.max(length, minLength, 1))
  return generateWords(random, length)
}

function list(
  { items = {}, minItems = 0, maxItems = 3 }: Schema,
  random: Random,
  wish: Wish,
  depth: number,
): unknown[] {
  const least = wish.full ? Math.max(1, minItems) : minItems
  const length =
    wish.optional === 'none'
      ? minItems
      : random.int(Math.min(least, maxItems), Math.min(maxItems, Math.max(3, minItems)))
  return Array.from({ length }, () => generate(items, random, wish, depth + 1))
}

function object(schema: Schema, random: Random, wish: Wish, depth: number): Record<string, unknown> {
  const { properties, required = [], additionalProperties = true } = schema
  if (!properties && additionalProperties === true) return freeForm(random, depth)
  const made: Record<string, unknown> = {}
  // An implementation without an addition refuses its keys.
  const known = Object.entries(properties ?? {}).filter(([, inner]) => inner['x-optional'] !== true)
  for (const [key, inner] of known)
    if (required.includes(key) || wish.optional === 'all' || (wish.optional === 'some' && random.chance(0.5)))
      made[key] = generate(inner, random, wish, depth + 1)
  if (!properties && typeof additionalProperties === 'object')
    for (let index = random.int(1, 2); index > 0; index--)
      made[generateWords(random, 8)] = generate(additionalProperties, random, wish, depth + 1)
  return made
}

function freeForm(random: Random, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: random.int(0, 3) }, () => [
      generateWords(random, random.int(1, 12)),
      anything(random, depth + 1),
    ]),
  )
}

function anything(random: Random, depth: number): unknown {
  const leaf = () =>
    random.pick([
      null,
      true,
      false,
      random.int(-9, 9),
      random.int(0, 999) / 8,
      generateWords(random, random.int(0, 12)),
    ])
  if (depth >= MAX_DEPTH) return leaf()
  return random.pick([leaf, leaf, () => [anything(random, depth + 1)], () => freeForm(random, depth)])()
}

function some<T>(values: readonly T[]): readonly [T, ...T[]] {
  const [first, ...rest] = values
  if (first === undefined && values.length === 0) throw new Error('nothing to choose from')
  return [first as T, ...rest]
}
