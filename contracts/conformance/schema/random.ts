/** A random generator that repeats its values for the same seed. */
export interface Random {
  /** A whole number from `low` to `high`, including both. */
  int(low: number, high: number): number
  pick<T>(values: readonly [T, ...T[]]): T
  chance(probability: number): boolean
}

/** Makes a generator with the algorithm Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  return {
    int,
    pick: (values) => values[int(0, values.length - 1)] ?? values[0],
    chance: (probability) => next() < probability,
  }
}

/** Makes a seed for each promise, so that a promise that runs alone behaves as it did among the others. */
export function deriveSeed(seed: number, name: string): number {
  let hash = seed | 0
  for (const character of name) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) | 0
  return hash >>> 0
}
