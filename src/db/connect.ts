import pg, { type ClientConfig, type Notice, type TypeParsers } from 'pg'
import { createPool } from './pool.ts'
import type { Sql } from './types.ts'

const TIMESTAMPTZ = 1184
const INT8 = 20

/** The modes of libpq: whether to encrypt, and whether to check who answers. */
const SSL_MODES: Record<string, ClientConfig['ssl'] | 'prefer'> = {
  disable: false,
  false: false,
  allow: 'prefer',
  prefer: 'prefer',
  require: { rejectUnauthorized: false },
  'no-verify': { rejectUnauthorized: false },
  true: { rejectUnauthorized: false },
  'verify-ca': { rejectUnauthorized: true },
  'verify-full': { rejectUnauthorized: true },
}
/** `options` of libpq, sent at connect. */
const SESSION_OPTIONS = '-c TimeZone=UTC'

/**
 * Opens the pool; no connection is made before the first statement. Timestamps are read as the one
 * published form (`toFixedTimestamp`), 64-bit integers as numbers. A statement on a connection that
 * breaks is rejected; the ones after it get new connections.
 * @param url `postgresql://` or `postgres://`, `sslmode=` (or `ssl=`) in the spelling of libpq
 * Errors: `the database URL is not valid`, `sslmode '<mode>' is not known`.
 */
export function connect(url: string, options: ConnectOptions = {}): Sql {
  const { ssl, ...config } = toDriverConfig(url)
  const { max = 10, onnotice = () => {}, onstatement } = options
  return createPool({ ...config, ssl: ssl === 'prefer' ? false : ssl }, { max, onnotice, onstatement, types, prefer_ssl: ssl === 'prefer' })
}

export interface ConnectOptions {
  /** Connections at most. Default 10. */
  max?: number
  onnotice?: (notice: Notice) => void
  /** Told of each statement, before it runs. */
  onstatement?: (text: string) => void
}

/** What the driver needs of a URL; its own reading of `sslmode` differs from libpq. */
export function toDriverConfig(url: string): Omit<ClientConfig, 'ssl'> & { ssl: ClientConfig['ssl'] | 'prefer' } {
  const parsed = /^postgres(ql)?:\/\//.test(url) ? URL.parse(url) : null
  if (!parsed) throw new Error('the database URL is not valid')
  const { searchParams } = parsed
  const mode = searchParams.get('sslmode') ?? searchParams.get('ssl') ?? 'disable'
  const ssl = SSL_MODES[mode]
  if (ssl === undefined) throw new Error(`sslmode '${mode}' is not known`)
  const user = decodeURIComponent(parsed.username)
  return {
    host: searchParams.get('host') ?? (decodeURIComponent(parsed.hostname).replace(/^\[|\]$/g, '') || 'localhost'),
    port: Number(parsed.port || 5432),
    user,
    password: decodeURIComponent(parsed.password),
    database: decodeURIComponent(parsed.pathname.slice(1)) || user,
    ssl,
    application_name: searchParams.get('application_name') ?? 'platform',
    options: [SESSION_OPTIONS, searchParams.get('options')].filter(Boolean).join(' '),
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  }
}

const types: TypeParsers = {
  getTypeParser: (oid, format) => {
    if (oid === TIMESTAMPTZ) return toFixedTimestamp
    if (oid === INT8) return Number
    return pg.types.getTypeParser(oid, format)
  },
}

/** `2025-01-31 10:20:30.5+00` of a UTC session as `2025-01-31T10:20:30.500000Z`: always six digits, so that texts compare as times. */
export function toFixedTimestamp(raw: string): string {
  const [, day, time, fraction = ''] = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/.exec(raw) ?? []
  if (!day) throw new Error(`not a timestamp of a UTC session: ${raw}`)
  return `${day}T${time}.${fraction.padEnd(6, '0')}Z`
}
