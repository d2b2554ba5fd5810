import pako from 'pako'
import type { Slices } from '../../base/slices.ts'

/** Compressed bytes that are given at once. They can stand for a thousand times as many, which take some milliseconds. */
const PIECE_BYTES = 1_024
/** Contents that are handed on at once. */
const CHUNK_BYTES = 64 * 1024
/** Contents as zlib wraps them (RFC 1950), with a window of 32 KiB; without this the library would accept gzip too. */
const WINDOW_BITS = 15

/**
 * Inflates one zlib stream inside a larger text and finds where it ends, which the stream of the platform cannot say.
 * Memory is taken for `size` bytes only, and for one chunk where the contents are not wanted.
 * @param range where the stream begins in `source`, and where it must have ended
 * @param size the length that the contents must have
 * @returns the contents, unless they were not wanted, and the position behind the stream
 * Errors: plain ones for damaged data and for any other length; the reason of the signal of the slices.
 */
export async function inflate(
  source: Uint8Array,
  range: { start: number; end: number },
  { size, wanted, slices }: { size: number; wanted: boolean; slices: Slices },
): Promise<{ contents: Uint8Array<ArrayBuffer> | null; end: number }> {
  const inflation = new pako.Inflate({ chunkSize: Math.min(size + 1, CHUNK_BYTES), windowBits: WINDOW_BITS })
  let contents = wanted && size >= CHUNK_BYTES ? new Uint8Array(size) : null
  let written = 0
  inflation.onData = (chunk) => {
    if (written + chunk.length > size) throw new Error('the compressed data is longer than it says')
    // The only chunk of a small object is its contents as it is.
    if (contents) contents.set(chunk, written)
    else if (wanted) contents = chunk
    written += chunk.length
  }
  inflation.onEnd = () => {}
  let position = range.start
  while (!inflation.ended) {
    const piece = source.subarray(position, Math.min(position + PIECE_BYTES, range.end))
    if (piece.length === 0) throw new Error('the compressed data is cut')
    if (!inflation.push(piece, false)) throw new Error('the compressed data is damaged')
    position += piece.length - inflation.strm.avail_in
    if (slices.due()) await slices.pause()
  }
  if (written !== size) throw new Error('the compressed data is shorter than it says')
  return { contents: wanted ? (contents ?? new Uint8Array()) : null, end: position }
}
