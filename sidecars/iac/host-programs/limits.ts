const MIB = 1024 * 1024

/** Limits of the check, far above any configuration that people write. */
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

/** Sizes up to which a configuration is scanned at once; a larger one gets a thread of its own. */
export const SMALL = { fileBytes: 96 * 1024, totalBytes: 512 * 1024, manifestBytes: 128 * 1024 } as const

export interface Sizes {
  fileBytes: number
  totalBytes: number
  manifestBytes: number
}

/** Thrown when the configuration exceeds the sizes of this scan. */
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
