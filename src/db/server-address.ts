import type postgres from 'postgres'
import { listTypes } from './array-literal.ts'
import { TIMESTAMPTZ, toFixedTimestamp } from './timestamp.ts'

const INT8 = 20
/** Texts are taken for JSON already, as other drivers do; the queue relies on it. */
const JSON_TYPES = [114, 3802]
const SSL_MODES: Record<string, string> = {
  disable: 'disable',
  false: 'disable',
  allow: 'prefer',
  prefer: 'prefer',
  require: 'require',
  'no-verify': 'require',
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

/** A database URL in the driver's spelling. */
export interface ServerAddress {
  url: string
}

/**
 * Rewrites what drivers spell differently: parameters, and a driver's name in the scheme.
 * Errors: `the database URL is not valid`, `sslmode '<mode>' is not known`.
 */
export function toServerAddress(url: string): ServerAddress {
  const plain = url.replace(/^(postgres(?:ql)?)\+\w+:/, '$1:')
  const parsed = /^postgres(ql)?:\/\//.test(plain) ? URL.parse(plain) : null
  if (!parsed) throw new Error('the database URL is not valid')
  const mode = parsed.searchParams.get('sslmode') ?? parsed.searchParams.get('ssl')
  for (const name of ['sslmode', 'ssl', ...FOREIGN_PARAMETERS]) parsed.searchParams.delete(name)
  if (mode !== null) {
    const known = SSL_MODES[mode]
    if (!known) throw new Error(`sslmode '${mode}' is not known`)
    parsed.searchParams.set('ssl', known)
  }
  return { url: parsed.href }
}

type DriverOptions = postgres.Options<Record<string, postgres.PostgresType>>

/** Settings of every connection. `onnotify` is an option of the driver that its types leave out. */
export function connectionOptions(
  callbacks: Pick<DriverOptions, 'onnotice' | 'onclose'> & { onnotify?: (channel: string, payload: string) => void },
): DriverOptions {
  return {
    ...callbacks,
    max: 1,
    // The pool decides how long a connection lives: the driver knows nothing of our transactions.
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 10,
    fetch_types: false,
    connection: { application_name: 'platform', TimeZone: 'UTC' },
    types: {
      ...listTypes,
      timestamptz: {
        to: TIMESTAMPTZ,
        from: [TIMESTAMPTZ],
        serialize: (value: unknown) => value,
        parse: toFixedTimestamp,
      },
      int8: { to: INT8, from: [INT8], serialize: (value: unknown) => String(value), parse: Number },
      ...Object.fromEntries(
        JSON_TYPES.map((type) => [
          `json${type}`,
          {
            to: type,
            from: [type],
            serialize: (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value)),
            parse: (text: string) => JSON.parse(text),
          },
        ]),
      ),
    },
  }
}
