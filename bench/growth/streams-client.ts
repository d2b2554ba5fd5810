import { connect, type Socket } from 'node:net'

/** What the bench asks of this process. */
export type Order =
  /** Opens a stream for each path, `at_once` of them at a time; each is opened again whenever it ends, until `close`. */
  { type: 'open'; url: string; paths: string[]; at_once: number } | { type: 'close' }

/** What this process tells. Times are milliseconds since 1970, with fractions. */
export type Report =
  /** All streams have received a state. `refused` counts answers other than 200 since the last report. */
  { type: 'open'; at: number; refused: number } | { type: 'arrival'; text: string; at: number }

/** The readers of many event streams, in a process of their own and with plain sockets, so that they cost little. */
const RETRY_MS = 250
const now = () => performance.timeOrigin + performance.now()
const tell = (report: Report) => process.send?.(report)

const sockets = new Set<Socket>()
const withState = new Set<string>()
const waiting: string[] = []
let opening = 0
let total = 0
let refused = 0
let closing = false
let target = { host: '', port: 0, at_once: 0 }

function openMore(): void {
  while (opening < target.at_once && !closing) {
    const path = waiting.shift()
    if (path === undefined) return
    open(path)
  }
}

function open(path: string): void {
  opening++
  let isOpening = true
  const settle = () => {
    if (isOpening) opening--
    isOpening = false
    openMore()
  }
  const socket = connect({ host: target.host, port: target.port })
  socket.setEncoding('latin1')
  socket.on('connect', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: ${target.host}:${target.port}\r\n\r\n`))
  socket.on('data', (text: string) => {
    if (isOpening && text.startsWith('HTTP/1.1 ') && !text.startsWith('HTTP/1.1 200')) {
      refused++
      socket.destroy()
      return
    }
    if (!withState.has(path) && text.includes('data: {')) {
      withState.add(path)
      settle()
      if (withState.size === total) {
        tell({ type: 'open', at: now(), refused })
        refused = 0
      }
    }
    const change = /"message":"(change \d+)"/.exec(text)?.[1]
    if (change) tell({ type: 'arrival', text: change, at: now() })
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    sockets.delete(socket)
    withState.delete(path)
    settle()
    if (closing) return
    waiting.push(path)
    setTimeout(openMore, RETRY_MS)
  })
  sockets.add(socket)
}

process.on('message', (order: Order) => {
  if (order.type === 'close') {
    closing = true
    for (const socket of sockets) socket.destroy()
    return
  }
  const { hostname, port } = new URL(order.url)
  target = { host: hostname, port: Number(port), at_once: order.at_once }
  total += order.paths.length
  closing = false
  waiting.push(...order.paths)
  openMore()
})
process.on('disconnect', () => process.exit(0))
