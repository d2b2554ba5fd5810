import { afterUserinfo, decodeOrKeep } from './mask-url.ts'

/** What the URL of a database says. */
export interface DatabaseAddress {
  /** The servers in the order of the URL, at least one. `host` is a name, an address or the folder of a socket. */
  servers: readonly DatabaseServer[]
  user: string
  password: string
  database: string
  tls: TlsOptions
  /** What the server must be; with several servers the first that is. */
  target: 'any' | 'read-write' | 'read-only' | 'primary' | 'standby' | 'prefer-standby'
  /** True if each connection begins at a server by chance. */
  is_balanced: boolean
  /** Seconds for the connection to one server; null when the URL does not say. */
  connect_timeout: number | null
  /** Seconds before the first probe of an idle connection; 0 for none, null when the URL does not say. */
  keepalive: number | null
  /** Whether statements are prepared by name; null when the platform finds out. */
  prepare: boolean | null
  /** Settings of the server for each connection. */
  settings: Readonly<Record<string, string>>
  /** Names of parameters that have no effect, and of which the operator should know. */
  ignored: readonly string[]
}

export interface DatabaseServer {
  host: string
  port: number
  /** An address to connect to, so that `host` is only what the certificate must name. */
  hostaddr: string
}

export interface TlsOptions {
  mode: 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'
  /** Files in PEM; empty for none. The authority `system` stands for the usual ones. */
  authority_file: string
  certificate_file: string
  key_file: string
  key_password: string
  min_version: string
  max_version: string
  /** True if the connection begins with TLS and does not ask for it. */
  is_direct: boolean
}

const DEFAULT_PORT = 5432
const SCHEME = /^postgres(?:ql)?(?:\+\w+)?:\/\//i

/** The mode for each value of `sslmode`, and of `ssl` of other drivers. */
const TLS_MODES: ReadonlyMap<string, TlsOptions['mode']> = new Map([
  ['disable', 'disable'],
  ['false', 'disable'],
  ['0', 'disable'],
  ['allow', 'prefer'],
  ['prefer', 'prefer'],
  ['require', 'require'],
  ['no-verify', 'require'],
  ['true', 'require'],
  ['1', 'require'],
  ['verify-ca', 'verify-ca'],
  ['verify-full', 'verify-full'],
])
const TARGETS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const
const TLS_VERSIONS = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const
const BALANCING = ['disable', 'random'] as const
const NEGOTIATIONS = ['postgres', 'direct'] as const
const SWITCH = ['true', 'false'] as const

/** Settings of the server that are passed on, in lower case. All others are reached through `options`. */
const SETTINGS = new Set([
  ...['application_name', 'options', 'role', 'search_path', 'session_preload_libraries', 'temp_buffers'],
  ...['statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout'],
  ...['idle_session_timeout', 'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count'],
  ...['client_connection_check_interval', 'synchronous_commit', 'work_mem', 'maintenance_work_mem', 'jit'],
  ...['plan_cache_mode', 'client_min_messages', 'log_statement', 'log_min_duration_statement'],
])
/** Parameters that change nothing here: those of pools, caches and waits of other clients, and what is always so. */
const WITHOUT_EFFECT = new Set([
  ...['keepalives_interval', 'keepalives_count', 'tcp_user_timeout', 'client_encoding', 'timezone', 'datestyle'],
  ...['gssencmode', 'gsslib', 'gssdelegation', 'krbsrvname', 'sslcompression', 'sslsni', 'sslcertmode', 'passfile'],
  ...['fallback_application_name', 'min_protocol_version', 'max_protocol_version', 'uselibpqcompat'],
  ...['connection_limit', 'pool_timeout', 'socket_timeout', 'max_idle_connection_lifetime', 'pool_mode'],
  ...['single_use_connections', 'statement_cache_size', 'prepared_statement_cache_size', 'statement_cache_mode'],
  ...['statement_cache_capacity', 'description_cache_capacity', 'default_query_exec_mode', 'preparethreshold'],
  ...['prepared_statements', 'pool_min_conns', 'pool_max_conns', 'pool_max_conn_lifetime', 'pool_max_conn_idle_time'],
  ...['max_pool_size', 'min_pool_size', 'async_fallback', 'command_timeout', 'supa', 'workaround'],
])

/**
 * Reads the URL of a database as libpq does, and what other drivers have added to it: several servers, sockets, odd
 * characters in a password, `postgresql+driver://`. A percent sign that begins no escape stands for itself.
 * Throws an error whose text names the rule and repeats neither the URL nor a password.
 * @see https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 */
export function readDatabaseAddress(url: string): DatabaseAddress {
  const scheme = SCHEME.exec(url)?.[0]
  if (scheme === undefined) fail('must begin with postgresql:// or postgres://')
  const rest = url.slice(scheme.length)
  const start = afterUserinfo(rest)
  const userinfo = rest.slice(0, Math.max(0, start - 1))
  const [, hosts = '', path = '', query = ''] = /^([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/s.exec(rest.slice(start)) ?? []
  const colon = userinfo.indexOf(':')
  const parameters = readParameters(query)
  const text = (name: string) => parameters.get(name) ?? ''
  const settings = [...parameters].filter(([name]) => SETTINGS.has(name))
  const servers = readServers(hosts, parameters)
  return {
    servers,
    user: text('user') || decodeOrKeep(colon === -1 ? userinfo : userinfo.slice(0, colon)),
    password: text('password') || (colon === -1 ? '' : decodeOrKeep(userinfo.slice(colon + 1))),
    database: text('dbname') || decodeOrKeep(path),
    tls: readTls(parameters),
    // libpq takes any. Several servers are a primary and its standbys, and the platform writes.
    target: oneOf(parameters, 'target_session_attrs', TARGETS) ?? (servers.length > 1 ? 'read-write' : 'any'),
    is_balanced: oneOf(parameters, 'load_balance_hosts', BALANCING) === 'random',
    connect_timeout: positive(parameters, 'connect_timeout'),
    keepalive: text('keepalives') === '0' ? 0 : positive(parameters, 'keepalives_idle'),
    prepare: readPrepare(parameters),
    settings: Object.fromEntries(settings),
    ignored: [...parameters].filter(isIgnored).map(([name]) => name),
  }
}

function fail(rule: string): never {
  throw new Error(`the database URL is not valid: it ${rule}`)
}

/** Parameters that are read elsewhere in this file. */
const READ = new Set([
  ...['host', 'hostaddr', 'port', 'user', 'password', 'dbname', 'sslmode', 'ssl', 'requiressl', 'sslrootcert'],
  ...['sslcert', 'sslkey', 'sslpassword', 'ssl_min_protocol_version', 'ssl_max_protocol_version', 'sslnegotiation'],
  ...['target_session_attrs', 'load_balance_hosts', 'connect_timeout', 'keepalives', 'keepalives_idle'],
  ...['prepare', 'pgbouncer'],
])

/** True for an unknown parameter, and for one that asks for a protection that the driver does not give. */
function isIgnored([name, value]: [string, string]): boolean {
  if (name === 'channel_binding' || name === 'gssencmode') return value === 'require'
  return !READ.has(name) && !SETTINGS.has(name) && !WITHOUT_EFFECT.has(name)
}

/** Reads the parameters, the last of a name counts. Names are taken in lower case, as the server takes its settings. */
function readParameters(query: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  for (const part of query.split('&').filter((part) => part !== '')) {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(part) ?? []
    const key = decodeOrKeep(name).toLowerCase()
    // Anything else may be the rest of a password, which must not be repeated.
    if (!/^[a-z_][a-z0-9_.]{0,62}$/.test(key))
      fail("has a parameter that is not written name=value ('&' in a value is written %26)")
    parameters.set(key, decodeOrKeep(key === 'options' ? value.replaceAll('+', ' ') : value))
  }
  return parameters
}

/** One server in the list of a URL: `name`, `name:port`, `[v6]:port`. */
const SERVER = /^(?:\[([0-9a-f:.]+(?:%[^\]]+)?)\]|([^[\]:@\s]*))(?::(\d*))?$/i

function readServers(list: string, parameters: ReadonlyMap<string, string>): DatabaseServer[] {
  const written = list.split(',').map((one) => {
    const [matched, v6, name = '', port = ''] = SERVER.exec(one) ?? []
    if (matched === undefined)
      fail(
        "lists its servers as host:port,host:port, with IPv6 in brackets ('@', '/' and '?' of a password are written " +
          '%40, %2F and %3F)',
      )
    return { host: decodeOrKeep(v6 ?? name), port }
  })
  const split = (name: string) => parameters.get(name)?.split(',')
  const addresses = split('hostaddr') ?? []
  const isUnnamed = written.length === 1 && written[0]?.host === ''
  const hosts =
    split('host')?.map((host) => host.replace(/^\[(.*)\]$/, '$1')) ??
    (isUnnamed && addresses.length > 0 ? addresses.map(() => '') : written.map(({ host }) => host))
  const ports = split('port') ?? written.map(({ port }) => port)
  for (const [what, count] of [
    ['ports', ports.length],
    ['addresses', addresses.length],
  ] as const)
    if (count > 1 && count !== hosts.length) fail(`names ${count} ${what} for ${hosts.length} servers`)
  return hosts.map((host, index) => ({
    host: host || addresses[index] || 'localhost',
    port: readPort(ports[ports.length > 1 ? index : 0] ?? ''),
    hostaddr: addresses[index] ?? '',
  }))
}

function readPort(text: string): number {
  if (text === '') return DEFAULT_PORT
  const port = Number(text)
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) fail('has a port that is no number from 1 to 65535')
  return port
}

function readTls(parameters: ReadonlyMap<string, string>): TlsOptions {
  const text = (name: string) => parameters.get(name) ?? ''
  const authority_file = text('sslrootcert')
  const older = text('requiressl') === '1' ? 'require' : ''
  // Without a word about it the connection is made in the clear.
  const asked = text('sslmode') || text('ssl') || older || (authority_file === 'system' ? 'verify-full' : 'disable')
  const known = TLS_MODES.get(asked)
  if (!known) throw new Error(`sslmode '${asked.slice(0, 20)}' is not known`)
  const isDirect = oneOf(parameters, 'sslnegotiation', NEGOTIATIONS) === 'direct'
  if (authority_file === 'system' && known !== 'verify-full') fail('needs sslmode=verify-full with sslrootcert=system')
  if (isDirect && (known === 'disable' || known === 'prefer'))
    fail('needs sslmode=require or stronger with sslnegotiation=direct')
  return {
    // As in libpq, `require` beside an authority means that the authority is asked.
    mode: known === 'require' && authority_file !== '' ? 'verify-ca' : known,
    authority_file,
    certificate_file: text('sslcert'),
    key_file: text('sslkey'),
    key_password: text('sslpassword'),
    min_version: oneOf(parameters, 'ssl_min_protocol_version', TLS_VERSIONS) ?? '',
    max_version: oneOf(parameters, 'ssl_max_protocol_version', TLS_VERSIONS) ?? '',
    is_direct: isDirect,
  }
}

function readPrepare(parameters: ReadonlyMap<string, string>): boolean | null {
  const said = oneOf(parameters, 'prepare', SWITCH)
  if (said !== null) return said === 'true'
  return oneOf(parameters, 'pgbouncer', SWITCH) === 'true' ? false : null
}

function oneOf<T extends string>(
  parameters: ReadonlyMap<string, string>,
  name: string,
  values: readonly T[],
): T | null {
  const text = parameters.get(name) ?? ''
  if (text === '') return null
  return values.find((value) => value === text) ?? fail(`needs one of ${values.join(', ')} as ${name}`)
}

/** Reads a whole number of seconds; null when it is absent, zero or negative, which mean the default. */
function positive(parameters: ReadonlyMap<string, string>, name: string): number | null {
  const text = parameters.get(name) ?? ''
  if (!/^-?\d{0,6}$/.test(text)) fail(`needs a whole number of seconds as ${name}`)
  return Number(text) > 0 ? Number(text) : null
}
