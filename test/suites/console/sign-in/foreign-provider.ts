import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createInterface } from 'node:readline'
import { AUDIENCE, CLIENT_ID, serveIssuer } from './issuer.ts'

export type ForeignIssuer = Awaited<ReturnType<typeof startForeignIssuer>>

/**
 * Starts an independent OpenID provider, a program, behind a proxy that counts the requests and tells the program with
 * each of them how to behave.
 * @param program path of the program (`test/suites/world/oidc/server`)
 * @param origin of the console, read at the first request
 */
export async function startForeignIssuer(program: string, origin: () => string) {
  let started: Promise<{ child: ChildProcess; address: string }> | undefined
  let generation = 0
  const served = await serveIssuer((incoming, response) => {
    started ??= start(program, issuer.url, origin())
    const { person, lifetime, refresh, audience, rotations, retired } = issuer
    const settings = { ...person, lifetime, refresh, audience, rotations, retired, generation }
    started.then(
      ({ address }) => forward(incoming, response, address, settings),
      (error) => response.writeHead(500).end(String(error)),
    )
  })
  const { close } = served
  const issuer = Object.assign(served, {
    /** Audience of access tokens. */
    audience: AUDIENCE,
    /** Number of keys before the signing one, and how many of these are not published any more. */
    rotations: 0,
    retired: 0,
    forget: () => {
      generation++
    },
    close: async () => {
      const running = await started?.catch(() => undefined)
      running?.child.kill()
      await close()
    },
  })
  return issuer
}

async function start(program: string, issuer: string, origin: string) {
  const child = spawn(program, [], {
    env: { ISSUER: issuer, ORIGIN: origin, CLIENT_ID },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the provider ended with ${code}`)
  })
  const lines = createInterface({ input: child.stdout })
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string]
  ended.catch(() => {})
  return { child, address: (JSON.parse(line) as { address: string }).address }
}

function forward(incoming: IncomingMessage, response: ServerResponse, address: string, settings: object): void {
  const headers = { ...incoming.headers, 'test-settings': JSON.stringify(settings) }
  const outgoing = request(`http://${address}${incoming.url}`, { method: incoming.method ?? 'GET', headers })
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  outgoing.on('error', (error) => response.writeHead(502).end(String(error)))
  incoming.pipe(outgoing)
}
