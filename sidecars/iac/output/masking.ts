import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { type OutputFiles, readEnd } from './files.ts'
import { formsOf } from './secrets.ts'

/** The mark, in the engine's own words for a hidden value. */
const HIDDEN = Buffer.from('(sensitive value)')
const CHUNK = 256 * 1024

const matchers = new WeakMap<readonly string[], Matcher>()

/** Returns the matcher for secrets in all their forms. Cached by the list, which must not change later. */
export function matcherOf(secrets: readonly string[]): Matcher {
  const known = matchers.get(secrets)
  if (known) return known
  const forms = new Map(
    secrets.flatMap((secret) => [...formsOf(secret)].map((form) => [form.toString('latin1'), form])),
  )
  const matcher = new Matcher(forms.values())
  matchers.set(secrets, matcher)
  return matcher
}

/**
 * Masks secrets in an output file, plain and encoded: the code of a repository can read the environment.
 * @param credentials secrets of the environment and of the files that a job was given
 */
export async function hideCredentials(path: string, credentials: readonly string[]): Promise<void> {
  const matcher = matcherOf(credentials)
  if (matcher.isEmpty) return
  const input = await open(path)
  const copy = `${path}.masked`
  let output: FileHandle | null = null
  try {
    if (!(await holdsSecrets(input, matcher))) return
    output = await open(copy, 'w', 0o600)
    for await (const { bytes } of maskedParts(input, matcher)) await output.write(bytes)
    await rename(copy, path)
  } catch (error) {
    await rm(copy, { force: true })
    throw error
  } finally {
    await input.close()
    await output?.close()
  }
}

async function holdsSecrets(file: FileHandle, matcher: Matcher): Promise<boolean> {
  for await (const { hidden } of maskedParts(file, matcher)) if (hidden) return true
  return false
}

/** Yields the masked text in parts, and holds back the length of the longest form, because a secret may continue. */
async function* maskedParts(file: FileHandle, matcher: Matcher): AsyncGenerator<{ bytes: Buffer; hidden: boolean }> {
  let waiting = Buffer.alloc(0)
  let open = 0
  for (let at = 0; ; ) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, at)
    at += bytesRead
    const text = Buffer.concat([waiting, buffer.subarray(0, bytesRead)])
    const settled = bytesRead === 0 ? text.length : Math.max(0, text.length - matcher.longest)
    const matches = matcher.find(text, open).filter(({ start }) => start < settled)
    yield { bytes: replace(text.subarray(0, settled), matches, open > 0), hidden: matches.length > 0 }
    if (bytesRead === 0) return
    waiting = Buffer.from(text.subarray(settled))
    open = Math.max(0, (matches.at(-1)?.end ?? 0) - settled)
  }
}

/** Returns the text with marks instead of matches. `goesOn`: the first one continues a match that has its mark. */
export function replace(text: Buffer, matches: Match[], goesOn = false): Buffer {
  if (matches.length === 0) return text
  const pieces: Buffer[] = []
  let at = 0
  for (const [index, { start, end }] of matches.entries()) {
    pieces.push(text.subarray(at, start), ...(goesOn && index === 0 ? [] : [HIDDEN]))
    at = end
  }
  return Buffer.concat([...pieces, text.subarray(at)])
}

/** Reads the last whole lines of a running job, masked, at most `bytes` per stream. */
export async function readLiveOutput(
  files: OutputFiles,
  credentials: readonly string[],
  bytes: number,
): Promise<{ stdout: string; stderr: string }> {
  const matcher = matcherOf(credentials)
  const tail = async (path: string) => {
    // Reads more than it shows: otherwise the rest of a secret that begins before the cut would be visible.
    const text = await readEnd(path, bytes + matcher.longest)
    const hidden = replace(text, matcher.find(text)).toString('utf8')
    const isCut = text.length >= bytes + matcher.longest
    const cut = Math.max(hidden.length - bytes, isCut ? matcher.longest : 0)
    const start =
      cut <= 0 || hidden[cut - 1] === '\n' ? Math.max(0, cut) : hidden.indexOf('\n', cut) + 1 || hidden.length
    const lines = hidden.slice(start)
    return lines.includes('\n') ? lines.slice(0, lines.lastIndexOf('\n') + 1) : ''
  }
  const [stdout, stderr] = await Promise.all([tail(files.stdout), tail(files.stderr)])
  return { stdout, stderr }
}

/** The position of a pattern and its end. */
interface Match {
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
