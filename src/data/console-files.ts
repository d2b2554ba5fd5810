/** One file of the built console in every form that was stored beside it. */
export interface ConsoleFile {
  content_type: string
  identity: Uint8Array<ArrayBuffer>
  br?: Uint8Array<ArrayBuffer>
  gzip?: Uint8Array<ArrayBuffer>
}

/** By path below `/console/`: `index.html`, `assets/main-1A2B3C4D.js`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>
