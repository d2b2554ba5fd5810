/** Repeats itself for the same seed. */
export interface Random {
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number
  pick<T>(values: readonly [T, ...T[]]): T
  chance(probability: number): boolean
}

/** Mulberry32. */
export function randomFrom(seed: number): Random {
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

/** A seed of its own for each promise, so that one repeats alone as it ran among the others. */
export function seedFor(seed: number, name: string): number {
  let hash = seed | 0
  for (const character of name) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) | 0
  return hash >>> 0
}
