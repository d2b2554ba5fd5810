import { type FileHandle, open } from 'node:fs/promises'
import { type ByteMatcher, matcherOf, replace } from './masking.ts'

/** Bytes of a stream that are read at once; a longer line is returned in parts. */
const CHUNK = 256 * 1024
const NEWLINE = 0x0a

interface Point {
  /** Bytes of the file. */
  raw: number
  /** Bytes of the masked text. */
  masked: number
  /** Number of the following bytes that belong to a secret whose mark has been written. */
  open: number
}

/** The points from which the masking of one file can continue. */
interface Progress {
  /** The identity that distinguishes the file from a later one at the same path. */
  file: string
  matcher: ByteMatcher
  points: Point[]
}

/** A part of a stream, and the offset of the next one. */
type Piece = { text: string; next: number }

const START: Point = { raw: 0, masked: 0, open: 0 }

/**
 * Reads the output of jobs from an offset on. Offsets count the bytes of the masked text, so that they stay valid when
 * the file is masked at the end. A piece ends with a line, and never inside a secret of several lines. Beginnings of
 * pieces are cached; without them (too many jobs) masking starts at the first byte.
 */
export class OutputFollower {
  readonly #known = new Map<string, Progress>()

  /** Reads a piece from an earlier `next`, or 0, on. `ended`: an unfinished last line is complete. */
  async read(path: string, secrets: readonly string[], from: number, ended: boolean): Promise<Piece> {
    const file = await open(path).catch(() => null)
    if (!file) return { text: '', next: from }
    try {
      const progress = await this.#progressOf(path, file, matcherOf(secrets))
      return await readPiece(file, progress, from, ended)
    } finally {
      await file.close()
    }
  }

  async #progressOf(path: string, file: FileHandle, matcher: ByteMatcher): Promise<Progress> {
    const { ino, birthtimeNs, size } = await file.stat({ bigint: true })
    const identity = `${ino}-${birthtimeNs}`
    const known = this.#known.get(path)
    const isSame = known?.file === identity && known.matcher === matcher && (known.points.at(-1)?.raw ?? 0) <= size
    const progress = isSame ? known : { file: identity, matcher, points: [START] }
    this.#known.delete(path)
    this.#known.set(path, progress)
    const oldest = this.#known.keys().next().value
    // Two files a job.
    if (this.#known.size > 512 && oldest !== undefined) this.#known.delete(oldest)
    return progress
  }
}

async function readPiece(
  file: FileHandle,
  { matcher, points }: Progress,
  from: number,
  ended: boolean,
): Promise<Piece> {
  const wanted = CHUNK + matcher.longest
  for (let at = points.findLast(({ masked }) => masked <= from) ?? START; ; ) {
    const available = Math.max(0, Math.min(wanted, (await file.stat()).size - at.raw))
    const { buffer, bytesRead } = await file.read(Buffer.alloc(available), 0, available, at.raw)
    const text = buffer.subarray(0, bytesRead)
    const length = bytesRead < wanted && ended ? bytesRead : settledLength(text, matcher, bytesRead === wanted)
    if (length === 0) return { text: '', next: from }
    const matches = matcher.find(text, at.open).filter(({ start }) => start < length)
    const masked = replace(text.subarray(0, length), matches, at.open > 0)
    const next: Point = {
      raw: at.raw + length,
      masked: at.masked + masked.length,
      open: Math.max(0, (matches.at(-1)?.end ?? 0) - length),
    }
    remember(points, next)
    if (next.masked > from)
      return { text: masked.subarray(Math.max(0, from - at.masked)).toString('utf8'), next: next.masked }
    at = next
  }
}

function remember(points: Point[], point: Point): void {
  if (point.masked <= (points.at(-1)?.masked ?? 0)) return
  points.push(point)
  if (points.length > 1024) points.splice(0, points.length, ...points.filter((_, index) => index % 2 === 0))
}

/**
 * Returns the number of bytes that can be masked without the following ones: whole lines, unless a secret of several
 * lines may have begun in them; of a line that fills the text, all that no secret can reach beyond.
 */
function settledLength(text: Buffer, matcher: ByteMatcher, isFull: boolean): number {
  const lines = wholeLines(text, matcher)
  if (lines > 0 || !isFull) return lines
  let cut = text.length - matcher.longest
  // A character of several bytes stays whole.
  for (let back = 0; back < 3 && cut > 1 && ((text[cut] ?? 0) & 0xc0) === 0x80; back++) cut--
  return cut
}

function wholeLines(text: Buffer, matcher: ByteMatcher): number {
  let end = text.lastIndexOf(NEWLINE) + 1
  while (end > 0) {
    const begun = matcher.beginsBefore(text.subarray(0, end))
    if (begun === null) return end
    end = begun === 0 ? 0 : text.lastIndexOf(NEWLINE, begun - 1) + 1
  }
  return 0
}
