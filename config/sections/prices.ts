import * as v from 'valibot'
import type { ModelPrices } from '../types.ts'

const dollars = v.pipe(v.number('must be a number'), v.finite('must be a number'), v.minValue(0, 'must be at least 0'))
const price = v.object(
  { input: dollars, output: dollars, cached_input: v.exactOptional(dollars), cache_write: v.exactOptional(dollars) },
  ({ expected }) => (expected === 'Object' ? 'must be a mapping' : 'is required'),
)

/** Prices by model pattern; `input` and `output` are required. */
export const prices = v.optional(
  v.pipe(
    v.unknown(),
    v.check((value) => !Array.isArray(value), 'must be a mapping'),
    v.record(v.string(), price, 'must be a mapping'),
  ),
  (): ModelPrices => ({}),
)
