import type { Config } from '../../config/types.ts'
import { type ReceivedSpan, readSpans } from '../../dev/collector/read-spans.ts'
import type { Fetch } from '../../src/base/http.ts'
import { createLogger } from '../../src/base/log.ts'
import type { TracedSession } from '../../src/observe/run-trace.ts'
import type { TextMask } from '../../src/observe/span-recorder.ts'
import type { Tracing } from '../../src/observe/tracing.ts'
import { createTracing } from '../../src/observe/tracing.ts'
import { configOf } from '../helpers/core.ts'

export const SESSION: TracedSession = {
  uuid: '3f2b8c1e-6a57-4f0e-9d31-0c7b5a8e4d12',
  username: 'owner@example.org',
  operation: 'generate',
  provider: 'aws',
  workspace: {
    uri: 'https://git.example.org/o/r',
    branch: 'Platform/2026-01-31_235959-1a2b',
    root_path: 'environments/dev',
  },
}
export const PLAIN: TextMask = { text: (text) => text }

export interface Recording {
  tracing: Tracing
  config: Config
  /** The requests that the collector received. */
  posts: { url: string; headers: Headers; spans: ReceivedSpan[] }[]
  /** Lines of the console exporter, parsed. */
  printed: Record<string, unknown>[]
  log: Record<string, unknown>[]
  spans(): Promise<ReceivedSpan[]>
}

/** Runs tracing as a worker has it, with a function as collector. */
export async function record(
  yaml = '',
  options: { env?: Record<string, string>; collector?: Fetch } = {},
): Promise<Recording> {
  const config = await configOf(yaml, options.env)
  const posts: Recording['posts'] = []
  const printed: Record<string, unknown>[] = []
  const log: Record<string, unknown>[] = []
  const fetch: Fetch = async (input, init) => {
    const body = new Uint8Array(await new Response(init?.body).arrayBuffer())
    posts.push({ url: String(input), headers: new Headers(init?.headers), spans: readSpans(body) })
    return await (options.collector?.(input, init) ?? new Response(null))
  }
  const logger = createLogger({ write: (line) => log.push(JSON.parse(line)) })
  const tracing = createTracing(config, { fetch, log: logger, write: (line) => printed.push(JSON.parse(line)) })
  if (!tracing) throw new Error('no tracing was asked for')
  const spans = async () => {
    await tracing.close(10_000)
    return posts.flatMap((post) => post.spans)
  }
  return { tracing, config, posts, printed, log, spans }
}

export const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan => {
  const found = spans.filter((span) => span.name === name)
  if (found.length !== 1 || !found[0])
    throw new Error(`${found.length} spans are named ${name}; there are ${spans.map((span) => span.name).join(', ')}`)
  return found[0]
}
