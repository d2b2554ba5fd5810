import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { CONTRACTS, readContract } from '../../../contracts/conformance/document.ts'
import { generate } from '../../../contracts/conformance/schema/generate.ts'
import { findFaults, fits } from '../../../contracts/conformance/schema/schema.ts'
import { bodiesAtLimits, forbids, invalidBodies, validBodies } from '../../../contracts/conformance/schema/variants.ts'

const bodies = (await Promise.all(CONTRACTS.map(readContract))).flatMap(({ name, operations }) =>
  operations.flatMap(({ id, body }) =>
    body ? [{ name: `${name} ${id}`, schema: body.schema, examples: body.examples }] : [],
  ),
)
const itself = (body: unknown) => body
/** Builds an independent validator of the same schema. It counts UTF-16 units, so limits are compared in ASCII. */
const zod = (schema: object) => z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])

describe.each(bodies)('the bodies of $name', ({ schema, examples }) => {
  it('come in variants that fit, in the eyes of another validator too', () => {
    for (const seed of [1, 2, 3]) {
      for (const { what, body } of validBodies(schema, seed, itself))
        expect(zod(schema).safeParse(body).error?.issues, what).toBeUndefined()
      for (const { what, body } of bodiesAtLimits(schema, seed, itself))
        expect(findFaults(schema, body), what).toEqual([])
    }
    for (const example of examples) expect(findFaults(schema, example)).toEqual([])
  })

  it('come in variants that do not fit, in the eyes of another validator too', () => {
    for (const fault of ['missing', 'types', 'lengths', 'values', 'undeclared'] as const) {
      const variants = invalidBodies(schema, fault, 1, itself)
      expect(variants.length > 0, fault).toBe(forbids(schema, fault))
      // The other implementation does not see a key named __proto__.
      for (const { what, body } of fault === 'undeclared' ? [] : variants)
        expect(zod(schema).safeParse(body).success, what).toBe(false)
      for (const { what, body } of variants) expect(fits(schema, body), what).toBe(false)
    }
    expect(forbids(schema, 'types') && forbids(schema, 'missing')).toBe(true)
  })

  it('are the same for the same seed', () => {
    const made = (seed: number) => JSON.stringify(validBodies(schema, seed, itself))
    expect(made(5)).toBe(made(5))
    expect(made(5)).not.toBe(made(6))
  })
})

describe('the validator', () => {
  const text = { type: 'string', minLength: 1, maxLength: 2 } as const
  it.each([
    [text, '😀😀', true],
    [text, '😀😀😀', false],
    [{ type: ['string', 'null'] } as const, null, true],
    [{ type: 'integer', minimum: 400, maximum: 599 } as const, 600, false],
    [{ type: 'integer' } as const, 1.5, false],
    [{ const: 'ok' }, 'OK', false],
    [{ oneOf: [{ type: 'string' }, { type: 'string' }] } as { oneOf: { type: 'string' }[] }, 'x', false],
    [{ type: 'string', format: 'uuid' } as const, 'none', false],
    [{ type: 'string', format: 'date-time' } as const, '2026-01-31T23:59:58Z', true],
    [{ type: 'string', format: 'date-time' } as const, '2026-01-31 23:59', false],
    [{ type: 'string', format: 'uri' } as const, 'no address', false],
    [{ type: 'array', maxItems: 1 } as const, [1, 2], false],
    [{ type: 'object', required: ['a'] } as const, { b: 1 }, false],
    [
      { type: 'object', properties: { a: {} }, additionalProperties: false } as const,
      JSON.parse('{"__proto__": 1}'),
      false,
    ],
    [{ type: 'object', additionalProperties: { type: 'string' } } as const, { a: 1 }, false],
  ])('%j takes %j: %s', (schema, value, fitting) => {
    expect(fits(JSON.parse(JSON.stringify(schema)), value)).toBe(fitting)
  })

  it('makes values of every type', () => {
    for (let seed = 0; seed < 50; seed++) expect(() => generate({}, seed, { optional: 'all' })).not.toThrow()
  })
})
