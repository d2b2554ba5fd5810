import { finish } from './slices.ts'

/** A place in a text: from `start` up to `end`, in units of a string. */
export interface Match {
  start: number
  end: number
}

/** Number of units in a block of the table: short enough for many texts and few patterns. */
const BLOCK = 3
const TABLE = 1 << 18
/** Longest beginning of the patterns that is looked up. */
const MAX_BEGINNING = 64
/** Longest piece of a pattern that is searched for, so that a place takes the same time however long the pattern is. */
const MAX_PIECE = 256
/** Places between two steps of a search; at each one the table is read once. */
const STEP = 1_024
/** Longest pattern that is compared unit by unit. */
const SHORT = 16
type Accepts = (pattern: string, start: number) => boolean

/**
 * Finds many strings in a text, after Wu and Manber: a table gives the distance to the next place where one may begin.
 * There a bisection finds the longest one, so that the time does not grow with the number of patterns, however similar
 * they are. A longer pattern is searched for in pieces, of which a match may be one alone. Bytes are searched as text
 * in Latin 1.
 */
export class Matcher {
  /** Units of the longest piece. */
  readonly longest: number
  readonly #beginning: number
  readonly #shift: Uint8Array
  /** The pieces of all patterns, sorted. */
  readonly #patterns: readonly string[]
  /** Where the patterns with each beginning stand: the first and the last index. */
  readonly #groups = new Map<string, { first: number; last: number }>()
  /** For each pattern the index of the longest other one that it begins with; -1 for none. */
  readonly #shorter: Int32Array

  /** Builds the tables. Each pattern has at least three units. */
  constructor(patterns: Iterable<string>) {
    this.#patterns = [...new Set(piecesOf(patterns))].sort((a, b) => (a < b ? -1 : 1))
    const lengths = this.#patterns.map(({ length }) => length)
    this.longest = lengths.reduce((a, b) => Math.max(a, b), 0)
    this.#beginning = lengths.reduce((a, b) => Math.min(a, b), MAX_BEGINNING)
    this.#shift = new Uint8Array(this.isEmpty ? 0 : TABLE).fill(this.#beginning - BLOCK + 1)
    this.#shorter = new Int32Array(this.#patterns.length)
    for (const [index, pattern] of this.#patterns.entries()) this.#add(pattern, index)
  }

  #add(pattern: string, index: number): void {
    let shorter = index - 1
    while (shorter >= 0 && !pattern.startsWith(this.#patterns[shorter] ?? '')) shorter = this.#shorter[shorter] ?? -1
    this.#shorter[index] = shorter
    const beginning = pattern.slice(0, this.#beginning)
    const group = this.#groups.get(beginning)
    if (group) {
      group.last = index
      return
    }
    this.#groups.set(beginning, { first: index, last: index })
    for (let end = BLOCK; end <= this.#beginning; end++) {
      const block = blockAt(pattern, end - BLOCK)
      this.#shift[block] = Math.min(this.#shift[block] ?? 0, this.#beginning - end)
    }
  }

  get isEmpty(): boolean {
    return this.longest === 0
  }

  /**
   * Returns all places in order, overlaps joined.
   * @param open leading units that belong to an earlier match
   */
  find(text: string, open = 0): Match[] {
    return finish(this.search(text, { open }))
  }

  /**
   * Returns the same in steps.
   * @param accepts false if a pattern does not count at this place; then a shorter one is tried
   */
  *search(text: string, { open = 0, accepts }: { open?: number; accepts?: Accepts } = {}): Generator<void, Match[]> {
    const matches: Match[] = open > 0 ? [{ start: 0, end: open }] : []
    if (this.isEmpty) return matches
    let places = 0
    for (let at = this.#beginning - BLOCK; at + BLOCK <= text.length; ) {
      if (++places % STEP === 0) yield
      const shift = this.#shift[blockAt(text, at)] ?? 1
      at += Math.max(shift, 1)
      if (shift > 0) continue
      const start = at - 1 - this.#beginning + BLOCK
      const group = this.#groups.get(text.slice(start, start + this.#beginning))
      if (!group) continue
      const rest = text.slice(start, start + this.longest)
      for (let index = this.#lastBefore(rest, group); index >= 0; index = this.#shorter[index] ?? -1) {
        const pattern = this.#patterns[index] ?? ''
        if (!beginsWith(rest, pattern) || accepts?.(pattern, start) === false) continue
        join(matches, { start, end: start + pattern.length })
        break
      }
    }
    return matches
  }

  /** Returns the index of the last pattern of a group that does not sort behind a text. */
  #lastBefore(text: string, { first, last }: { first: number; last: number }): number {
    let [low, high] = [first - 1, last]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#patterns[middle] ?? '') <= text) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** Compares short texts unit by unit, which is faster for them, and longer ones as slices. */
const beginsWith = (text: string, pattern: string): boolean =>
  pattern.length > SHORT ? text.slice(0, pattern.length) === pattern : text.startsWith(pattern)

/**
 * Yields the pieces of patterns: they overlap, so that those of a whole pattern are joined, and begin with a character.
 */
function* piecesOf(patterns: Iterable<string>): Generator<string> {
  for (const pattern of patterns) {
    const last = Math.max(0, pattern.length - MAX_PIECE)
    for (let at = 0; at < last; at += MAX_PIECE - 2) yield pieceAt(pattern, at)
    yield pieceAt(pattern, last)
  }
}

const pieceAt = (pattern: string, at: number): string =>
  pattern.slice((pattern.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at, at + MAX_PIECE)

/** Returns the table index of the three units at a position. Different blocks may share one. */
const blockAt = (text: string, at: number): number =>
  ((text.charCodeAt(at) << 10) ^ (text.charCodeAt(at + 1) << 5) ^ text.charCodeAt(at + 2)) & (TABLE - 1)

function join(matches: Match[], match: Match): void {
  const last = matches.at(-1)
  if (last && match.start < last.end) last.end = Math.max(last.end, match.end)
  else matches.push(match)
}
