import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { loadCertificates } from '../../../dev/git-host/certificates.ts'
import { type ConnectOptions, connect } from '../../../src/data/db/pool.ts'
import type { Sql } from '../../../src/data/db/sql.ts'
import { readTextFile } from '../../../src/runtime/files.ts'
import { createEmptyDatabase, provideDatabase } from '../../helpers/postgres.ts'

const db = provideDatabase()
let real: URL
const open: { servers: Server[]; pools: Sql[]; sockets: Set<Socket> } = { servers: [], pools: [], sockets: new Set() }
let folder: string

beforeAll(async () => {
  real = new URL(db.url)
  folder = await mkdtemp(join(tmpdir(), 'sockets-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))
afterEach(async () => {
  await Promise.all(open.pools.splice(0).map((sql) => sql.end({ timeout: 0 })))
  for (const socket of open.sockets) socket.destroy()
  open.sockets.clear()
  for (const server of open.servers.splice(0)) server.close()
})

/** Serves on a free port of `host`, or on the path. */
async function serve(
  handle: (socket: Socket) => void,
  at: { host: string } | { path: string } = { host: '127.0.0.1' },
) {
  let count = 0
  const server = createServer((socket) => {
    count++
    open.sockets.add(socket)
    socket.on('error', () => {})
    handle(socket)
  })
  open.servers.push(server)
  server.listen('path' in at ? at : { ...at, port: 0 })
  await once(server, 'listening')
  const address = server.address()
  return { port: typeof address === 'object' ? (address?.port ?? 0) : 0, connections: () => count, server }
}
const toReal = (socket: Socket) => {
  const upstream = connectSocket(Number(real.port), '127.0.0.1')
  upstream.on('error', () => {})
  upstream.on('close', () => socket.destroy())
  socket.on('close', () => upstream.destroy())
  socket.pipe(upstream).pipe(socket)
}
const silent = () => {}
const speakingHttp = (socket: Socket) => void socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
const hangingUp = (socket: Socket) => void socket.end()
async function closedPort() {
  const { port, server } = await serve(silent)
  server.close()
  await once(server, 'close')
  return port
}

const pool = (url: string, options: ConnectOptions = {}) => {
  const sql = connect(url, { max: 2, patienceMs: 0, ...options })
  open.pools.push(sql)
  return sql
}
const address = (hosts: string, query = '', name = real.pathname) =>
  `postgresql://${real.username}:${real.password}@${hosts}${name}?${query}`
const here = () => `127.0.0.1:${real.port}`

it('goes on to the next server, whatever is wrong with the first', async () => {
  const hung = await serve(hangingUp)
  const quiet = await serve(silent)
  const dead = [`127.0.0.1:${await closedPort()}`, `127.0.0.1:${hung.port}`, `127.0.0.1:${quiet.port}`]
  const sql = pool(address([...dead, here()].join(','), 'connect_timeout=1'))
  expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
  // The next connection begins with the server that was right, so that no dead one is asked again.
  await Promise.all([sql`SELECT pg_sleep(0.05)`, sql`SELECT 1`])
  expect([hung.connections(), quiet.connections()]).toEqual([1, 1])
})

it('names what is wrong with each server when none can be used', async () => {
  const hung = await serve(hangingUp)
  const sql = pool(address(`127.0.0.1:${await closedPort()},127.0.0.1:${hung.port}`))
  const error = await sql`SELECT 1`.then(
    () => null,
    (reason: Error) => reason,
  )
  expect(error?.message).toMatch(
    /^no server of the database can be used: 127\.0\.0\.1:\d+: connect ECONNREFUSED .*, 127\.0\.0\.1:\d+: the server ended the connection/,
  )
  expect(error?.message).not.toContain(real.password)
})

it.each([
  ['hangs up', hangingUp, 'the server ended the connection'],
  ['speaks HTTP', speakingHttp, 'the server ended the connection'],
  ['says nothing', silent, 'no connection within 1 s'],
])('gives a server up that %s', async (_, handle, text) => {
  const server = await serve(handle)
  const sql = pool(address(`127.0.0.1:${server.port}`, 'connect_timeout=1'))
  await expect(sql`SELECT 1`).rejects.toThrow(text)
  expect(server.connections()).toBe(1)
})

it('takes the server that target_session_attrs asks for', async () => {
  const readOnly = new URL(await createEmptyDatabase(db)).pathname
  await db.sql.unsafe(`ALTER DATABASE "${readOnly.slice(1)}" SET default_transaction_read_only = on`)
  const one = (target: string, name: string) =>
    pool(address(here(), `target_session_attrs=${target}`, name))`SELECT 1 AS one`.then(
      () => 'connected',
      (error: Error) => error.message.replace(/^.*: /, ''),
    )
  expect(await one('read-write', real.pathname)).toBe('connected')
  expect(await one('primary', real.pathname)).toBe('connected')
  expect(await one('prefer-standby', real.pathname)).toBe('connected')
  expect(await one('standby', real.pathname)).toBe('it is no standby')
  expect(await one('read-only', real.pathname)).toBe('it is not read-only')
  expect(await one('read-write', readOnly)).toBe('it is read-only')
  expect(await one('read-only', readOnly)).toBe('connected')
  await db.sql.unsafe(`DROP DATABASE "${readOnly.slice(1)}" WITH (FORCE)`)
})

it('spreads its connections with load_balance_hosts=random', async () => {
  const proxies = await Promise.all([serve(toReal), serve(toReal)])
  const sql = pool(address(proxies.map(({ port }) => `127.0.0.1:${port}`).join(','), 'load_balance_hosts=random'), {
    max: 24,
  })
  await Promise.all(Array.from({ length: 24 }, () => sql`SELECT pg_sleep(0.2)`))
  for (const proxy of proxies) expect(proxy.connections()).toBeGreaterThan(0)
  expect(proxies[0]?.connections()).toBeLessThan(24)
})

it('reaches an IPv6 address and a Unix socket', async () => {
  const v6 = await serve(toReal, { host: '::1' })
  expect(await pool(address(`[::1]:${v6.port}`))`SELECT 1 AS one`).toEqual([{ one: 1 }])
  await serve(toReal, { path: join(folder, '.s.PGSQL.6543') })
  const asHost = address(`${encodeURIComponent(folder)}:6543`)
  const asParameter = address('', `host=${folder}&port=6543`)
  for (const url of [asHost, asParameter]) expect(await pool(url)`SELECT 1 AS one`).toEqual([{ one: 1 }])
})

it('logs in with a password of odd characters, raw and encoded', async () => {
  const password = 'p%@ss?#&=:1%zz'
  await db.sql.unsafe(`CREATE ROLE odd LOGIN PASSWORD '${password}'`)
  const name = real.pathname
  for (const written of [password, encodeURIComponent(password)])
    expect(await pool(`postgresql://odd:${written}@${here()}${name}`)`SELECT current_user AS u`).toEqual([{ u: 'odd' }])
  await db.sql.unsafe('DROP ROLE odd')
})

it('sends the server the settings that it knows, and no other parameter', async () => {
  const query =
    'application_name=mine&statement_timeout=7s&options=-c%20geqo%3Doff&keepalives=1&requiressl=0&connection_limit=5' +
    '&pool_timeout=3&load_balance_hosts=disable&require_auth=scram-sha-256&ssl_min_protocol_version=TLSv1.2&foo=bar'
  const [row] = await pool(address(here(), query))`
    SELECT current_setting('application_name') AS name, current_setting('statement_timeout') AS timeout,
      current_setting('geqo') AS geqo, current_setting('TimeZone') AS zone`
  expect(row).toEqual({ name: 'mine', timeout: '7s', geqo: 'off', zone: 'UTC' })
})

it('names the file that cannot be read', async () => {
  const url = address(here(), 'sslmode=verify-full&sslrootcert=/nowhere/ca.pem')
  await expect(pool(url, { readFile: async () => null })`SELECT 1`).rejects.toThrow('the file of sslrootcert')
})

describe('through a pooler', () => {
  /** Passes everything on, and tells each client another process number, as poolers do. Keeps what clients send. */
  async function startPooler() {
    const sent: Buffer[] = []
    const proxy = await serve((socket) => {
      const upstream = connectSocket(Number(real.port), '127.0.0.1')
      upstream.on('error', () => {})
      upstream.on('close', () => socket.destroy())
      socket.on('close', () => upstream.destroy())
      socket.on('data', (chunk) => {
        sent.push(chunk)
        upstream.write(chunk)
      })
      upstream.on('data', (chunk) => {
        // BackendKeyData: `K`, a length of 12, the process, the secret.
        const at = chunk.indexOf(Buffer.from([75, 0, 0, 0, 12]))
        if (at >= 0) chunk.writeUInt32BE(7, at + 5)
        socket.write(chunk)
      })
    })
    /** Names of the statements that were prepared: `P`, a length, the name. */
    const prepared = () =>
      Buffer.concat(sent)
        .toString('latin1')
        .matchAll(/P[\0-\xff]{4}(\w*)\0SELECT \$1::int/g)
    return { url: (query: string) => address(`127.0.0.1:${proxy.port}`, query), prepared }
  }

  it.each([
    ['', false],
    ['prepare=true', true],
  ])('with %j statements have names: %s', async (query, isNamed) => {
    const pooler = await startPooler()
    const sql = pool(pooler.url(query))
    for (const n of [1, 2]) expect(await sql`SELECT ${n}::int AS n`).toEqual([{ n }])
    const names = [...pooler.prepared()].map(([, name]) => name)
    expect(names).toEqual(isNamed ? [expect.stringMatching(/\w/)] : ['', ''])
  })
})

it.each([
  ['', true],
  ['prepare=false', false],
  ['pgbouncer=true', false],
])('past a pooler with %j statements have names: %s', async (query, isNamed) => {
  const sql = pool(address(here(), query), { max: 1 })
  await sql`SELECT ${1}::int AS n`
  const [row] =
    await sql`SELECT count(*) AS n FROM pg_prepared_statements WHERE statement LIKE '%::int AS n'`.unprepared()
  expect(row).toEqual({ n: isNamed ? 1 : 0 })
})

describe('encrypted', () => {
  /** Answers the request for TLS, or expects TLS at once, and passes on what was encrypted. */
  async function startTls(isDirect: boolean) {
    const { ca_file, cert, key } = await loadCertificates(folder)
    const encrypt = (socket: Socket) => {
      const secure = new TLSSocket(socket, { isServer: true, cert, key, ALPNProtocols: ['postgresql'] })
      secure.on('error', () => {})
      toReal(secure)
    }
    const { port } = await serve((socket) => {
      if (isDirect) return encrypt(socket)
      socket.once('data', () => {
        socket.write('S')
        encrypt(socket)
      })
    })
    return { port, ca_file }
  }
  const word = (url: string) =>
    pool(url, { readFile: readTextFile })`SELECT 1 AS one`.then(
      () => 'connected',
      (error: Error & { code?: string }) => error.code ?? error.message,
    )

  it.each([
    ['sslmode=require', 'connected'],
    ['sslmode=require&sslnegotiation=direct', 'connected'],
    ['sslmode=require&sslrootcert=FILE', 'connected'],
    ['sslmode=verify-full&sslrootcert=FILE', 'connected'],
    ['sslmode=verify-full&sslrootcert=FILE&sslnegotiation=direct', 'connected'],
    ['sslmode=verify-full&sslrootcert=FILE&ssl_min_protocol_version=TLSv1.3', 'connected'],
    ['sslmode=verify-full&sslrootcert=FILE&host=other.example&hostaddr=127.0.0.1', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['sslmode=verify-ca&sslrootcert=FILE&host=other.example&hostaddr=127.0.0.1', 'connected'],
    ['sslmode=verify-ca', expect.stringMatching(/CERT|SIGNATURE/)],
    ['sslrootcert=system', expect.stringMatching(/CERT|SIGNATURE/)],
  ])('%s: %s', async (query, expected) => {
    const { port, ca_file } = await startTls(query.includes('direct'))
    expect(await word(address(`127.0.0.1:${port}`, query.replace('FILE', ca_file)))).toEqual(expected)
  })
})
