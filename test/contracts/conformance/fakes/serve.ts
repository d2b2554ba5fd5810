import { onTestFinished } from 'vitest'
import { type ContractName, readContract } from '../../../../contracts/conformance/document.ts'
import { DEFAULTS } from '../../../../contracts/conformance/options.ts'
import { type Outcome, runConformance } from '../../../../contracts/conformance/run.ts'
import type { Options } from '../../../../contracts/conformance/types.ts'
import { serve } from '../../../../src/runtime/serve.ts'

export const TOKEN = 'Token-of-the-fake-1'

export type Handler = (request: Request) => Response | Promise<Response>
export interface Asked {
  request: Request
  path: string
  /** Null if the bytes are not UTF-8. */
  text: string | null
  /** Undefined if the text is not JSON. */
  json: unknown
  /** Forwards the request to the service, with changed body, path or headers if given. */
  pass(changed?: { body?: unknown; headers?: Record<string, string> }): Promise<Response>
}

/** Wraps a service with a handler that sees every request whole. */
export function before(app: Handler, intervene: (asked: Asked) => Response | Promise<Response>): Handler {
  return async (request) => {
    const bytes = await request.arrayBuffer()
    const text = decoded(bytes)
    return intervene({
      request,
      path: new URL(request.url).pathname,
      text,
      json: parsed(text),
      pass: async ({ body, headers = {} } = {}) => {
        const sent = body === undefined ? bytes : JSON.stringify(body)
        const all = new Headers(request.headers)
        all.delete('content-length')
        all.delete('transfer-encoding')
        for (const [name, value] of Object.entries(headers)) all.set(name, value)
        const bare = request.method === 'GET' || (sent instanceof ArrayBuffer && sent.byteLength === 0)
        return app(new Request(request.url, { method: request.method, headers: all, body: bare ? null : sent }))
      },
    })
  }
}

export const problem = (status: number, more: { detail?: string; headers?: Record<string, string> } = {}): Response => {
  const { headers, ...fields } = more
  const body = JSON.stringify({ type: 'about:blank', title: 'Problem', status, ...fields })
  return new Response(body, { status, headers: { 'content-type': 'application/problem+json', ...headers } })
}

/** Answers another status where the service answers `status` on this path. */
export const replacingStatus = (app: Handler, path: RegExp, status: number, answered: number): Handler =>
  before(app, async (asked) => {
    const response = await asked.pass()
    return path.test(asked.path) && response.status === status ? problem(answered) : response
  })

/** Treats a request as if its body had been what `change` returns, unless that is null. */
export const lenient = <Sent extends object>(app: Handler, change: (sent: Sent) => object | null): Handler =>
  before(app, ({ json, pass }) => {
    const body = typeof json === 'object' && json !== null && !Array.isArray(json) ? change(json as Sent) : null
    return body === null ? pass() : pass({ body })
  })

/** Changes the JSON of answers with this status. */
export const answering = (app: Handler, status: number, change: (json: Record<string, unknown>) => unknown): Handler =>
  before(app, async ({ pass, path }) => {
    const response = await pass()
    if (response.status !== status || path === '/healthz') return response
    return new Response(JSON.stringify(change(await response.json())), { status, headers: response.headers })
  })

export async function judged(
  contract: ContractName,
  handler: Handler,
  options: Partial<Options> = {},
): Promise<Outcome> {
  const server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
  onTestFinished(() => server.close(0))
  return runConformance({
    ...DEFAULTS,
    contract: await readContract(contract),
    url: server.url,
    token: TOKEN,
    seed: 7,
    ...options,
  })
}

/** Returns the promises that a defect breaks, from its name `defect: promise, promise`. */
export const promisesOf = (defect: string): string[] => defect.split(': ')[1]?.split(', ') ?? []

/** True if the value has not been seen before. */
export function isNew(seen: Set<string>, value: string): boolean {
  const before = seen.size
  return seen.add(value).size > before
}

export const brokenOf = (outcome: Outcome): string[] =>
  outcome.promises.filter((each) => each.outcome === 'broken').map(({ id }) => id)

function decoded(bytes: ArrayBuffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
