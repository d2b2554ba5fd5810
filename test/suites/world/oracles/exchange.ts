import { HttpResponse, http } from 'msw'
import { type SetupServer, setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll } from 'vitest'
import type { Logger } from '../../../../src/base/log.ts'
import { silentLogger } from '../../../../src/base/log.ts'
import { createLlmClient } from '../../../../src/llm/client.ts'
import type { Inference, LlmClient } from '../../../../src/llm/inference.ts'
import { modelConfig } from '../../../helpers/model-server.ts'
import { MODEL_SETTINGS, type Understood } from './conversation.ts'
import type { Loose } from './sdks.ts'

/** A request as it left one of the two sides. */
export interface Sent {
  method: string
  url: string
  headers: Headers
  text: string
  body: Loose
}

/** The answer of a provider: `body` as JSON, or `text` as it is. */
export interface Reply {
  status?: number
  headers?: Record<string, string>
  body?: unknown
  text?: string
}

/** Catches every request of the process; `serve` answers them one after the other, the last one again and again. */
export function interceptor() {
  const server: SetupServer = setupServer()
  beforeAll(() => server.listen({ onUnhandledFrame: 'error' }))
  afterEach(() => server.resetHandlers())
  afterAll(() => server.close())
  return (...replies: Reply[]): Sent[] => {
    const sent: Sent[] = []
    server.use(
      http.all('*', async ({ request }) => {
        const text = await request.text()
        const { method, url, headers } = request
        sent.push({ method, url, headers, text, body: text === '' ? null : JSON.parse(text) })
        const {
          status = 200,
          headers: own,
          body,
          text: plain,
        } = replies[Math.min(sent.length, replies.length) - 1] ?? {}
        return plain === undefined
          ? HttpResponse.json(body as object, { status, headers: own })
          : new HttpResponse(plain, { status, headers: own })
      }),
    )
    return sent
  }
}

/** The configuration with which the platform calls a model. */
export interface Ours {
  model: string
  credentials?: Record<string, string>
  params?: Record<string, string>
}

/** The platform's client for one model. The waits between attempts are as in production. */
export function ourClient({ model, credentials = {}, params }: Ours, log: Logger = silentLogger): LlmClient {
  const name = params ? 'entry' : model
  const entry = { model_name: 'entry', litellm_params: { model, ...params } }
  const config = modelConfig('', {
    model: name,
    small_model: name,
    model_list: params ? [entry] : [],
    credentials,
    timeout: 600,
    // The requests are compared with those of whole answers.
    stream: false,
    ...MODEL_SETTINGS,
  })
  return createLlmClient(config, { fetch: (...args) => fetch(...args), log })
}

/** An answer as the platform has read it. */
export const understood = ({ text, tool_calls, finish, usage }: Inference): Understood => ({
  text,
  calls: tool_calls.map(({ name, arguments: json }) => ({ name, args: JSON.parse(json || '{}') as unknown })),
  finish,
  input: usage.input_tokens,
  cached: usage.cached_tokens,
  output: usage.output_tokens,
})

/** The differences of two values: paths like `messages[1].content`, each with both values as JSON. */
export function differences(ours: unknown, theirs: unknown, path = ''): Record<string, string> {
  if (isTree(ours) && isTree(theirs) && Array.isArray(ours) === Array.isArray(theirs)) {
    const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)])
    return Object.assign(
      {},
      ...[...keys].map((key) => {
        const at = Array.isArray(ours) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`
        return differences((ours as Loose)[key], (theirs as Loose)[key], at)
      }),
    )
  }
  const [a, b] = [JSON.stringify(ours), JSON.stringify(theirs)]
  return a === b ? {} : { [path]: `ours ${a}, theirs ${b}` }
}

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null
