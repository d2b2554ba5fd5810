import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { OutboundError, send } from '../../../src/base/http.ts'
import { parseJson } from '../../../src/base/json.ts'
import { type Call, type Exchange, NoAnswer, type Options } from '../types.ts'

const MAX_SHOWN = 600

/** Sends one request on its own connection. Errors: `NoAnswer`. */
export async function exchange(options: Options, method: string, path: string, call: Call): Promise<Exchange> {
  const body = 'json' in call ? JSON.stringify(call.json) : call.raw
  const type = 'content_type' in call ? call.content_type : 'application/json'
  const authorization = call.authorization === undefined ? rightAuthorization(options) : call.authorization
  const headers: Record<string, string> = { connection: 'close', ...call.headers }
  if (body !== undefined && typeof type === 'string') headers['content-type'] = type
  if (authorization !== null) headers.authorization = authorization
  const shown = masked(options, requestText(method, path, headers, body))
  try {
    const answer = await send(fetch, {
      url: `${options.url}${path}`,
      method,
      headers,
      // Bytes, because `fetch` adds a content type to a text.
      body: typeof body === 'string' ? new TextEncoder().encode(body) : (body ?? null),
      timeoutMs: options.exchangeMs,
      maxBytes: 64 * 1024 * 1024,
    })
    const text = answer.text()
    return { request: shown, path, status: answer.status, headers: answer.headers, text, json: parseJson(text) }
  } catch (error) {
    throw new NoAnswer(shown, error instanceof OutboundError ? error.message : 'the request could not be sent')
  }
}

export const rightAuthorization = ({ token }: Options): string | null => (token === null ? null : `Bearer ${token}`)

function requestText(
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string | Uint8Array | undefined,
): string {
  const { connection: _, ...shownHeaders } = headers
  const lines = [
    `${method} ${shortened(path)}`,
    ...Object.entries(shownHeaders).map(([name, value]) => `${name}: ${shortened(value)}`),
  ]
  if (typeof body === 'string') lines.push('', shortened(body))
  else if (body)
    lines.push('', `${body.length} bytes: ${shortened(new TextDecoder().decode(body.subarray(0, MAX_SHOWN)))}`)
  return lines.join('\n')
}

/** Renders an answer for people: status, important headers and the beginning of the body. */
export function answerText(options: Options, { status, headers, text }: Exchange): string {
  const shownHeaders = ['content-type', 'www-authenticate', 'location', 'allow'].flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [`${name}: ${value}`]
  })
  return masked(options, [`HTTP ${status}`, ...shownHeaders, ...(text === '' ? [] : ['', shortened(text)])].join('\n'))
}

export const masked = ({ token }: Options, text: string): string => (token ? text.replaceAll(token, '<token>') : text)

const shortened = (text: string) =>
  text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)`

/** Writes text to its own connection and reads the status line. `cut` closes the connection after the write. */
export function rawExchange(url: string, text: string, options: { cut: boolean; limitMs: number }) {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const secure = protocol === 'https:'
  const number = port === '' ? (secure ? 443 : 80) : Number(port)
  return new Promise<{ status: number | null }>((resolve) => {
    let received = ''
    const socket = secure ? connectTls({ host, port: number, servername: host }) : connect({ host, port: number })
    const end = () => {
      clearTimeout(timer)
      socket.destroy()
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(received)?.[1]
      resolve({ status: status === undefined ? null : Number(status) })
    }
    const timer = setTimeout(end, options.limitMs)
    socket.on('error', end)
    socket.on('close', end)
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      if (received.includes('\r\n')) end()
    })
    socket.write(text, 'latin1', () => {
      if (options.cut) end()
    })
  })
}
