import postgres from 'postgres'
import { parseExactly } from '../../base/json.ts'
import type { Execute, Result, Row } from './sql.ts'
import { listTypes, TIMESTAMPTZ, toFixedTimestamp, toParameter, typeEntry } from './values.ts'

/** One connection to the server. A lost connection never recovers; the pool replaces it. */
export type ServerConnection = ReturnType<typeof openConnection>

export interface ConnectionCallbacks {
  onnotice: (notice: postgres.Notice) => void
  onnotify?: (channel: string, payload: string) => void
  /** Called once when the connection is lost. */
  onLost?: () => void
}

type Answer = Row[] & { columns?: { name: string; type: number }[]; count?: number; command?: string }

/**
 * Opens one connection with its own driver instance. The driver's pool is not used: when one of its connections breaks
 * under load, statements queued for it are never sent, and awaiting them never ends.
 */
export function openConnection(address: string, { onLost, ...callbacks }: ConnectionCallbacks) {
  let lost = false
  const driver = postgres(
    address,
    connectionOptions({
      ...callbacks,
      onclose: () => {
        if (lost) return
        lost = true
        onLost?.()
      },
    }),
  )
  const execute: Execute = async ({ text, values }, how) => {
    // The driver would write to the closed socket, and no caller could catch that error.
    if (lost) throw Object.assign(new Error('the connection to the database was lost'), { code: 'CONNECTION_LOST' })
    try {
      const prepare = how?.types !== 'driver' && how?.prepare !== false && values.length > 0
      const answer: unknown = await driver.unsafe(text, values.map(toParameter), { prepare })
      return toResult(answer, how?.types === 'driver')
    } catch (error) {
      lost ||= isConnectionLost(error)
      throw error
    }
  }
  return {
    execute,
    get lost() {
      return lost
    },
    openedAt: performance.now(),
    close: () => driver.end({ timeout: 1 }).catch(() => {}),
  }
}

/**
 * True if the connection is unusable after this error. It stays usable after a server error of severity `ERROR`, and
 * after the driver refused to send a statement (`HARMLESS_CODES`).
 */
function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  // Only errors that the server reports have a severity; FATAL and PANIC end the connection.
  if ('severity_local' in error || 'severity' in error) return 'severity' in error && error.severity !== 'ERROR'
  return !('code' in error) || !HARMLESS_CODES.has(String(error.code))
}
const HARMLESS_CODES = new Set([
  'UNDEFINED_VALUE',
  'MAX_PARAMETERS_EXCEEDED',
  'NOT_TAGGED_CALL',
  'UNSAFE_TRANSACTION',
  'ERR_INVALID_ARG_TYPE',
])

/**
 * Converts the rows to a plain list, with `count` and `command` as non-enumerable properties. The rows of several
 * statements are joined; count and command are those of the last one.
 */
function toResult(answer: unknown, dates: boolean): Result {
  const answers = isAnswerList(answer) ? answer : isAnswer(answer) ? [answer] : []
  const rows = answers.flatMap((one) => (dates ? withDates(one) : [...one]))
  const last = answers.at(-1)
  return Object.defineProperties(rows, {
    count: { value: last?.count ?? 0 },
    command: { value: last?.command ?? '' },
  }) as Result
}

const isAnswer = (answer: unknown): answer is Answer => Array.isArray(answer)
const isAnswerList = (answer: unknown): answer is Answer[] =>
  Array.isArray(answer) && answer.length > 0 && answer.every((one) => Array.isArray(one))

/** Converts timestamps to `Date`, which the queue library expects. */
function withDates(answer: Answer): Row[] {
  const names = (answer.columns ?? []).filter((column) => column.type === TIMESTAMPTZ).map((column) => column.name)
  return answer.map((row) => {
    const copy = { ...row }
    for (const name of names) if (typeof copy[name] === 'string') copy[name] = new Date(copy[name])
    return copy
  })
}

const INT8 = 20
/** `json` and `jsonb`. A text is sent as already serialised JSON; the queue library relies on that. */
const JSON_TYPES = [114, 3802]
const toJsonText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
/** The driver's name for each `sslmode` of libpq. */
const SSL_MODES: ReadonlyMap<string, string> = new Map([
  ['disable', 'disable'],
  ['false', 'disable'],
  ['allow', 'prefer'],
  ['prefer', 'prefer'],
  ['require', 'require'],
  ['no-verify', 'require'],
  ['true', 'require'],
  ['verify-ca', 'verify-full'],
  ['verify-full', 'verify-full'],
])
/** Parameters of other drivers. This driver would send them as settings, which the server refuses. */
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
 * Rewrites a database URL for the driver: `postgresql+psycopg://` becomes `postgresql://`, `sslmode` becomes `ssl`, and
 * parameters of other drivers are dropped. Throws `the database URL is not valid`, `sslmode '<mode>' is not known`.
 */
export function toServerAddress(url: string): string {
  const plain = url.replace(/^(postgres(?:ql)?)\+\w+:/, '$1:')
  const parsed = /^postgres(ql)?:\/\//.test(plain) ? URL.parse(plain) : null
  if (!parsed) throw new Error('the database URL is not valid')
  const mode = parsed.searchParams.get('sslmode') ?? parsed.searchParams.get('ssl')
  for (const name of ['sslmode', 'ssl', ...FOREIGN_PARAMETERS]) parsed.searchParams.delete(name)
  if (mode !== null) {
    const driverMode = SSL_MODES.get(mode)
    if (!driverMode) throw new Error(`sslmode '${mode}' is not known`)
    parsed.searchParams.set('ssl', driverMode)
  }
  return parsed.href
}

type DriverOptions = postgres.Options<Record<string, postgres.PostgresType>>

/** Returns the settings of every connection. The driver supports `onnotify`, but its types omit it. */
function connectionOptions(
  callbacks: Omit<ConnectionCallbacks, 'onLost'> & Pick<DriverOptions, 'onclose'>,
): DriverOptions {
  return {
    ...callbacks,
    max: 1,
    // The pool decides how long a connection lives, because the driver does not know our transactions.
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 10,
    fetch_types: false,
    connection: { application_name: 'platform', TimeZone: 'UTC' },
    types: {
      ...listTypes,
      timestamptz: typeEntry(TIMESTAMPTZ, toFixedTimestamp),
      int8: typeEntry(INT8, Number, String),
      ...Object.fromEntries(JSON_TYPES.map((type) => [`json${type}`, typeEntry(type, parseExactly, toJsonText)])),
    },
  }
}
