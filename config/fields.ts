import * as v from 'valibot'

type Checked<T> = { value: T } | { rule: string }

/**
 * Makes a field of the configuration file. An absent key takes the default; a key without a value (null) is an error.
 * Error texts never repeat the refused value, because it may be a secret.
 */
function field<T>(fallback: T, check: (value: unknown) => Checked<T>) {
  const action = v.rawTransform<unknown, T>(({ dataset, addIssue, NEVER }) => {
    const checked = check(dataset.value)
    if ('value' in checked) return checked.value
    addIssue({ message: dataset.value === null ? `${checked.rule}; the key has no value` : checked.rule })
    return NEVER
  })
  return v.optional(v.pipe(v.unknown(), action), () => fallback)
}

/** Makes a trimmed text field. Numbers are refused, because YAML has already changed them: it reads `007` as 7. */
export const text = (fallback: string, rule?: { test: (value: string) => boolean; text: string }) =>
  field<string>(fallback, (value) => {
    if (typeof value !== 'string') return { rule: 'must be a string (quote it if it looks like a number or a boolean)' }
    const trimmed = value.trim()
    return rule && !rule.test(trimmed) ? { rule: rule.text } : { value: trimmed }
  })

export const nonEmpty = { test: (value: string) => value !== '', text: 'must not be empty' }

/** Makes a text field that is tested and kept without trimming. */
export const matching = (fallback: string, test: (value: string) => boolean, rule: string) =>
  field<string>(fallback, (value) => (typeof value === 'string' && test(value) ? { value } : { rule }))

const NUMERIC = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'string' && NUMERIC.test(value.trim()) ? Number(value) : null
}

/** Makes a field for an integer, which may be written as a text. */
export const integer = (fallback: number, limits: { min?: number; max?: number } = {}) =>
  field<number>(fallback, (value) => {
    const number = toNumber(value)
    if (number === null || !Number.isSafeInteger(number)) return { rule: 'must be an integer' }
    if (limits.min !== undefined && number < limits.min) return { rule: `must be at least ${limits.min}` }
    if (limits.max !== undefined && number > limits.max) return { rule: `must be at most ${limits.max}` }
    return { value: number }
  })

/** Makes a field for a number, which may be written as a text. */
export const decimal = (fallback: number, limits: { min?: number; above?: number } = {}) =>
  field<number>(fallback, (value) => {
    const number = toNumber(value)
    if (number === null) return { rule: 'must be a number' }
    if (limits.above !== undefined && number <= limits.above) return { rule: `must be greater than ${limits.above}` }
    if (limits.min !== undefined && number < limits.min) return { rule: `must be at least ${limits.min}` }
    return { value: number }
  })

const TRUE = new Set(['true', 'yes', 'on', 'y', 't', '1'])
const FALSE = new Set(['false', 'no', 'off', 'n', 'f', '0'])

/** Makes a boolean field. `yes` and `on` count too: YAML 1.2 reads them as texts, but operators mean the boolean. */
export const flag = (fallback: boolean) =>
  field<boolean>(fallback, (value) => {
    const word = ['string', 'number', 'boolean'].includes(typeof value) ? String(value).trim().toLowerCase() : ''
    if (TRUE.has(word)) return { value: true }
    return FALSE.has(word) ? { value: false } : { rule: 'must be true or false' }
  })

/**
 * Makes a field for one of a fixed set of values.
 * @param spellings the value for each accepted spelling
 * @param names the spellings that the error text lists
 */
export const choice = <T extends string>(fallback: T, spellings: Record<string, T>, names: readonly string[]) =>
  field<T>(fallback, (value) => {
    const match = typeof value === 'string' && Object.hasOwn(spellings, value) ? spellings[value] : undefined
    return match === undefined ? { rule: `must be one of ${names.join(', ')}` } : { value: match }
  })

export const textList = (fallback: readonly string[]) =>
  field<string[]>([...fallback], (value) =>
    isTextList(value) ? { value: value.map((item) => item.trim()) } : { rule: 'must be a list of non-empty strings' },
  )

/** Makes a field for a trimmed text or a list of non-empty texts. */
export const textOrList = (fallback: string) =>
  field<string | string[]>(fallback, (value) => {
    if (typeof value === 'string') return { value: value.trim() }
    return isTextList(value)
      ? { value: value.map((item) => item.trim()) }
      : { rule: 'must be a string or a list of non-empty strings' }
  })

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && item.trim() !== '')

/** Makes a field for a file name without a folder. `.` and `..` consist of allowed characters but are folders. */
export const fileName = (fallback: string) =>
  matching(
    fallback,
    (value) => /^[A-Za-z0-9._-]{1,128}$/.test(value) && value !== '.' && value !== '..',
    'must be a file name of 1 to 128 letters, digits, dots, underscores or hyphens (^[A-Za-z0-9._-]{1,128}$)',
  )

/** Makes a field for a URL to which paths are appended, so trailing slashes are dropped. */
export const baseUrl = (fallback: string, rule?: { test: (value: string) => boolean; text: string }) =>
  field<string>(fallback, (value) => {
    if (typeof value !== 'string') return { rule: 'must be a string' }
    const url = value.trim().replace(/\/+$/, '')
    return rule && !rule.test(url) ? { rule: rule.text } : { value: url }
  })

/** The error text of a mapping: of the whole, or of a key that it lacks. */
export const mappingError = (issue: { expected: string | null }) =>
  issue.expected === 'Object' ? 'must be a mapping' : 'is required'

/** A trimmed text in an entry of a list. */
export const entryText = v.pipe(v.string('must be a string'), v.trim(), v.nonEmpty('must not be empty'))
