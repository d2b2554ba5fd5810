import postgres from 'postgres'
import type { Sql } from './types.ts'

const TIMESTAMPTZ = 1184
const INT8 = 20
/** Texts are taken for JSON already, as other drivers do; the queue relies on it. */
const JSON_TYPES = [114, 3802]
const SSL_MODES: Record<string, string> = {
  disable: 'disable',
  false: 'disable',
  allow: 'prefer',
  prefer: 'prefer',
  require: 'require',
  true: 'require',
  'verify-ca': 'verify-full',
  'verify-full': 'verify-full',
}
/** Parameters of other drivers; the server would refuse them as settings. */
const FOREIGN_PARAMETERS = [
  'channel_binding',
  'gssencmode',
  'krbsrvname',
  'sslcert',
  'sslkey',
  'sslcrl',
  'sslrootcert',
  'pgbouncer',
  'schema',
]

/**
 * Opens the pool; no connection is made before the first query. Timestamps are read as the one
 * published form (`toFixedTimestamp`), 64-bit integers as numbers.
 * @param url `postgresql://` or `postgres://`, `sslmode=` (or `ssl=`) in the spelling of libpq
 * Errors: `the database URL is not valid`, `sslmode '<mode>' is not known`.
 */
export function connect(url: string, options: { max?: number; onnotice?: (notice: postgres.Notice) => void } = {}): Sql {
  const sql = postgres(toDriverUrl(url), {
    max: options.max ?? 10,
    onnotice: options.onnotice ?? (() => {}),
    connect_timeout: 10,
    connection: { application_name: 'platform', TimeZone: 'UTC' },
  })
  sql.options.parsers[TIMESTAMPTZ] = toFixedTimestamp
  sql.options.parsers[INT8] = Number
  for (const type of JSON_TYPES)
    sql.options.serializers[type] = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return sql
}

/** Rewrites the parameters that drivers spell differently. */
export function toDriverUrl(url: string): string {
  const parsed = /^postgres(ql)?:\/\//.test(url) ? URL.parse(url) : null
  if (!parsed) throw new Error('the database URL is not valid')
  const mode = parsed.searchParams.get('sslmode') ?? parsed.searchParams.get('ssl')
  for (const name of ['sslmode', 'ssl', ...FOREIGN_PARAMETERS]) parsed.searchParams.delete(name)
  if (mode !== null) {
    const known = SSL_MODES[mode]
    if (!known) throw new Error(`sslmode '${mode}' is not known`)
    parsed.searchParams.set('ssl', known)
  }
  return parsed.href
}

/** `2025-01-31 10:20:30.5+00` of a UTC session as `2025-01-31T10:20:30.500000Z`: always six digits, so that texts compare as times. */
export function toFixedTimestamp(raw: string): string {
  const [, day, time, fraction = ''] = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/.exec(raw) ?? []
  if (!day) throw new Error(`not a timestamp of a UTC session: ${raw}`)
  return `${day}T${time}.${fraction.padEnd(6, '0')}Z`
}
