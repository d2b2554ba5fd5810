import { connect, type Socket } from 'node:net'

/**
 * Measures requests per second over connections that stay open, each with one request at a time. It is written with
 * plain sockets, so that the client takes as little processor time as possible from the server.
 * Errors: an answer that is not 200.
 */
export async function measureRequestsPerSecond(
  url: string,
  headers: Record<string, string>,
  options: { connections: number; ms: number },
): Promise<number> {
  const { hostname, port, pathname, search } = new URL(url)
  const lines = [
    `GET ${pathname}${search} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  const message = `${lines.join('\r\n')}\r\n\r\n`
  const end = performance.now() + options.ms
  const started = performance.now()
  const counts = await Promise.all(
    Array.from({ length: options.connections }, () => runConnection(hostname, Number(port), message, end)),
  )
  return (counts.reduce((sum, count) => sum + count, 0) / (performance.now() - started)) * 1000
}

function runConnection(host: string, port: number, message: string, end: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let answered = 0
    let buffered = ''
    const socket: Socket = connect({ host, port, noDelay: true }, () => socket.write(message))
    socket.setEncoding('latin1')
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    socket.on('data', (text: string) => {
      buffered += text
      if (!isWhole(buffered)) return
      if (!buffered.startsWith('HTTP/1.1 200')) return reject(new Error(`an answer was ${buffered.slice(0, 200)}`))
      answered++
      buffered = ''
      if (performance.now() < end) return socket.write(message)
      socket.removeAllListeners('close')
      socket.destroy()
      resolve(answered)
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
