import type { Cloud, SessionSummary } from '../client/api/client.ts'
import type { Spend } from '../client/sessions/use-session.ts'

const NUMBER = new Intl.NumberFormat('en-GB')
const DOLLARS = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const
const MONEY = new Intl.NumberFormat('en-GB', DOLLARS)
const SMALL_MONEY = new Intl.NumberFormat('en-GB', { ...DOLLARS, minimumFractionDigits: 4 })
const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

export const formatNumber = (value: number): string => NUMBER.format(value)

/** Formats US dollars; sums below ten cents with four decimals, because rounds often cost less. Null: unknown. */
export const formatMoney = (usd: number | null): string => {
  if (usd === null) return 'unknown'
  return (usd !== 0 && usd < 0.1 ? SMALL_MONEY : MONEY).format(usd)
}

/** Returns `1,234 tokens` and, if known, `$0.12`. */
export const formatSpend = ({ tokens, cost_usd }: Spend): string[] => [
  `${formatNumber(tokens)} tokens`,
  ...(cost_usd === null ? [] : [formatMoney(cost_usd)]),
]

/** Formats bytes in steps of a thousand: `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB']
  let value = bytes
  for (; Math.round(value) >= 1_000 && units.length > 1; value /= 1_000) units.shift()
  return `${units[0] === 'B' || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[0]}`
}

/** Formats a duration: `0.8 s`, `42 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 9.95) return `${Math.max(0, seconds).toFixed(1)} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}

export const formatMoment = (iso: string): string => MOMENT.format(new Date(iso))

/** The units of ages and their seconds, the longest first. */
const UNITS: [Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const AGO = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto', style: 'short' })

/** Formats an age: `now`, `5 min ago`. A time in the future, by a wrong clock, is `now`. */
export function formatAgo(iso: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1_000)
  if (seconds < 5) return 'now'
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ['second', 1]
  return AGO.format(-Math.round(seconds / size), unit)
}

export const upperFirst = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Returns `1 resource`, `3 resources`. */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`

/** Makes control characters and marks of text direction visible in untrusted text. Line breaks and tabs stay. */
export const visibleText = (text: string): string =>
  text.replaceAll(MISLEADING, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : `\u27e8U+${toHex(code)}\u27e9`
  })

const toHex = (code: number) => code.toString(16).toUpperCase().padStart(4, '0')

const MISLEADING = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u{feff}]/gu

/** The last word, which may be half; a longer text without blanks is no word. */
const LAST_WORD = /\s+\S{0,40}$/

/** Returns the whole words at the beginning of a long text, with a mark where it was cut. */
export const shorten = (text: string, length: number): string =>
  text.length <= length ? text : `${[...text.slice(0, length)].slice(0, -1).join('').replace(LAST_WORD, '')}…`

/** Returns the beginning of an untrusted text, with misleading characters visible. */
export const excerpt = (text: string, length: number): string => visibleText(shorten(text, length))

/** Returns the beginning of an untrusted text on one line. */
export const oneLine = (text: string): string => visibleText(shorten(text, 200).replaceAll(/\s+/g, ' '))

/** Returns `acme/infrastructure` from a repository address; an address of another form unchanged. */
export function repositoryName(uri: string): string {
  const path = URL.parse(uri)
    ?.pathname.replace(/^\/+|\.git$|\/+$/g, '')
    .replace(/\.git$/, '')
  return path || uri
}

/** The names of the clouds, as their vendors write them. */
export const CLOUDS: Record<Cloud, string> = {
  aws: 'AWS',
  azure: 'Azure',
  gcp: 'Google Cloud',
  oci: 'Oracle Cloud',
  kubernetes: 'Kubernetes',
}

export const MODES: Record<SessionSummary['operation'] | 'apply', string> = {
  generate: 'Generate',
  drift: 'Drift',
  import: 'Import',
  apply: 'Apply',
}

export const LOCK_GATES: Record<NonNullable<SessionSummary['lock']>['reasons'][number]['gate'], string> = {
  compliance: 'Compliance check',
  impact: 'High impact',
  person: 'Editor',
}
