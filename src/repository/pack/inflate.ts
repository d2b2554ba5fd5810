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
 * Makes a function that inflates one zlib stream after another within other data and finds its end, which the web
 * platform's stream cannot report. All share one state: its tables take 10 KB, and those of 300,000 objects would leave
 * the memory of the process in pieces that it never gives back.
 */
export function createInflater() {
  const stream = new ZStream()
  zlib.inflateInit2(stream, WINDOW_BITS)
  /**
   * @param range start of the stream in `source`, and its latest end
   * @param size required length of the contents
   * @param target takes the contents, `size` bytes; null if they are unwanted
   * @returns the position after the stream
   * Errors: plain ones for damaged data and for any other length; the reason of the signal of the slices.
   */
  return async (
    source: Uint8Array,
    range: { start: number; end: number },
    { size, target, slices }: { size: number; target: Uint8Array | null; slices: Slices },
  ): Promise<number> => {
    restart(stream)
    stream.input = source
    stream.next_in = range.start
    stream.output = target ?? NOWHERE
    let written = 0
    for (let status = OK; status !== STREAM_END; ) {
      const [from, to] = [stream.next_in, target ? written : 0]
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
    return stream.next_in
  }
}

/** The state in which a stream begins. */
const BEGINNING = { mode: 1, last: 0, havedict: 0, dmax: 32_768, head: null, hold: 0, bits: 0, sane: 1, back: -1 }
const WITHOUT_WINDOW = { wsize: 0, whave: 0, wnext: 0, window: null, total: 0 }

/** Does what `inflateReset` of the library does, which makes new tables each time. */
function restart({ state }: ZStream): void {
  Object.assign(state, BEGINNING, WITHOUT_WINDOW)
  state.lencode = state.lendyn
  state.distcode = state.distdyn
}

/** Creates the error of a stream that lacks input or whose contents exceed the size. */
const stuck = (atEnd: boolean) => new Error(`the compressed data is ${atEnd ? 'cut' : 'longer than it says'}`)
