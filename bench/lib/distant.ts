import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server on another machine. */
export interface Distance {
  /** Milliseconds to the server and back. */
  round_trip_ms: number
  /** Megabits a second, in each direction and for each connection. */
  mbit_s: number
}

/**
 * Starts a TCP relay to a port of this machine, through which the server seems to be as far away as told.
 * @returns the port of the relay, and what ends it
 */
export async function startDistantRelay(port: number, distance: Distance) {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    }
    // The handshake of TCP itself is over at once here.
    void passOn(client, upstream, { ...distance, first_ms: distance.round_trip_ms }).catch(() => upstream.destroy())
    void passOn(upstream, client, { ...distance, first_ms: 0 }).catch(() => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Writes what arrives at `from` to `to` at the time at which it would be there, and holds `from` back meanwhile. */
async function passOn(from: Socket, to: Socket, { round_trip_ms, mbit_s, first_ms }: Distance & { first_ms: number }) {
  const bytesInAMs = (mbit_s * 1e6) / 8 / 1e3
  const most = Math.max(64 * 1024, bytesInAMs * round_trip_ms)
  let free = performance.now() + first_ms
  let under = 0
  let last = Promise.resolve()
  for await (const chunk of from as AsyncIterable<Buffer>) {
    free = Math.max(free, performance.now()) + chunk.length / bytesInAMs
    const arrives = free + round_trip_ms / 2
    under += chunk.length
    last = last.then(async () => {
      await until(arrives)
      under -= chunk.length
      if (!to.destroyed && !to.write(chunk)) await Promise.race([once(to, 'drain'), once(to, 'close')])
    })
    // What is on the way is limited, as by the window of TCP.
    if (under > most) await last
  }
  await last
  to.end()
}

async function until(moment: number): Promise<void> {
  const left = moment - performance.now()
  if (left > 0) await new Promise((resolve) => setTimeout(resolve, left))
}
