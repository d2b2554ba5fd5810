/** The parts of pako 1 that are used here: its zlib itself. The package brings no types of its own. */
declare module 'pako/lib/zlib/zstream.js' {
  /** Where a stream stands in its input and its output, as in zlib. */
  export default class ZStream {
    input: Uint8Array
    next_in: number
    avail_in: number
    output: Uint8Array
    next_out: number
    avail_out: number
  }
}

declare module 'pako/lib/zlib/inflate.js' {
  import type ZStream from 'pako/lib/zlib/zstream.js'

  const zlib: {
    inflateInit2(stream: ZStream, windowBits: number): number
    /** Goes on until input or output is used up, or the stream has ended. Answers a status of zlib. */
    inflate(stream: ZStream, flush: number): number
  }
  export default zlib
}
