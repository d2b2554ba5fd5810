import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from '../src/data/db/pool.ts'

/** The baseline server of an event stream: it writes the payload of each NOTIFY to all readers. */
const open = new Set<ServerResponse>()
const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(': keepalive\n\n')
  open.add(response)
  response.on('close', () => open.delete(response))
})
await connect(process.env.PLATFORM_SQL_DATABASE_URL ?? '').listen('bench_watchers', (text) => {
  const frame = Buffer.from(`data: ${JSON.stringify({ text })}\n\n`)
  for (const response of open) response.write(frame)
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
