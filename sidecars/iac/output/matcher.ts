/** The position of a pattern and its end. */
export interface Match {
  start: number
  end: number
}

/** Number of bytes in a block of the table: short enough for many texts and few patterns. */
const BLOCK = 3
const TABLE = 1 << 18

/** Finds many byte strings in linear time, after Wu and Manber: a table gives the distance to the next possible end. */
export class Matcher {
  /** Bytes of the longest pattern. */
  readonly longest: number
  readonly #shortest: number
  readonly #shift: Uint8Array
  /** Patterns by the block that their first `#shortest` bytes end with, the longest first. */
  readonly #candidates: (Buffer[] | undefined)[] = []
  /** The beginnings of patterns with several lines, each up to the end of one of its lines. */
  readonly #begun: Buffer[]

  /** Builds the table. Each pattern has at least three bytes. */
  constructor(patterns: Iterable<Buffer>) {
    const all = [...patterns].sort((a, b) => b.length - a.length)
    this.longest = all[0]?.length ?? 0
    this.#shortest = Math.min(all.at(-1)?.length ?? BLOCK, 255)
    this.#shift = new Uint8Array(TABLE).fill(this.#shortest - BLOCK + 1)
    this.#begun = all.flatMap(beginnings)
    for (const pattern of all) {
      for (let end = BLOCK; end <= this.#shortest; end++) {
        const block = blockAt(pattern, end - BLOCK)
        this.#shift[block] = Math.min(this.#shift[block] ?? 0, this.#shortest - end)
      }
      const last = blockAt(pattern, this.#shortest - BLOCK)
      this.#candidates[last] = [...(this.#candidates[last] ?? []), pattern]
    }
  }

  get isEmpty(): boolean {
    return this.longest === 0
  }

  /** Returns the first place in a text of whole lines at which a pattern may begin and continue; null for none. */
  beginsBefore(text: Buffer): number | null {
    let first: number | null = null
    for (const begun of this.#begun) {
      const start = text.length - begun.length
      if (start >= 0 && start < (first ?? text.length) && text.subarray(start).equals(begun)) first = start
    }
    return first
  }

  /** Returns all places in order, overlaps joined. `open`: leading bytes that belong to an earlier match. */
  find(text: Buffer, open = 0): Match[] {
    const matches: Match[] = open > 0 ? [{ start: 0, end: open }] : []
    if (this.isEmpty) return matches
    for (let at = this.#shortest - BLOCK; at + BLOCK <= text.length; ) {
      const block = blockAt(text, at)
      const shift = this.#shift[block] ?? 1
      if (shift > 0) {
        at += shift
        continue
      }
      const start = at - this.#shortest + BLOCK
      const found = this.#candidates[block]?.find((pattern) => startsWith(text, start, pattern))
      if (found) join(matches, { start, end: start + found.length })
      at++
    }
    return matches
  }
}

function beginnings(pattern: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let end = pattern.indexOf(0x0a) + 1; end > 0 && end < pattern.length; end = pattern.indexOf(0x0a, end) + 1)
    found.push(pattern.subarray(0, end))
  return found
}

/** Returns the table index of the three bytes at a position. Different bytes may share one. */
const blockAt = (bytes: Buffer, at: number): number =>
  (((bytes[at] ?? 0) << 10) ^ ((bytes[at + 1] ?? 0) << 5) ^ (bytes[at + 2] ?? 0)) & (TABLE - 1)

const startsWith = (text: Buffer, start: number, pattern: Buffer): boolean =>
  start + pattern.length <= text.length && text.compare(pattern, 0, pattern.length, start, start + pattern.length) === 0

function join(matches: Match[], match: Match): void {
  const last = matches.at(-1)
  if (last && match.start < last.end) last.end = Math.max(last.end, match.end)
  else matches.push(match)
}
