import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'

export interface RawAnswer {
  /** Null when the connection was closed without an answer, or cut by the suite. */
  status: number | null
}

/** Writes text to its own connection and reads the status line. `cut` closes the connection after the write. */
export function rawExchange(url: string, text: string, options: { cut: boolean; limitMs: number }): Promise<RawAnswer> {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const secure = protocol === 'https:'
  const number = port === '' ? (secure ? 443 : 80) : Number(port)
  return new Promise((resolve) => {
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
