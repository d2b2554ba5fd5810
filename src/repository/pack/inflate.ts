import zlib from 'pako/lib/zlib/inflate.js'
import ZStream from 'pako/lib/zlib/zstream.js'
import type { Slices } from '../../base/slices.ts'

/** Compressed bytes that are given at once. Empty blocks and codes among them take a millisecond at most. */
const PIECE_BYTES = 1_024
/** Contents that are taken at once. */
const CHUNK_BYTES = 64 * 1024
/** Contents as zlib wraps them (RFC 1950), with a window of 32 KiB. */
const WINDOW_BITS = 15
/** Says that all of the output is there; a stream that ends in its first piece then needs no window of its own. */
const FINISH = 4
const [OK, STREAM_END, BUFFER_ERROR] = [0, 1, -5]

/** Where contents go that nobody wants. All streams share it, because none reads what it has written here. */
const NOWHERE = new Uint8Array(CHUNK_BYTES)

/**
 * Inflates one zlib stream inside a larger text and finds where it ends, which the stream of the platform cannot say.
 * Memory is taken for `size` bytes only, and for none where the contents are not wanted. The one-call interface of
 * the library takes at least 50 KB for each stream, which is too much for packs of very many small objects.
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

/** A stream does not go on when it lacks input, or when it has more contents than fit. */
const stuck = (atEnd: boolean) => new Error(`the compressed data is ${atEnd ? 'cut' : 'longer than it says'}`)
