import postgres from 'postgres'
import type { DatabaseAddress, DatabaseServer } from '../../../config/database-address.ts'
import { parseExactly } from '../../base/json.ts'
import { endsWithin, withTimeLimit } from '../../base/time.ts'
import { isOfServer, remedyOf } from './faults.ts'
import { listTypes, TIMESTAMPTZ, toFixedTimestamp, typeEntry } from './values.ts'

/** The servers of one address, with what a pool has learned about them. */
export type ServerRoute = ReturnType<typeof createRoute>
export type ReadFile = (path: string) => Promise<string | null>

export interface ConnectionCallbacks {
  onnotice: (notice: postgres.Notice) => void
  onnotify?: (channel: string, payload: string) => void
  /** Called once when the connection is lost. */
  onLost?: () => void
  /** Called when the server, which took writes, says that it takes none any more (PostgreSQL 14 and later). */
  onDemotion?: () => void
}

type Driver = postgres.Sql<Record<string, unknown>>
type DriverOptions = postgres.Options<Record<string, postgres.PostgresType>>
export interface OpenServer {
  driver: Driver
  /** False if statements must not be prepared by name. */
  prepares: boolean
  /** True if it took no writes when it was opened. */
  is_read_only: boolean
  /**
   * Asks the server over another connection whether it works for this one. False if this connection is dead.
   * @param answeredMs time after the end of a statement for which its answer may still be under way
   */
  isAtWork(answeredMs: number): Promise<boolean>
}

/** Seconds for the connection to the only server of an address, and to each of several. */
const CONNECT_SECONDS = 10
const CONNECT_SECONDS_OF_SEVERAL = 3
/** Longest wait for the first answer of a server that took the credentials: a pooler may have a queue (120 s). */
const GREETING_MS = 130_000

/** @param readFile reads the files of certificates; without it, an address that names some is refused */
export function createRoute(address: DatabaseAddress, readFile?: ReadFile) {
  const { servers, tls } = address
  let preferred = 0
  let certificates: Promise<object | string | false> | null = null
  return {
    address,
    seconds: address.connect_timeout ?? (servers.length > 1 ? CONNECT_SECONDS_OF_SEVERAL : CONNECT_SECONDS),
    /** The servers in the order of the next connection: first the one that was right last, or one by chance. */
    order(): DatabaseServer[] {
      const first = address.is_balanced ? Math.floor(Math.random() * servers.length) : preferred
      return [...servers.slice(first), ...servers.slice(0, first)]
    },
    remember(server: DatabaseServer): void {
      preferred = servers.indexOf(server)
    },
    tls: (server: DatabaseServer) => {
      certificates ??= readTls(tls, readFile)
      return certificates.then((read) =>
        typeof read === 'object' ? { ...read, servername: serverName(server) } : read,
      )
    },
  }
}

/** The name that the certificate of a server must have, and by which a server of many chooses one. */
const serverName = ({ host }: DatabaseServer) => (/^[\d.]+$|:/.test(host) ? undefined : host)

/** Returns the driver's option `ssl`. Throws when a file cannot be read. */
async function readTls(tls: DatabaseAddress['tls'], readFile?: ReadFile): Promise<object | string | false> {
  if (tls.mode === 'disable') return false
  // Only this word lets the driver go on in the clear when the server knows no TLS.
  if (tls.mode === 'prefer') return 'prefer'
  const read = async (name: string, path: string) => {
    if (path === '' || path === 'system') return undefined
    const text = await readFile?.(path).catch(() => null)
    if (!text) throw new Error(`the file of ${name} in the database URL cannot be read`)
    return text
  }
  const files = {
    ca: await read('sslrootcert', tls.authority_file),
    cert: await read('sslcert', tls.certificate_file),
    key: await read('sslkey', tls.key_file),
  }
  return {
    ...Object.fromEntries(Object.entries(files).filter(([, text]) => text !== undefined)),
    ...(tls.key_password && { passphrase: tls.key_password }),
    ...(tls.min_version && { minVersion: tls.min_version }),
    ...(tls.max_version && { maxVersion: tls.max_version }),
    rejectUnauthorized: tls.mode !== 'require',
    // The authority is checked, the name is not.
    ...(tls.mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
  }
}

/**
 * Opens a connection to the first server of the route that answers and is what `target_session_attrs` asks for. Throws
 * the error of the server; if there are several, one that says what is wrong with each.
 */
export async function openServer(route: ServerRoute, callbacks: ConnectionCallbacks): Promise<OpenServer> {
  const { target } = route.address
  const faults: { server: DatabaseServer; error: Error }[] = []
  for (const wanted of target === 'prefer-standby' ? (['standby', 'any'] as const) : [target])
    for (const server of route.order()) {
      if (faults.some((fault) => fault.server === server && !(fault.error instanceof WrongServer))) continue
      try {
        const opened = await greet(route, server, wanted, callbacks)
        route.remember(server)
        return opened
      } catch (error) {
        faults.push({ server, error: error instanceof Error ? error : new Error('unknown error') })
      }
    }
  const [first] = faults
  if (!first || (route.address.servers.length === 1 && !(first.error instanceof WrongServer))) throw first?.error
  const said = faults.map(({ server, error }) => `${server.host}:${server.port}: ${reasonOf(error)}`)
  // One that may be right in a moment speaks for all.
  const cause = (faults.find(({ error }) => remedyOf(error) !== 'give_up') ?? first).error
  throw Object.assign(new Error(`no server of the database can be used: ${[...new Set(said)].join(', ')}`, { cause }), {
    code: remedyOf(cause) === 'give_up' && 'code' in cause ? cause.code : 'CONNECTION_REFUSED',
  })
}

/** The text of an error. If all addresses of a host failed, only the parts of the error have one. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return reasonOf(error.errors[0])
  return error.message || ('code' in error ? String(error.code) : error.name)
}

class WrongServer extends Error {
  readonly code = 'WRONG_SERVER'
}

interface Greeting {
  pid: number
  /** With the number it names a process of the server for good. */
  begun: string | null
  standby: boolean
  read_only: boolean
  time_zone: string
}
const GREETING = `SELECT pid, backend_start::text AS begun, pg_is_in_recovery() AS standby,
  current_setting('transaction_read_only') = 'on' AS read_only, current_setting('TimeZone') AS time_zone
  FROM pg_stat_get_activity(pg_backend_pid())`

/** True if a process works, or has ended its work so lately that the answer may be under way. No row if it is gone. */
const AT_WORK = `SELECT coalesce(state NOT LIKE 'idle%', true)
    OR abs(extract(epoch FROM clock_timestamp() - state_change)) * 1000 < $3 AS works
  FROM pg_stat_get_activity($1) WHERE backend_start::text = $2`

/** Connects to one server and sends a statement. */
async function call<Row extends postgres.Row>(
  route: ServerRoute,
  server: DatabaseServer,
  callbacks: ConnectionCallbacks,
  [text, values]: [string, (string | number)[]],
) {
  const loggedIn = Promise.withResolvers<void>()
  const hungUp = Promise.withResolvers<never>()
  hungUp.promise.catch(() => {})
  let isOpen = false
  let isWritable = false
  const options = {
    ...driverOptions(route, server, callbacks),
    ssl: await route.tls(server),
    port: portOf(server, () => {
      if (!isOpen) hungUp.reject(named('CONNECTION_CLOSED', 'the server ended the connection', server))
      return isOpen
    }),
    onparameter: (name: string, value: string) => {
      loggedIn.resolve()
      if (isWritable && READ_ONLY_SIGNS.has(name) && value === 'on') callbacks.onDemotion?.()
    },
    onclose: () => {
      if (isOpen) callbacks.onLost?.()
    },
  }
  // The types of the driver know only one server, and not all of its options.
  const driver = postgres(options as unknown as DriverOptions)
  const sent = driver.unsafe<Row[]>(text, values)
  const answer = Promise.race([sent, hungUp.promise])
  const late = (ms: number) => () => named('CONNECT_TIMEOUT', `no connection within ${ms / 1_000} s`, server)
  const within = <T>(ms: number, work: Promise<T>) => withTimeLimit(ms, work, late(ms))
  return {
    driver,
    /** Waits until the server has taken the credentials. */
    loggedIn: () => within(route.seconds * 1_000, Promise.race([loggedIn.promise, answer])),
    /** Behind a pooler the statement may wait for long, which is no fault of the connection. */
    answer: (ms: number) => within(ms, answer),
    open: (writable: boolean) => {
      isOpen = true
      isWritable = writable
    },
    end: () => void driver.end({ timeout: 0 }).catch(() => {}),
  }
}

/** Connects to one server and finds out what it is. Throws `WrongServer` if it is not `wanted`. */
async function greet(
  route: ServerRoute,
  server: DatabaseServer,
  wanted: DatabaseAddress['target'],
  callbacks: ConnectionCallbacks,
): Promise<OpenServer> {
  const asked = await call<Greeting & postgres.Row>(route, server, callbacks, [GREETING, []])
  try {
    await asked.loggedIn()
    const answer = await asked.answer(GREETING_MS)
    const [row] = answer
    if (!row) throw new Error('the server did not say what it is')
    const fault = faultOf(row, wanted)
    if (fault !== null) throw new WrongServer(fault)
    if (!/^(?:Etc\/)?(?:UTC|UCT|Zulu|Universal|GMT)$/i.test(row.time_zone))
      throw new Error(
        `the pooler before the database does not pass on the setting TimeZone, and sessions have ${row.time_zone}: ` +
          'set it with ALTER ROLE … SET TimeZone TO UTC for the role of the platform',
      )
    asked.open(!row.read_only)
    // A pooler gives its clients numbers of its own, because it changes their processes.
    const isPooled = answer.state.pid !== row.pid
    return {
      driver: asked.driver,
      prepares: route.address.prepare ?? !isPooled,
      is_read_only: row.read_only,
      isAtWork: (answeredMs) => isAtWork(route, server, isPooled || !row.begun ? null : row, answeredMs),
    }
  } catch (error) {
    asked.end()
    throw explained(error)
  }
}

/** @param process null if a pooler stands before it, of which it is only known whether it answers */
async function isAtWork(
  route: ServerRoute,
  server: DatabaseServer,
  process: Greeting | null,
  answeredMs: number,
): Promise<boolean> {
  const values = process ? [process.pid, process.begun ?? '', answeredMs] : [0, '', answeredMs]
  const asked = await call<{ works: boolean }>(route, server, { onnotice: () => {} }, [AT_WORK, values])
  try {
    await asked.loggedIn()
    if (!process) return true
    const [row] = await asked.answer(route.seconds * 1_000)
    if (!row || row.works) return row !== undefined
    // It waits for what was sent to it, and its transaction would keep its locks until TCP gives up.
    await endsWithin(route.seconds * 1_000, asked.driver.unsafe('SELECT pg_terminate_backend($1)', [process.pid]))
    return false
  } catch (error) {
    // A server that refuses one more connection may well work for this one. To end a process may not be allowed.
    return isOfServer(error) && error.code !== '42501'
  } finally {
    asked.end()
  }
}

/** Settings that a server reports when they change. */
const READ_ONLY_SIGNS = new Set(['default_transaction_read_only', 'in_hot_standby'])

const named = (code: string, text: string, { host, port }: DatabaseServer) =>
  Object.assign(new Error(`${text} (${host}:${port})`), { code })

/** Says what is wrong with a server; null for the right one. */
function faultOf({ standby, read_only }: Greeting, wanted: DatabaseAddress['target']): string | null {
  if (wanted === 'read-write' && read_only) return 'it is read-only'
  if (wanted === 'read-only' && !read_only) return 'it is not read-only'
  if (wanted === 'primary' && standby) return 'it is a standby'
  if (wanted === 'standby' && !standby) return 'it is no standby'
  return null
}

/** Adds what to do to the error of a pooler that refuses a parameter of the start. */
function explained(error: unknown): unknown {
  if (!(error instanceof Error) || !error.message.startsWith('unsupported startup parameter')) return error
  return new Error(
    `${error.message}. The pooler before the database refuses it: take it out of the URL and set it for the role with ` +
      'ALTER ROLE … SET',
    { cause: error },
  )
}

/**
 * The driver's option `port`. When a server hangs up before it has greeted, the driver connects anew at once, without
 * end, and tells nobody. It reads the port twice for each connection, so a third time means that; the port 0, which
 * nobody has, ends its attempts. Later it reads the port for its error texts.
 * @param isOpen called at each further reading; true if the connection had been open
 */
function portOf({ port }: DatabaseServer, isOpen: () => boolean): number[] {
  let reads = 0
  return Object.defineProperty([port], 0, {
    get: () => (++reads <= 2 || isOpen() ? port : 0),
  })
}

const INT8 = 20
/** `json` and `jsonb`. A text is sent as already serialised JSON; the queue library relies on that. */
const JSON_TYPES = [114, 3802]
const toJsonText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** The settings of every connection. The driver supports some of them that its types omit. */
function driverOptions({ address, seconds }: ServerRoute, server: DatabaseServer, callbacks: ConnectionCallbacks) {
  const { user, password, database, settings, tls, keepalive } = address
  const isSocket = server.host.startsWith('/')
  return {
    onnotice: callbacks.onnotice,
    onnotify: callbacks.onnotify,
    host: [server.hostaddr || server.host],
    ...(isSocket && { path: `${server.host}/.s.PGSQL.${server.port}` }),
    ...(user && { user }),
    ...(password && { password }),
    ...(database && { database }),
    sslnegotiation: tls.is_direct ? 'direct' : null,
    keep_alive: keepalive ?? 60,
    max: 1,
    // The pool decides how long a connection lives, because the driver does not know our transactions.
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: seconds,
    fetch_types: false,
    connection: { application_name: 'platform', ...settings, TimeZone: 'UTC' },
    types: {
      ...listTypes,
      timestamptz: typeEntry(TIMESTAMPTZ, toFixedTimestamp),
      int8: typeEntry(INT8, Number, String),
      ...Object.fromEntries(JSON_TYPES.map((type) => [`json${type}`, typeEntry(type, parseExactly, toJsonText)])),
    },
  }
}
