import type { Slices } from '../base/slices.ts'
import { notGit, readPackets } from './packets.ts'

/** Line limit for isomorphic-git, which searches references in quadratic time; HEAD is in the first line. */
const MAX_LINES = 64
const MAX_LINE_BYTES = 4_096
const FLUSH = Uint8Array.of(0x30, 0x30, 0x30, 0x30)
/** Packets between two checks of the clock. */
const BATCH = 1_024

/** Returns the first lines of a list of references, terminated. Errors: plain ones for no git, or lines over 4 KiB. */
export function takeFirstLines(answer: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  let [lines, length] = [0, 0]
  for (const { kind, start, end } of readPackets(answer)) {
    if (kind === 'data' && ++lines > MAX_LINES) break
    checkLine(start, end)
    length = end
  }
  return join([answer.subarray(0, length), FLUSH])
}

function checkLine(start: number, end: number): void {
  if (end - start > MAX_LINE_BYTES) throw new Error('a line of the git server is too long')
}

const [PACK_BAND, PROGRESS_BAND, ERROR_BAND] = [1, 2, 3]

/**
 * Separates the pack of an answer from the lines before it. The pack is assembled in the answer's own bytes, to avoid a
 * second copy. Errors: plain ones for an answer that is not git's and for a server that refuses; the reason of the
 * slices' signal.
 */
export async function partAnswer(answer: Uint8Array<ArrayBuffer>, slices: Slices) {
  const lines: Uint8Array<ArrayBuffer>[] = []
  let [length, packets] = [0, 0]
  for (const { kind, start, end } of readPackets(answer)) {
    if (++packets % BATCH === 0 && slices.due()) await slices.pause()
    if (kind === 'control' || start === end) continue
    const band = answer[start]
    if (band === PACK_BAND) {
      answer.copyWithin(length, start + 1, end)
      length += end - start - 1
    } else if (band === ERROR_BAND || startsWithError(answer, start, end)) {
      throw new Error('the server refused to send the commit')
    } else if (band !== PROGRESS_BAND) {
      if (length > 0 || lines.length >= MAX_LINES) throw notGit()
      checkLine(start, end)
      lines.push(answer.slice(start - 4, end))
    }
  }
  return { lines: join([...lines, FLUSH]), pack: answer.subarray(0, length) }
}

/** Reports whether a line begins with `ERR `. */
const startsWithError = (bytes: Uint8Array, start: number, end: number): boolean =>
  new TextDecoder().decode(bytes.subarray(start, Math.min(end, start + 4))) === 'ERR '

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const part of parts) {
    all.set(part, offset)
    offset += part.length
  }
  return all
}
