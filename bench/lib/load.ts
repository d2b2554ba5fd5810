import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

/** What a turn of requests at one server took. */
export interface Load {
  per_second: number
  /** Processor time of the server process for each request, in microseconds; NaN if not on Linux. */
  cpu_us: number
}

/**
 * Sends a number of GET requests over connections that stay open, each with one request at a time. It is written with plain
 * sockets, so that the client takes as little processor time as possible from the server.
 * @param server its address and process
 * Errors: an answer that is not 200.
 */
export async function measureLoad(
  server: { url: string; pid: number },
  request: { route: string; headers: Record<string, string> },
  { connections, requests }: { connections: number; requests: number },
): Promise<Load> {
  const { hostname, port, pathname, search } = new URL(server.url + request.route)
  const lines = [
    `GET ${pathname}${search} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
  ]
  const message = `${lines.join('\r\n')}\r\n\r\n`
  const [started, before] = [performance.now(), processorTime(server.pid)]
  let left = requests
  const takeOne = () => left-- > 0
  await Promise.all(
    Array.from({ length: connections }, () => runConnection({ hostname, port: Number(port) }, message, takeOne)),
  )
  const seconds = (performance.now() - started) / 1000
  return { per_second: requests / seconds, cpu_us: ((processorTime(server.pid) - before) * 1000) / requests }
}

/** Ticks a second in which Linux tells processes about processor time. */
const TICKS = 100

/** Reads the processor time of a process, of all its threads, in ms; NaN if not on Linux. */
export function processorTime(pid: number): number {
  try {
    // The name of the program, in parentheses, may hold blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS
  } catch {
    return Number.NaN
  }
}

/** Sends the message again and again while `takeOne` allows it. */
function runConnection(
  { hostname, port }: { hostname: string; port: number },
  message: string,
  takeOne: () => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let buffered = ''
    const next = () => {
      if (takeOne()) return socket.write(message)
      socket.removeAllListeners('close')
      socket.destroy()
      resolve()
    }
    const socket: Socket = connect({ host: hostname, port, noDelay: true }, next)
    socket.setEncoding('latin1')
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    socket.on('data', (text: string) => {
      buffered += text
      if (!isWhole(buffered)) return
      if (!buffered.startsWith('HTTP/1.1 200')) return reject(new Error(`an answer was ${buffered.slice(0, 200)}`))
      buffered = ''
      next()
    })
  })
}

/** True if the text holds one whole answer, by its length or by its last chunk. */
function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1]
  return length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length >= head + 4 + Number(length)
}
