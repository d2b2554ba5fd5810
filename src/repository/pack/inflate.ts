import zlib from 'pako/lib/zlib/inflate.js'
import ZStream from 'pako/lib/zlib/zstream.js'
import type { Slices } from '../../base/slices.ts'

/** Compressed bytes passed at once; they take a millisecond at most, even as empty blocks and codes. */
const PIECE_BYTES = 1_024
/** Contents read at once. */
const CHUNK_BYTES = 64 * 1024
/** Window of 32 KiB, as zlib wraps contents (RFC 1950). */
const WINDOW_BITS = 15
/** Mode for a complete output: a stream that ends in its first piece needs no window. */
const FINISH = 4
const [OK, STREAM_END, BUFFER_ERROR] = [0, 1, -5]

/** Shared target of unwanted contents, which no stream reads back. */
const NOWHERE = new Uint8Array(CHUNK_BYTES)

/**
 * Inflates a zlib stream within other data and finds its end, which the web platform's stream cannot report. Allocates
 * `size` bytes, or none for unwanted contents; the library's one-call interface needs 50 KB for each stream, too much
 * for packs of many small objects.
 * @param range start of the stream in `source`, and its latest end
 * @param size required length of the contents
 * @returns the contents, if wanted, and the position after the stream
 * Errors: plain ones for damaged data and for any other length; the reason of the signal of the slices.
 */
export async function inflate(
  source: Uint8Array,
  range: { start: number; end: number },
  { size, wanted, slices }: { size: number; wanted: boolean; slices: Slices },
): Promise<{ contents: Uint8Array<ArrayBuffer> | null; end: number }> {
  const contents = wanted ? new Uint8Array(size) : null
  const stream = new ZStream()
  zlib.inflateInit2(stream, WINDOW_BITS)
  stream.input = source
  stream.next_in = range.start
  stream.output = contents ?? NOWHERE
  let written = 0
  for (let status = OK; status !== STREAM_END; ) {
    const [from, to] = [stream.next_in, contents ? written : 0]
    stream.avail_in = Math.min(range.end - from, PIECE_BYTES)
    stream.next_out = to
    stream.avail_out = Math.min(size - written, CHUNK_BYTES)
    status = zlib.inflate(stream, FINISH)
    if (status !== OK && status !== STREAM_END && status !== BUFFER_ERROR)
      throw new Error('the compressed data is damaged')
    const hasMoved = stream.next_in > from || stream.next_out > to
    written += stream.next_out - to
    if (status !== STREAM_END && !hasMoved) throw stuck(range.end === from)
    if (slices.due()) await slices.pause()
  }
  if (written !== size) throw new Error('the compressed data is shorter than it says')
  return { contents, end: stream.next_in }
}

/** Creates the error of a stream that lacks input or whose contents exceed the size. */
const stuck = (atEnd: boolean) => new Error(`the compressed data is ${atEnd ? 'cut' : 'longer than it says'}`)
