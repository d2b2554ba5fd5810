import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { freePort, type Service, startService } from '../tools/service.ts'

const EXAMPLES = join(import.meta.dirname, '../../../../docs/examples/proxies')

interface Kind {
  file: string
  program: string | undefined
  args(file: string, folder: string): string[]
}
/** The published configurations, and how each program is started with one. */
export const KINDS: Readonly<Record<string, Kind>> = {
  nginx: {
    file: 'nginx.conf',
    program: process.env.NGINX,
    args: (file, folder) => [
      ...['-p', folder, '-e', join(folder, 'error.log'), '-c', file],
      ...['-g', `daemon off; master_process off; pid ${join(folder, 'pid')};`],
    ],
  },
  haproxy: { file: 'haproxy.cfg', program: process.env.HAPROXY, args: (file) => ['-f', file, '-db'] },
  caddy: {
    file: 'Caddyfile',
    program: process.env.CADDY,
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  },
  envoy: {
    file: 'envoy.yaml',
    program: process.env.ENVOY,
    args: (file) => ['--config-path', file, '--disable-hot-restart', '--concurrency', '1', '--log-level', 'error'],
  },
}

/** A proxy in front of a core. */
export interface RunningProxy {
  port: number
  service: Service
  /** Stops the program and starts it again on the same port. */
  restart(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a proxy with its published configuration. What is replaced: the addresses, the files of the certificate, the
 * paths of logs, and texts of `changes`.
 * @param core URL of the core
 */
export async function startProxy(
  name: string,
  core: string,
  { host = '127.0.0.1', changes = [] }: { host?: string; changes?: readonly (readonly [string, string])[] } = {},
): Promise<RunningProxy> {
  const kind = KINDS[name]
  if (!kind?.program) throw new Error(`${name} is not installed`)
  const folder = await mkdtemp(join(tmpdir(), `proxy-${name}-`))
  const [key, certificate] = [join(folder, 'platform.key'), join(folder, 'platform.crt')]
  const pem = join(folder, 'platform.pem')
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate],
    ],
    { stdio: 'ignore' },
  )
  await writeFile(pem, (await readFile(certificate, 'utf8')) + (await readFile(key, 'utf8')))
  const port = await freePort()
  const coreHost = new URL(core).hostname.replace(/^\[|\]$/g, '')
  const at = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  )
  const replaced: readonly (readonly [string, string])[] = [
    ['127.0.0.1:8000', new URL(core).host],
    ['/etc/ssl/platform.pem', pem],
    ['/etc/ssl/platform.key', key],
    // nginx
    ['listen 443 ssl', `listen ${at} ssl`],
    ['    listen [::]:443 ssl http2;\n', ''],
    ['http {\n', `http {\n  access_log off; ${temporary.join(' ')}\n`],
    // HAProxy
    ['bind :::443 v4v6 ssl', `bind ${at} ssl`],
    // Caddy: a certificate of its own, no administration, one address
    ['{\n\tservers {', `{\n\tadmin off\n\tauto_https disable_redirects\n\tdefault_bind ${host}\n\tservers {`],
    ['platform.example.com {', `https://localhost:${port} {\n\ttls ${certificate} ${key}`],
    // Envoy
    ['address: "::", port_value: 443, ipv4_compat: true', `address: "${host}", port_value: ${port}`],
    ['address: 127.0.0.1, port_value: 8000', `address: "${coreHost}", port_value: ${new URL(core).port}`],
    ...changes,
  ]
  let text = await readFile(join(EXAMPLES, kind.file), 'utf8')
  for (const [from, to] of replaced) text = text.replaceAll(from, to)
  const file = join(folder, kind.file)
  await writeFile(file, text)
  const proxy = { port, host }
  const start = () =>
    startService(kind.program ?? '', kind.args(file, folder), {
      cwd: folder,
      env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      ready: async () => {
        const { status } = await ask(proxy, { path: '/healthz' })
        if (status !== 200) throw new Error(`answers ${status}`)
      },
      seconds: 30,
    })
  let service = await start()
  return {
    ...proxy,
    get service() {
      return service
    },
    restart: async () => {
      await service.stop()
      service = await start()
    },
    close: async () => {
      await service.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export interface Asked {
  path: string
  method?: string
  headers?: Record<string, string>
  body?: string
  /** Address from which the caller comes. */
  from?: string
}
export interface Told {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}
type Target = { port: number; host?: string }

/** Asks over HTTP/1.1, with the path as it stands. */
export const ask = (target: Target, { path, method = 'GET', headers = {}, body, from }: Asked): Promise<Told> =>
  new Promise((resolve, reject) => {
    const sent = request({
      ...{ host: target.host ?? '127.0.0.1', port: target.port, servername: 'localhost', localAddress: from },
      ...{ path, method, rejectUnauthorized: false, agent: false, timeout: 60_000 },
      headers: { host: `localhost:${target.port}`, ...headers },
    })
    sent.on('error', reject)
    sent.on('timeout', () => sent.destroy(new Error(`no answer on ${path}`)))
    sent.on('response', (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks).toString() }),
      )
    })
    sent.end(body)
  })

/** Reads the frames of an event stream, which stays open until it ends or `leave` is called. */
export interface Frames {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** The next frame with its blank line; null at the end. Rejects when the connection breaks. */
  next(): Promise<string | null>
  leave(): void
}

/** Collects text and hands it out by frame. */
function createFrames() {
  let text = ''
  let isOver = false
  let broken: Error | null = null
  let wake = () => {}
  return {
    add: (chunk: string) => {
      text += chunk
      wake()
    },
    end: (error: Error | null = null) => {
      isOver = true
      broken ??= error
      wake()
    },
    next: async (): Promise<string | null> => {
      for (;;) {
        const at = text.indexOf('\n\n')
        if (at >= 0) {
          const frame = text.slice(0, at + 2)
          text = text.slice(at + 2)
          return frame
        }
        if (broken) throw broken
        if (isOver) return null
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

/** Opens a stream over HTTP/1.1. */
export const openStream = (target: Target, path: string, headers: Record<string, string> = {}): Promise<Frames> =>
  new Promise((resolve, reject) => {
    const sent = request({
      ...{ host: target.host ?? '127.0.0.1', port: target.port, servername: 'localhost', path },
      ...{ rejectUnauthorized: false, agent: false },
      headers: { host: `localhost:${target.port}`, accept: 'text/event-stream', ...headers },
    })
    sent.on('error', reject)
    sent.on('response', (answer) => {
      const frames = createFrames()
      answer.setEncoding('utf8')
      answer.on('data', frames.add)
      answer.on('end', () => frames.end())
      answer.on('error', frames.end)
      answer.on('aborted', () => frames.end(new Error('the connection broke')))
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        next: frames.next,
        leave: () => sent.destroy(),
      })
    })
    sent.end()
  })

/** Opens a stream over HTTP/2. */
export async function openHttp2Stream(
  target: Target,
  path: string,
  more: Record<string, string> = {},
): Promise<Frames> {
  const session = connectHttp2(`https://localhost:${target.port}`, {
    rejectUnauthorized: false,
    host: target.host ?? '127.0.0.1',
  } as Parameters<typeof connectHttp2>[1])
  const frames = createFrames()
  session.on('error', frames.end)
  const stream = session.request({ ':path': path, accept: 'text/event-stream', 'accept-encoding': 'gzip', ...more })
  stream.setEncoding('utf8')
  stream.on('data', frames.add)
  stream.on('end', () => frames.end())
  stream.on('error', frames.end)
  const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
    stream.on('response', resolve)
    stream.on('error', reject)
    session.on('error', reject)
  })
  return {
    status: Number(headers[':status']),
    headers: headers as Frames['headers'],
    next: frames.next,
    leave: () => session.destroy(),
  }
}

/** What a client of HTTP/1.0 reads until the other end closes the connection. */
export const readHttp10 = (target: Target, path: string, more = ''): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connectTls(
      { host: target.host ?? '127.0.0.1', port: target.port, servername: 'localhost', rejectUnauthorized: false },
      () => socket.write(`GET ${path} HTTP/1.0\r\nHost: localhost:${target.port}\r\n${more}\r\n`),
    )
    let text = ''
    socket.setEncoding('utf8')
    socket.setTimeout(60_000, () => socket.destroy(new Error('the connection stays open')))
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('end', () => resolve(text))
  })
