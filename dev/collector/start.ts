import { join } from 'node:path'
import type { SeedPrompt } from '../../src/prompts/parse-seed.ts'
import { BodyTooLarge, isAuthorized, type ServerAnswer, type ServerRequest, startServer } from '../server.ts'
import { answerRegistry, dropOutdated, loadPrompts, type PromptStore } from './prompt-store.ts'
import { type ReceivedSpan, readSpans } from './read-spans.ts'

export type Collector = Awaited<ReturnType<typeof startCollector>>

export interface CollectorOptions {
  port?: number
  /** Bearer token of every request; without it none is needed. */
  token?: string
  /** Folder for the prompts. Without it they are kept in memory. */
  data_dir?: string
  /** The shipped prompts. Unedited prompts are updated to them. */
  shipped?: ReadonlyMap<string, SeedPrompt>
}

/**
 * Starts a collector of spans (OTLP over HTTP, protobuf) and a registry of prompts at one address, as the platform
 * expects. One route is an addition: `GET /v1/sessions/<id>/spans` returns the spans of a session.
 * @returns `collector_url` is the value for `telemetry.collector_url`
 */
export async function startCollector(options: CollectorOptions = {}) {
  const prompts = await loadPrompts(options.data_dir === undefined ? null : join(options.data_dir, 'prompts.json'))
  if (options.shipped) dropOutdated(prompts, options.shipped)
  const spans = createSpanStore()
  const running = await startServer({
    port: options.port,
    maxBodyBytes: 64 * 1024 * 1024,
    respond: (request) =>
      options.token === undefined || isAuthorized(request.headers.authorization, options.token)
        ? respond(request, spans, prompts)
        : {
            status: 401,
            headers: { 'www-authenticate': 'Bearer' },
            body: { detail: 'The bearer token is missing or wrong.' },
          },
    fail: toErrorAnswer,
  })
  const close = async () => {
    await running.close()
    await prompts.saved()
  }
  return { ...running, close, collector_url: `${running.url}/`, spans, prompts }
}

async function respond(request: ServerRequest, spans: SpanStore, prompts: PromptStore): Promise<ServerAnswer> {
  const { method, headers } = request
  const path = request.path.replace(/^\/v1\//, '')
  const body = await request.body()
  if (method === 'POST' && path === 'traces') {
    if (!/^application\/x-protobuf\b/.test(headers['content-type'] ?? '')) return { status: 415 }
    spans.add(readSpans(body))
    return { status: 200 }
  }
  const [, session_id] = /^sessions\/([^/]+)\/spans$/.exec(path) ?? []
  if (method === 'GET' && session_id !== undefined) return { status: 200, body: { data: spans.ofSession(session_id) } }
  const json: unknown = method === 'POST' ? JSON.parse(body.toString('utf8')) : undefined
  return answerRegistry(prompts, method, path, json) ?? { status: 404, body: { detail: 'Not Found' } }
}

function toErrorAnswer(error: unknown): ServerAnswer {
  if (error instanceof BodyTooLarge) return { status: 413 }
  const isMalformed = [RangeError, TypeError, SyntaxError, URIError].some((type) => error instanceof type)
  if (isMalformed) return { status: 400, body: { detail: 'The body cannot be read.' } }
  return { status: 500, body: { detail: 'The request failed.' } }
}

type SpanStore = ReturnType<typeof createSpanStore>

/** Most characters of attributes in memory. Beyond that the oldest spans are dropped. */
const MAX_CHARACTERS = 64 * 1024 * 1024

export function createSpanStore(maxCharacters = MAX_CHARACTERS) {
  const kept: { span: ReceivedSpan; size: number }[] = []
  let total = 0
  return {
    add: (spans: readonly ReceivedSpan[]): void => {
      for (const span of spans) {
        const size = JSON.stringify(span.attributes).length
        kept.push({ span, size })
        total += size
      }
      while (total > maxCharacters) total -= kept.shift()?.size ?? total
    },
    /** Returns the spans of a session in the order of their start. */
    ofSession: (sessionId: string): ReceivedSpan[] =>
      kept
        .map(({ span }) => span)
        .filter(({ attributes }) => attributes['session.id'] === sessionId)
        .sort((a, b) => a.start_ms - b.start_ms),
  }
}
