import fc from 'fast-check'

const { PROPERTY_SEED, PROPERTY_SECONDS } = process.env

/** Repeats the same inputs if it is given as `PROPERTY_SEED`. */
export const SEED = PROPERTY_SEED ? Number(PROPERTY_SEED) : Math.floor(Math.random() * 2 ** 31)
const ALL_MS = Number(PROPERTY_SECONDS ?? 75) * 1000

/**
 * Checks a property for its share of the time, at least fifty times. A failure names the seed and the smallest input.
 * @param share of all properties together, 0 to 1
 */
export async function holds<T>(
  name: string,
  share: number,
  input: fc.Arbitrary<T>,
  check: (value: T) => Promise<void>,
): Promise<void> {
  let runs = 0
  const property = fc.asyncProperty(input, async (value) => {
    runs++
    await check(value)
  })
  const found = await fc.check(property, {
    seed: SEED,
    numRuns: 100_000,
    interruptAfterTimeLimit: ALL_MS * share,
    markInterruptAsFailure: false,
  })
  console.log(`${name}: ${runs} inputs, seed ${SEED}`)
  if (!found.failed) return
  const input_text = fc.stringify(found.counterexample).slice(0, 4_000)
  throw new Error(`${name}, PROPERTY_SEED=${SEED}: ${input_text}`, { cause: found.errorInstance })
}
