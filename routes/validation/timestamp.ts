import { z } from '@hono/zod-openapi'

/** The form of RFC 3339. The offset is required, so that the time is unambiguous. */
const FORM = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/

/**
 * Makes a schema for a time in the query string, converted to UTC with all fractional digits in a form that the
 * database reads. A time before 1970, when nothing was recorded, becomes the beginning of 1970.
 */
export const timestamp = () =>
  z
    .string()
    .transform((value, ctx) => {
      const moment = toUtc(value)
      if (moment !== null) return moment
      ctx.addIssue({
        code: 'custom',
        message: 'Input should be a valid datetime with its offset, for example 2026-01-31T23:59:59Z',
        params: { type: 'datetime_parsing' },
      })
      return z.NEVER
    })
    .openapi({ type: 'string', format: 'date-time' })

function toUtc(value: string): string | null {
  // An unencoded plus sign arrives as a blank.
  const [, day = '', time = '', fraction = '', offset = ''] =
    FORM.exec(value.trim().replace(/ (\d\d:\d\d)$/, '+$1')) ?? []
  const ms = Date.parse(`${day}T${time}${offset.toUpperCase()}`)
  // Only existing days: some runtimes parse 30 February as 2 March.
  const midnight = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(ms) || Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null
  if (ms < 0) return '1970-01-01T00:00:00Z'
  const whole = new Date(ms).toISOString()
  return /^\d{4}-/.test(whole) ? `${whole.slice(0, 19)}${fraction}Z` : null
}
