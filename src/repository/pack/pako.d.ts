/** The parts of pako 1 in use: its zlib itself. The package has no types. */
declare module 'pako/lib/zlib/zstream.js' {
  /** Positions of a stream in its input and output, as in zlib. */
  export default class ZStream {
    input: Uint8Array
    next_in: number
    avail_in: number
    output: Uint8Array
    next_out: number
    avail_out: number
    /** Of which only what `inflateReset` sets is known here. */
    state: Record<'lencode' | 'lendyn' | 'distcode' | 'distdyn', Int32Array>
  }
}

declare module 'pako/lib/zlib/inflate.js' {
  import type ZStream from 'pako/lib/zlib/zstream.js'

  const zlib: {
    inflateInit2(stream: ZStream, windowBits: number): number
    /** Continues until input, output or stream ends, and returns a zlib status. */
    inflate(stream: ZStream, flush: number): number
  }
  export default zlib
}
