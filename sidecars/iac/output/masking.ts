import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { type Match, Matcher } from '../../../src/base/matcher.ts'
import { type OutputFiles, readEnd } from './files.ts'
import { formsOf } from './secrets.ts'

/** The mark, in the engine's own words for a hidden value. */
const HIDDEN = Buffer.from('(sensitive value)')
const CHUNK = 256 * 1024

const matchers = new WeakMap<readonly string[], ByteMatcher>()

/** Returns the matcher for secrets in all their forms. Cached by the list, which must not change later. */
export function matcherOf(secrets: readonly string[]): ByteMatcher {
  const known = matchers.get(secrets)
  if (known) return known
  const matcher = new ByteMatcher(secrets.flatMap((secret) => [...formsOf(secret)]))
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

async function holdsSecrets(file: FileHandle, matcher: ByteMatcher): Promise<boolean> {
  for await (const { hidden } of maskedParts(file, matcher)) if (hidden) return true
  return false
}

/** Yields the masked text in parts, and holds back the length of the longest form, because a secret may continue. */
async function* maskedParts(
  file: FileHandle,
  matcher: ByteMatcher,
): AsyncGenerator<{ bytes: Buffer; hidden: boolean }> {
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

/** Finds secrets in bytes, which it searches as text in Latin 1. */
export class ByteMatcher {
  readonly #matcher: Matcher
  /** The beginnings of patterns with several lines, each up to the end of one of its lines. */
  readonly #begun: Buffer[]

  /** Each pattern has at least three bytes. */
  constructor(patterns: readonly Buffer[]) {
    this.#matcher = new Matcher(patterns.map((pattern) => pattern.toString('latin1')))
    this.#begun = patterns.flatMap(beginnings)
  }

  get isEmpty(): boolean {
    return this.#matcher.isEmpty
  }

  /** Bytes of the longest pattern. */
  get longest(): number {
    return this.#matcher.longest
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
    return this.#matcher.find(this.isEmpty ? '' : text.toString('latin1'), open)
  }
}

function beginnings(pattern: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let end = pattern.indexOf(0x0a) + 1; end > 0 && end < pattern.length; end = pattern.indexOf(0x0a, end) + 1)
    found.push(pattern.subarray(0, end))
  return found
}
