import { createServer, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { SeedPrompt } from '../../src/prompts/parse-seed.ts'
import { BodyTooLarge, listen, type Running, readBody } from '../server.ts'
import { dropOutdated, loadPrompts, type PromptStore } from './prompt-store.ts'
import { type ReceivedSpan, readSpans } from './read-spans.ts'
import { type Answer, answerRegistry } from './registry-routes.ts'
import { createSpanStore, type SpanStore } from './span-store.ts'

const MAX_BODY = 64 * 1024 * 1024

export interface Collector extends Running {
  /** The value for `telemetry.collector_url`. */
  collector_url: string
  spans: SpanStore
  prompts: PromptStore
}

export interface CollectorOptions {
  port?: number
  /** Folder for the prompts. Without it they are lost when the process ends. */
  data_dir?: string
  /** The shipped prompts. Prompts that nobody has edited are made to follow them. */
  shipped?: ReadonlyMap<string, SeedPrompt>
}

/**
 * Starts a collector of spans (OTLP over HTTP, protobuf) and a registry of prompts at one address, like the product
 * that the platform expects there. One route is an addition of this server: `GET /v1/sessions/<id>/spans` answers the
 * spans of a session.
 */
export async function startCollector(options: CollectorOptions = {}): Promise<Collector> {
  const prompts = await loadPrompts(options.data_dir === undefined ? null : join(options.data_dir, 'prompts.json'))
  if (options.shipped) dropOutdated(prompts, options.shipped)
  const spans = createSpanStore()
  const server = createServer(async (request, response) => {
    const { status, json, text } = await respond(request, spans, prompts).catch(toErrorAnswer)
    if (json !== undefined) response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
    else if (text !== undefined) response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
    else response.writeHead(status).end()
  })
  const running = await listen(server, { port: options.port })
  const close = async () => {
    await running.close()
    await prompts.saved()
  }
  return { ...running, close, collector_url: `${running.url}/`, spans, prompts }
}

async function respond(request: IncomingMessage, spans: SpanStore, prompts: PromptStore): Promise<Answer> {
  const [path = ''] = (request.url ?? '').replace(/^\/v1\//, '').split('?')
  const method = request.method ?? 'GET'
  const body = await readBody(request, MAX_BODY)
  if (method === 'POST' && path === 'traces') return storeSpans(request, body, spans)
  const [, session_id] = /^sessions\/([^/]+)\/spans$/.exec(path) ?? []
  if (method === 'GET' && session_id !== undefined)
    return { status: 200, json: { data: spans.ofSession(session_id) satisfies ReceivedSpan[] } }
  const json: unknown = method === 'POST' ? JSON.parse(body.toString('utf8')) : undefined
  return answerRegistry(prompts, method, path, json) ?? { status: 404, json: { detail: 'Not Found' } }
}

function storeSpans(request: IncomingMessage, body: Buffer<ArrayBuffer>, spans: SpanStore): Answer {
  if (!/^application\/x-protobuf\b/.test(request.headers['content-type'] ?? '')) return { status: 415 }
  spans.add(readSpans(body))
  return { status: 200 }
}

function toErrorAnswer(error: unknown): Answer {
  if (error instanceof BodyTooLarge) return { status: 413 }
  const malformed =
    error instanceof RangeError ||
    error instanceof TypeError ||
    error instanceof SyntaxError ||
    error instanceof URIError
  return {
    status: malformed ? 400 : 500,
    json: { detail: malformed ? 'The body cannot be read.' : 'The request failed.' },
  }
}
