import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { createPricing } from '../../../../src/llm/prices.ts'

interface TokenPrice {
  token_type: string
  /** US dollars for a token. */
  base_rate: number
  customization?: { type: string; threshold: number; new_rate: number }
}
interface Model {
  name: string
  token_prices: TokenPrice[]
}

/** The prices that Phoenix ships. */
async function shippedPrices(): Promise<Model[]> {
  const lib = join(dirname(process.env.PHOENIX ?? ''), '../lib')
  const python = (await readdir(lib)).find((name) => name.startsWith('python')) ?? ''
  const path = 'site-packages/phoenix/server/cost_tracking/model_cost_manifest.json'
  return (JSON.parse(await readFile(join(lib, python, path), 'utf8')) as { models: Model[] }).models
}

const price = createPricing({})
const TOKENS = 1_000
/** Dollars for so many tokens of input, of input from the cache, and of output, after so much other input. */
function ours(model: string, other = 0): (number | null)[] {
  const cost = (input_tokens: number, cached_tokens: number, output_tokens: number) =>
    price(model, { input_tokens, cached_tokens, output_tokens })
  const base = cost(other, 0, 0)
  const beyond = (dollars: number | null) => (dollars === null || base === null ? null : dollars - base)
  const [input, output] = [beyond(cost(other + TOKENS, 0, 0)), beyond(cost(other, 0, TOKENS))]
  const cached = other === 0 ? beyond(cost(TOKENS, TOKENS, 0)) : null
  return [input, cached, output]
}

it('what the platform counts for a call is what Phoenix counts, for every model that both know', async () => {
  const compared: string[] = []
  const different: string[] = []
  for (const { name, token_prices } of await shippedPrices()) {
    const [input, cached, output] = ours(name)
    if (input === null || input === undefined) continue
    compared.push(name)
    const rate = (type: string) => token_prices.find(({ token_type }) => token_type === type)
    const is = (dollars: number | null | undefined, perToken: number | undefined) =>
      dollars !== null && dollars !== undefined && Math.abs(dollars - (perToken ?? Number.NaN) * TOKENS) < 1e-9
    const usual =
      is(input, rate('input')?.base_rate) &&
      is(cached, (rate('cache_read') ?? rate('input'))?.base_rate) &&
      is(output, rate('output')?.base_rate)
    const long = ['input', 'output'].every((type, index) => {
      const { customization } = rate(type) ?? {}
      if (customization?.type !== 'threshold_based') return true
      const [more, , out] = ours(name, customization.threshold + 1)
      return is(index === 0 ? more : out, customization.new_rate)
    })
    if (!usual || !long) different.push(name)
  }
  console.log(`${compared.length} models compared`)
  expect(different).toEqual([])
  expect(compared.length).toBeGreaterThan(80)
})
