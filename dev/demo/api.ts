import { setTimeout as sleep } from 'node:timers/promises'
import type { Components } from '../../console/client/api/client.ts'
import { createFrameReader, type Frame } from '../../console/client/api/event-stream.ts'
import { memberOf, parseJson } from '../../src/base/json.ts'

export type Session = Components['SessionAggregate']
export type Round = Session['rounds'][number]
export type PullRequest = Components['PullRequest']
export type Artifact = Pick<Round['plans'][number], 'url' | 'file_size_bytes'>

/** An unexpected status of the core. The text is the `detail` of its answer. */
export class ApiError extends Error {}

/** A failure with a text that says what to do about it. */
export class DemoError extends Error {
  /** True if no other mode can run either, for example because the stack is gone. */
  readonly final: boolean
  constructor(message: string, final = false) {
    super(message)
    this.final = final
  }
}

export type Api = ReturnType<typeof createApi>

const CALL_LIMIT_MS = 90_000

/**
 * Makes a client of the public API.
 * @param signal aborts every call
 */
export function createApi(base: string, signal: AbortSignal) {
  const ask = async (method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> => {
    const response = await fetch(`${base}/api/v1${path}`, {
      method,
      signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_LIMIT_MS)]),
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return { status: response.status, text: await response.text() }
  }
  const call = async <T>(method: string, path: string, expected: number, body?: unknown): Promise<T> => {
    const { status, text } = await ask(method, path, body)
    if (status === expected) return JSON.parse(text) as T
    throw new ApiError(`${method} /api/v1${path} answered ${status}: ${detailOf(text)}`)
  }
  return {
    /** Opens a session by one of the routes `/iac/generate`, `/iac/drift` and `/iac/import`. Returns its id. */
    schedule: async (route: 'generate' | 'drift' | 'import', body: Record<string, unknown>): Promise<string> =>
      (await call<Components['SessionId']>('POST', `/iac/${route}`, 202, body)).session_id,
    apply: (session_id: string) => call<unknown>('POST', '/iac/apply', 202, { session_id }),
    cancel: (session_id: string) => call<unknown>('POST', '/iac/cancel', 202, { session_id }),
    /** Makes a call that the platform should refuse, and returns the refusal. */
    refusal: async (what: 'apply' | 'merge', session_id: string): Promise<{ status: number; detail: string }> => {
      const [method, path] = what === 'apply' ? ['POST', '/iac/apply'] : ['PUT', '/repository/pr/merge']
      const { status, text } = await ask(method, path, { session_id })
      return { status, detail: detailOf(text) }
    },
    session: (id: string) => call<Session>('GET', `/sessions?id=${id}`, 200),
    openPullRequest: (session_id: string) => call<PullRequest>('PUT', '/repository/pr', 201, { session_id }),
    metadataPrefix: async () =>
      (await call<Components['AuthConfig']>('GET', '/auth/config', 200)).artifact_metadata_header_prefix,
    /** Yields the names of statuses as they arrive, until the stream ends. */
    events: (sessionId: string) => readEvents(`${base}/api/v1/events/subscribe/${sessionId}`, signal),
  }
}

function detailOf(text: string): string {
  const detail = memberOf(parseJson(text), 'detail')
  if (detail === undefined) return text.slice(0, 300) || 'nothing'
  return typeof detail === 'string' ? detail : JSON.stringify(detail)
}

async function* readEvents(url: string, signal: AbortSignal): AsyncIterable<string> {
  const response = await fetch(url, { signal, headers: { accept: 'text/event-stream' } })
  if (!response.ok || !response.body)
    throw new ApiError(`the event stream answered ${response.status}: ${detailOf(await response.text())}`)
  for await (const { data } of readFrames(response.body)) yield (JSON.parse(data) as { status_msg: string }).status_msg
}

/** Reads the frames of an event stream. */
export async function* readFrames(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncIterable<Frame> {
  const read = createFrameReader()
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) yield* read(chunk)
}

/** Downloads an artifact with only the presigned URL, as a browser does. */
export async function download(artifact: Artifact, signal: AbortSignal) {
  const response = await fetch(artifact.url, { signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_LIMIT_MS)]) })
  const body = new Uint8Array(await response.arrayBuffer())
  if (response.status !== 200)
    throw new ApiError(`an artifact could not be downloaded, the store answered ${response.status}`)
  if (artifact.file_size_bytes !== null && artifact.file_size_bytes !== body.length)
    throw new ApiError(`an artifact has ${body.length} bytes, the session says ${artifact.file_size_bytes}`)
  return { text: new TextDecoder().decode(body), bytes: body.length, headers: response.headers }
}

const TERMINAL = new Set(['completed', 'uncompleted', 'failed'])

/**
 * Follows a round until its terminal status. Each event makes the session be read again, because it lists all statuses,
 * while one event may stand for two changes.
 * @param known number of statuses of earlier rounds
 * @returns the session after the end
 */
export async function follow(
  api: Api,
  sessionId: string,
  onStatus: (status: string, message: string) => void,
  known = 0,
): Promise<Session> {
  let shownCount = known
  const look = async (): Promise<Session> => {
    const session = await api.session(sessionId)
    const statuses = session.rounds.flatMap((round) => round.statuses)
    for (const { status, message } of statuses.slice(shownCount)) onStatus(status, message ?? '')
    shownCount = statuses.length
    return session
  }
  for (;;) {
    let last = ''
    for await (const status of api.events(sessionId)) {
      // The stream repeats the status at intervals. The session is read again only after a change.
      if (status !== last) await look()
      last = status
    }
    const session = await look()
    if (!session.in_flight && TERMINAL.has(session.current_status)) return session
    await sleep(500)
  }
}
