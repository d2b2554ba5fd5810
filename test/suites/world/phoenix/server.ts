import { freePort, type Service, startService } from '../tools/service.ts'

/** A span as Phoenix tells it. */
export interface KeptSpan {
  name: string
  context: { trace_id: string; span_id: string }
  span_kind: string
  parent_id: string | null
  start_time: string
  end_time: string
  status_code: string
  attributes: Record<string, unknown>
}

export interface Phoenix {
  url: string
  service(): Service
  start(): Promise<void>
  /** Asks its REST interface. Throws with the status when it refuses. */
  ask<T>(method: string, path: string, body?: unknown): Promise<T>
  /** Cost of the calls of a trace by Phoenix's own prices, in US dollars. */
  costOf(traceId: string): Promise<number>
  /** All spans of a project whose attribute `session.id` is this; none while the project does not exist. */
  spansOf(project: string, session: string): Promise<KeptSpan[]>
  close(): Promise<void>
}

/**
 * Starts Phoenix as deployments run it, but on loopback.
 * @param folder for its database
 */
export async function startPhoenix(folder: string): Promise<Phoenix> {
  const [port, grpc] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  let service: Service
  const start = async () => {
    service = await startService(process.env.PHOENIX ?? 'phoenix', ['serve'], {
      env: {
        HOME: folder,
        PHOENIX_WORKING_DIR: folder,
        PHOENIX_HOST: '127.0.0.1',
        PHOENIX_PORT: String(port),
        PHOENIX_GRPC_PORT: String(grpc),
        PHOENIX_TELEMETRY_ENABLED: 'false',
      },
      seconds: 120,
      ready: async () => {
        const answer = await fetch(`${url}/healthz`)
        if (!answer.ok) throw new Error(`answers ${answer.status}`)
      },
    })
  }
  const call = (method: string, path: string, body?: unknown) =>
    fetch(`${url}/v1/${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await call(method, path, body)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text.slice(0, 300)}`)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  await start()
  return {
    url,
    service: () => service,
    start,
    ask,
    costOf: async (traceId) => {
      const answer = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          query: 'query($id: String!) { getTraceByOtelId(traceId: $id) { costSummary { total { cost } } } }',
          variables: { id: traceId },
        }),
      })
      const { data } = (await answer.json()) as {
        data: { getTraceByOtelId: { costSummary: { total: { cost: number | null } } } | null }
      }
      return data.getTraceByOtelId?.costSummary.total.cost ?? 0
    },
    spansOf: async (project, session) => {
      const found: KeptSpan[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
        const answer = await call('GET', `projects/${project}/spans?limit=500${page}`)
        if (answer.status === 404) return []
        const { data, next_cursor } = (await answer.json()) as { data: KeptSpan[]; next_cursor: string | null }
        found.push(...data)
        cursor = next_cursor
      }
      return found.filter(({ attributes }) => attributes['session.id'] === session)
    },
    close: () => service.stop(),
  }
}
