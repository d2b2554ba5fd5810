const MIB = 1024 * 1024

/** The most that the check reads. No configuration that people write comes near to these sizes. */
export const LIMITS = {
  fileBytes: 4 * MIB,
  totalBytes: 32 * MIB,
  files: 5_000,
  tokens: 4_000_000,
  manifestBytes: 4 * MIB,
  lockBytes: MIB,
  modules: 5_000,
  entries: 200_000,
  planBytes: 1024 * MIB,
  directoryBytes: 16 * MIB,
} as const

/** Sizes of a small configuration, which is scanned at once; a larger one is scanned in a thread of its own. */
export const SMALL = { fileBytes: 96 * 1024, totalBytes: 512 * 1024, manifestBytes: 128 * 1024 } as const

export interface Sizes {
  fileBytes: number
  totalBytes: number
  manifestBytes: number
}

/** Thrown when the configuration is larger than the sizes that this scan was given. */
export class TooLarge extends Error {
  readonly file: string
  readonly limit: string
  constructor(file: string, limit: string) {
    super(limit)
    this.file = file
    this.limit = limit
  }
}

export const inMib = (bytes: number): string => `${bytes / MIB} MiB`
