import postgres from 'postgres'
import type { Execute } from './query.ts'
import type { Result, Row } from './types.ts'
import { listTypes, TIMESTAMPTZ, toFixedTimestamp, toParameter } from './values.ts'

/** One connection to the server. Once it is lost it stays lost: the pool opens another one. */
export interface ServerConnection {
  execute: Execute
  readonly lost: boolean
  readonly openedAt: number
  close(): Promise<void>
}

type Answer = Row[] & { columns?: { name: string; type: number }[]; count?: number; command?: string }

/**
 * A driver instance of exactly one connection. The driver's own pool is not used: a connection that
 * breaks under load leaves it with writes that never leave, and statements on it never settle.
 */
export function openConnection(
  address: ServerAddress,
  options: {
    onnotice: (notice: postgres.Notice) => void
    onnotify?: (channel: string, payload: string) => void
    onLost?: () => void
  },
): ServerConnection {
  let lost = false
  const driver = postgres(
    address.url,
    connectionOptions({
      onnotice: options.onnotice,
      ...(options.onnotify && { onnotify: options.onnotify }),
      onclose: () => {
        if (lost) return
        lost = true
        options.onLost?.()
      },
    }),
  )
  const execute: Execute = async ({ text, values }, how) => {
    // A write to a closed socket is thrown where nobody can catch it.
    if (lost) throw new ConnectionLost()
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

/** The connection was gone before the statement was sent. */
class ConnectionLost extends Error {
  readonly code = 'CONNECTION_LOST'
  constructor() {
    super('the connection to the database was lost')
  }
}

/** Whether the server closed, or is about to close, the connection on which this happened. */
function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  // Answers of the server carry a severity; refusals of the driver to send a statement carry a code of their own.
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

/** The rows stay a plain list to look at; what else is known is beside them. Several statements answer as one list. */
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

/** The queue expects dates where we read texts. */
function withDates(answer: Answer): Row[] {
  const names = (answer.columns ?? []).filter((column) => column.type === TIMESTAMPTZ).map((column) => column.name)
  return answer.map((row) => {
    const copy = { ...row }
    for (const name of names) if (typeof copy[name] === 'string') copy[name] = new Date(copy[name])
    return copy
  })
}

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
    const driverMode = SSL_MODES[mode]
    if (!driverMode) throw new Error(`sslmode '${mode}' is not known`)
    parsed.searchParams.set('ssl', driverMode)
  }
  return { url: parsed.href }
}

type DriverOptions = postgres.Options<Record<string, postgres.PostgresType>>

/** Settings of every connection. `onnotify` is an option of the driver that its types leave out. */
function connectionOptions(
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
