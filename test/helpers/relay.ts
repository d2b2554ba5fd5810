import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type Relay = Awaited<ReturnType<typeof startRelay>>

/** Starts a TCP relay to a port of this machine. Its connections can be made to fail as networks do. */
export async function startRelay(port: number) {
  const pairs = new Set<{ client: Socket; upstream: Socket }>()
  let cut: { word: string; isForwarded: boolean; done: () => void } | null = null
  let isReachable = true
  const silenced = new Set<Socket>()
  const server = createServer((client) => {
    if (!isReachable) {
      silenced.add(client.on('error', () => {}))
      return
    }
    const upstream = connect(port, '127.0.0.1')
    const pair = { client, upstream }
    pairs.add(pair)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', () => {})
      from.on('data', (data) => {
        if (!pairs.has(pair)) return
        if (from === client && cut !== null && data.includes(cut.word)) {
          const { isForwarded, done } = cut
          cut = null
          pairs.delete(pair)
          if (isForwarded) upstream.end(data)
          else upstream.destroy()
          client.destroy()
          done()
        } else to.write(data)
      })
      from.on('close', () => {
        if (pairs.delete(pair)) to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    /** The URL with this relay in place of the server. */
    before: (url: string) => url.replace(/@[^/?]+/, `@127.0.0.1:${typeof address === 'object' ? address?.port : 0}`),
    /** From now on swallows what is sent on the present connections in either direction, and ends none of them. */
    swallow: () => pairs.clear(),
    /** From now on swallows what is sent on new connections, too, or on new ones no more. */
    setReachable: (reachable: boolean) => {
      isReachable = reachable
      if (!reachable) pairs.clear()
    },
    /**
     * Cuts the connection on which the client first says this word, with or without passing it on; the answer is lost.
     * The promise resolves then.
     */
    cutAt: (word: string, isForwarded: boolean) =>
      new Promise<void>((done) => {
        cut = { word, isForwarded, done }
      }),
    close: () => {
      for (const { client, upstream } of pairs) {
        client.destroy()
        upstream.destroy()
      }
      for (const client of silenced) client.destroy()
      server.close()
    },
  }
}
