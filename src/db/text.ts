/**
 * What PostgreSQL can store of a text: NUL characters are dropped and lone surrogates become U+FFFD.
 * Text of users, models and repositories passes here before it is written.
 */
export function storable(text: string): string
export function storable(text: string | null): string | null
export function storable(text: string | null): string | null {
  return text === null ? null : text.replaceAll('\0', '').toWellFormed()
}

/** A `LIKE` pattern that finds `text` itself anywhere. */
export const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`
