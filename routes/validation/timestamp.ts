import { z } from '@hono/zod-openapi'

/** Of RFC 3339: the offset is never left out, so that no two readers take it for different moments. */
const FORM = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/

/**
 * A moment in the query string. The handler gets it in UTC with all digits of its fraction, in a form that the database
 * reads; a moment before 1970, when nothing was recorded, becomes the first of that year.
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
  // A plus sign that was not encoded arrives as a blank.
  const [, day = '', time = '', fraction = '', offset = ''] =
    FORM.exec(value.trim().replace(/ (\d\d:\d\d)$/, '+$1')) ?? []
  const ms = Date.parse(`${day}T${time}${offset.toUpperCase()}`)
  // Only days that exist: some runtimes take the 30th of February for the 2nd of March.
  const midnight = new Date(`${day}T00:00:00Z`)
  if (Number.isNaN(ms) || Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null
  if (ms < 0) return '1970-01-01T00:00:00Z'
  const whole = new Date(ms).toISOString()
  return /^\d{4}-/.test(whole) ? `${whole.slice(0, 19)}${fraction}Z` : null
}
