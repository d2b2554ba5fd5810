import type { Cloud, SessionSummary } from '../client/api/schemas.ts'

const NUMBER = new Intl.NumberFormat('en-GB')
const MONEY = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' })
const SMALL_MONEY = new Intl.NumberFormat('en-GB', {
  style: 'currency',
  currency: 'USD',
  currencyDisplay: 'narrowSymbol',
  minimumFractionDigits: 4,
})
const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

export const formatNumber = (value: number): string => NUMBER.format(value)

/** Formats US dollars; sums below ten cents with four decimals, because rounds often cost less. Null: unknown. */
export const formatMoney = (usd: number | null): string => {
  if (usd === null) return 'unknown'
  return (usd !== 0 && usd < 0.1 ? SMALL_MONEY : MONEY).format(usd)
}

/** Formats bytes in steps of a thousand: `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB']
  let value = bytes
  let unit = 0
  while (Math.round(value) >= 1_000 && unit < units.length - 1) {
    value /= 1_000
    unit += 1
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
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

const STEPS: [number, Intl.RelativeTimeFormatUnit][] = [
  [60, 'second'],
  [3_600, 'minute'],
  [86_400, 'hour'],
  [604_800, 'day'],
  [2_629_800, 'week'],
  [31_557_600, 'month'],
  [Number.POSITIVE_INFINITY, 'year'],
]
const DIVISORS: Partial<Record<Intl.RelativeTimeFormatUnit, number>> = {
  second: 1,
  minute: 60,
  hour: 3_600,
  day: 86_400,
  week: 604_800,
  month: 2_629_800,
  year: 31_557_600,
}
const AGO = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto', style: 'short' })

/** Formats an age: `now`, `5 min ago`. A time in the future, by a wrong clock, is `now`. */
export function formatAgo(iso: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1_000)
  if (seconds < 5) return 'now'
  const unit = STEPS.find(([limit]) => seconds < limit)?.[1] ?? 'year'
  return AGO.format(-Math.round(seconds / (DIVISORS[unit] ?? 1)), unit)
}

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

/** Returns the beginning of a long text, with a mark where it was cut. */
export const shorten = (text: string, length: number): string =>
  text.length <= length ? text : `${[...text.slice(0, length)].slice(0, -1).join('')}…`

/** Returns the beginning of an untrusted text, with misleading characters visible. */
export const excerpt = (text: string, length: number): string => visibleText(shorten(text, length))

/** Returns `acme/infrastructure` from a repository address; an address of another form unchanged. */
export function repositoryName(uri: string): string {
  const path = URL.parse(uri)
    ?.pathname.replace(/^\/+|\.git$|\/+$/g, '')
    .replace(/\.git$/, '')
  return path || uri
}

type Mode = SessionSummary['operation'] | 'apply'

/** The names of the clouds, as their vendors write them. */
export const CLOUDS: Record<Cloud, string> = {
  aws: 'AWS',
  azure: 'Azure',
  gcp: 'Google Cloud',
  oci: 'Oracle Cloud',
  kubernetes: 'Kubernetes',
}

export const MODES: Record<Mode, string> = { generate: 'Generate', drift: 'Drift', import: 'Import', apply: 'Apply' }
