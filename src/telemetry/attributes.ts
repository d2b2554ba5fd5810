/** Values that spans of ours carry. */
export type Attributes = Record<string, string | number>

/**
 * At most `limit` attributes: the last ones in the order in which they were set, so that the oldest go first.
 * `dropped` are those before them.
 */
export function newest(attributes: Attributes, limit: number): { kept: Attributes; dropped: Attributes } {
  const entries = Object.entries(attributes)
  const cut = Math.max(0, entries.length - limit)
  return { kept: Object.fromEntries(entries.slice(cut)), dropped: Object.fromEntries(entries.slice(0, cut)) }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
