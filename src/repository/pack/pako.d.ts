/** The part of pako 1 that is used here; the package brings no types of its own. */
declare module 'pako' {
  /** Inflates one stream piece by piece. */
  export class Inflate {
    constructor(options: { chunkSize: number; windowBits: number })
    /** Takes a piece and hands on what it holds. `mode` is false while more may come. Answers false for damage. */
    push(data: Uint8Array, mode: boolean): boolean
    /** Gets each chunk of contents, of `chunkSize` bytes, the last one of fewer. */
    onData: (chunk: Uint8Array<ArrayBuffer>) => void
    onEnd: (status: number) => void
    /** Whether the stream has ended, well or badly. */
    readonly ended: boolean
    /** `avail_in` says how many bytes of the last piece stand behind the end of the stream. */
    readonly strm: { readonly avail_in: number }
  }
  const pako: { Inflate: typeof Inflate }
  export default pako
}
