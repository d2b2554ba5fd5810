import { z } from '@hono/zod-openapi'
import { checkIacPath, checkRepositoryUri } from '../../src/repository/check-input.ts'
import type { CustomParams } from './validate.ts'

type Add = { addIssue(issue: { code: 'custom'; message: string; params?: CustomParams }): void }

const fail = (ctx: Add, type: string, message: string, detail?: Record<string, unknown>) => {
  ctx.addIssue({ code: 'custom', message, params: { type, ctx: detail } })
  return z.NEVER
}
const refuse = (ctx: Add, message: string) => {
  ctx.addIssue({ code: 'custom', message })
  return z.NEVER
}

/** Makes a schema for a text without NUL characters and lone surrogates. Its limits count code points. */
export const text = (limits: { min?: number; max?: number } = {}) =>
  z
    .string()
    .superRefine((value, ctx) => {
      if (!value.isWellFormed())
        return fail(
          ctx,
          'string_unicode',
          'Input should be a valid string, unable to parse raw data as a unicode string',
        )
      if (value.includes('\0')) return refuse(ctx, 'the text must not contain NUL characters.')
      const { min = 0, max = Number.POSITIVE_INFINITY } = limits
      // Code points are counted only where that can decide.
      const length = value.length <= max || value.length > 2 * max ? value.length : [...value].length
      if (length < min)
        fail(ctx, 'string_too_short', `String should have at least ${min} character${min === 1 ? '' : 's'}`, {
          min_length: min,
        })
      if (length > max) tooLong(ctx, max)
    })
    .openapi({ type: 'string', minLength: limits.min, maxLength: limits.max, pattern: '^[^\\u0000]*$' })

const tooLong = (ctx: Add, max: number) =>
  fail(ctx, 'string_too_long', `String should have at most ${max} characters`, { max_length: max })

const HEX = /^(?:urn:uuid:)?([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/i
const PLAIN_HEX = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i

/** Makes a schema for a uuid in any of its usual spellings, converted to lower case with hyphens. */
export const uuid = () =>
  z
    .string()
    .transform((value, ctx) => {
      const bare = value.startsWith('{') && value.endsWith('}') ? value.slice(1, -1) : value
      const parts = HEX.exec(bare) ?? PLAIN_HEX.exec(bare)
      if (parts) return parts.slice(1).join('-').toLowerCase()
      return fail(ctx, 'uuid_parsing', 'Input should be a valid UUID, unable to parse the string as a UUID', {
        error: 'unable to parse the string as a UUID',
      })
    })
    .openapi({ type: 'string', format: 'uuid' })

/** Makes a schema for a list. Its items are checked only if there are not too many. */
export const listOf = <T extends z.ZodType>(item: T, { min = 0, max }: { min?: number; max: number }) =>
  z.array(z.unknown()).min(min).max(max).pipe(z.array(item))

/** Makes a schema for a key that may be omitted or null. */
export const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined)

const MAX_INTEGER = 2_147_483_647

interface IntegerLimits {
  min: number
  /** Default: the largest integer of the database. */
  max?: number
  description?: string
}

/** Makes a schema for an integer in the path, within the range of the database. */
export const pathInteger = (description: string) =>
  integerText({ min: -MAX_INTEGER }, /^\s*[+-]?\d+\s*$/).openapi({
    ...integerForm({ min: -MAX_INTEGER }),
    description,
    example: 7,
  })

/** Makes a schema for an integer in the query string. */
export const queryInteger = ({ fallback, ...limits }: IntegerLimits & { fallback: number }) =>
  integerText(limits)
    .optional()
    .transform((value) => value ?? fallback)
    .openapi({ ...integerForm(limits), default: fallback })

/** Makes a schema for an optional integer in the query string or in a header. */
export const optionalInteger = (limits: IntegerLimits) => integerText(limits).optional().openapi(integerForm(limits))

const integerForm = ({ min, max = MAX_INTEGER, description }: IntegerLimits) =>
  ({ type: 'integer', minimum: min, maximum: max, description }) as const

const integerText = ({ min, max = MAX_INTEGER }: IntegerLimits, form = /^\s*[+-]?\d+(\.0+)?\s*$/) =>
  z.string().transform((value, ctx) => {
    if (!form.test(value))
      return fail(ctx, 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer')
    const number = Number(value)
    if (number < min)
      return fail(ctx, 'greater_than_equal', `Input should be greater than or equal to ${min}`, { ge: min })
    if (number > max) return fail(ctx, 'less_than_equal', `Input should be less than or equal to ${max}`, { le: max })
    return number
  })

const TRUE = ['true', 't', 'yes', 'y', 'on', '1']
const FALSE = ['false', 'f', 'no', 'n', 'off', '0']
const inAnyCase = (word: string) =>
  [...word].map((letter) => (/[a-z]/.test(letter) ? `[${letter}${letter.toUpperCase()}]` : letter)).join('')
/** Returns the spellings of a boolean as JSON Schema. */
const spellings = (words: string[], numbers: number[]) => [
  {
    type: 'string' as const,
    pattern: `^(${words.map(inAnyCase).join('|')})$`,
    description: 'The same in words.',
  },
  { type: 'integer' as const, enum: numbers, description: 'The same as a number.' },
]
const SPELLINGS = [{ type: 'boolean' as const }, ...spellings([...TRUE, ...FALSE], [0, 1])]
export const BOOLEAN = { anyOf: SPELLINGS }
/** The JSON Schema of what `boolean` reads as true. */
export const TRUE_ALONE = { anyOf: [{ type: 'boolean' as const, enum: [true] }, ...spellings(TRUE, [1])] }
/** The JSON Schema of `boolean` where null means the same as an absent key. */
export const OPTIONAL_BOOLEAN = { anyOf: [...SPELLINGS, { type: 'null' as const }] }

/** Makes a schema for a text without line breaks and other control characters, as required for subjects of messages. */
export const line = (limits: { min: number; max: number }) =>
  text(limits)
    .superRefine((value, ctx) => {
      if (/[\n\r\v\f\u0085\u2028\u2029]/.test(value)) refuse(ctx, 'the text must be a single line.')
      else if (/\p{Cc}/u.test(value.replaceAll('\0', ''))) refuse(ctx, 'the text must not contain control characters.')
    })
    .openapi({ pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$' })

const DATE_TIME = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)$/

/** Makes a schema for an RFC 3339 time, converted to UTC with six fractional digits: `2026-03-01T14:25:30.123456Z`. */
export const timestamp = () =>
  z
    .string()
    .transform((value, ctx) => {
      const [, day, time, fraction = '', offset = ''] = DATE_TIME.exec(value.trim()) ?? []
      const moment = day === undefined ? Number.NaN : Date.parse(`${day}T${time}${offset.toUpperCase()}`)
      const utc = Number.isNaN(moment) ? '' : new Date(moment).toISOString()
      // Only existing days (31 April would become 1 May), and years that the database supports.
      const isDay = day !== undefined && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day)
      if (isDay && /^\d{4}-/.test(utc) && !utc.startsWith('0000'))
        return `${utc.slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}Z`
      return fail(
        ctx,
        'datetime_parsing',
        'Input should be a valid datetime, an RFC 3339 time with its offset from UTC',
      )
    })
    .openapi({ type: 'string', format: 'date-time' })

/** Makes a schema for an absolute `http://` or `https://` address; the host may be a bare name. */
export const webAddress = (max: number) =>
  text({ min: 1, max })
    .superRefine((value, ctx) => {
      if (!/^https?:\/\/[^\s/\\?#]/i.test(value) || /[\s\p{Cc}\\]/u.test(value) || !URL.canParse(value))
        refuse(ctx, 'the address must be an absolute http or https URL.')
    })
    .openapi({
      type: 'string',
      format: 'uri',
      pattern: '^[hH][tT][tT][pP][sS]?://[^\\s/?#]',
      minLength: 1,
      maxLength: max,
    })

/** Makes a schema for a boolean in any of its usual spellings: true, "true", "yes", "on", 1. */
export const boolean = () =>
  z
    .unknown()
    .transform((value, ctx): boolean => {
      if (typeof value === 'boolean') return value
      if (typeof value !== 'string' && typeof value !== 'number')
        return fail(ctx, 'bool_type', 'Input should be a valid boolean')
      const word = String(value).toLowerCase()
      if (TRUE.includes(word)) return true
      return FALSE.includes(word)
        ? false
        : fail(ctx, 'bool_parsing', 'Input should be a valid boolean, unable to interpret input')
    })
    .openapi(BOOLEAN)

/** Makes a schema for a list filter in which a blank text means none. `form`: its JSON Schema. */
export const filter = <T extends z.ZodType>(schema: T, form: object) =>
  z
    .preprocess((value) => (typeof value === 'string' && value.trim() === '' ? undefined : value), schema.optional())
    .openapi({ param: { allowEmptyValue: true }, ...form })

/** Makes a filter by one of these names in any letter case, because the event stream has them in upper case. */
export const choiceFilter = <const T extends readonly string[]>(names: T, description: string) =>
  filter(
    z.preprocess((value) => (typeof value === 'string' ? value.toLowerCase() : value), z.enum(names)),
    { type: 'string', enum: [...names], description },
  )

/** Makes a filter by a part of a text. */
export const textFilter = (max: number, description: string) =>
  filter(text({ max }), { type: 'string', maxLength: max, description })

/** Makes a filter by a time. */
export const timeFilter = (description: string, schema: z.ZodType<string> = timestamp()) =>
  filter(schema, { type: 'string', format: 'date-time', description })

const MAX_URI = 2_048
/** The longest path of common operating systems. */
const MAX_PATH = 4_096

/** Makes a schema for an `https://` repository URL without a password; see `checkRepositoryUri`. */
export const repositoryUri = () =>
  z
    .string()
    .transform((value, ctx) => {
      if (value.length > MAX_URI) return tooLong(ctx, MAX_URI)
      const checked = checkRepositoryUri(value)
      if (checked.ok) return checked.uri
      return refuse(ctx, checked.text)
    })
    .openapi({
      type: 'string',
      format: 'uri',
      maxLength: MAX_URI,
      pattern: '^[hH][tT][tT][pP][sS]://',
      description: '`https://` with a host; a user name is allowed, a password or token is not.',
    })

/** Makes a schema for a path inside the repository, with forward slashes; an empty text means none. */
export const repositoryPath = () =>
  text({ max: MAX_PATH })
    .transform((value, ctx) => {
      const checked = checkIacPath(value)
      if (checked.ok) return checked.path ?? undefined
      return refuse(ctx, checked.text)
    })
    .openapi({ pattern: '^(?!/|[A-Za-z]:|(.*/)?\\.\\.(/|$))[^\\u0000-\\u001f\\u007f\\\\]*$' })

/** Adds a rule about several keys, which returns its error text or null. It runs only if every key is valid. */
export const withRule = <T extends z.ZodType>(schema: T, rule: (value: z.output<T>) => string | null) =>
  schema.superRefine((value, ctx) => {
    if (ctx.issues.length > 0) return
    const message = rule(value)
    if (message) refuse(ctx, message)
  })
