import type { AttemptDetail } from '../../src/rounds/attempts.ts'

/** The parts of the public API's answers that the demo reads. */
export interface Artifact {
  id: number
  url: string
  file_size_bytes: number | null
}
/** Resources of a scope by the state in which an import preview found them. */
export interface PreviewCounts {
  managed: number
  unmanaged: number
  left_out: number
}
export interface Round {
  number: number
  statuses: { status: string; message: string | null }[]
  reports: (Artifact & { type: string })[]
  compliance_checks: (Artifact & { passed: boolean })[]
  plans: (Artifact & { targets: string[]; document_url?: string | null })[]
  code_changes: (Artifact & { file_name: string })[]
  previews: (Artifact & { counts: PreviewCounts })[]
  attempts?: AttemptDetail[]
  /** Null while the round runs. */
  usage: {
    engine_s: number
    model_s: number
    validation_attempts: number
    input_tokens: number
    output_tokens: number
  } | null
}
export interface Session {
  uuid: string
  current_status: string
  in_flight: boolean
  is_blocked: boolean
  workspace: { branch: string }
  rounds: Round[]
}
export interface PullRequest {
  id: number
  url: string
  status: string
}

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

export interface Api {
  /** Opens a session by one of the routes `/iac/generate`, `/iac/drift` and `/iac/import`. Returns its id. */
  schedule(route: 'generate' | 'drift' | 'import', body: Record<string, unknown>): Promise<string>
  apply(sessionId: string): Promise<void>
  cancel(sessionId: string): Promise<void>
  /** Makes a call that the platform should refuse, and returns the refusal. */
  refusal(what: 'apply' | 'merge', sessionId: string): Promise<{ status: number; detail: string }>
  session(id: string): Promise<Session>
  openPullRequest(sessionId: string): Promise<PullRequest>
  metadataPrefix(): Promise<string>
  /** Yields the names of statuses as they arrive, until the stream ends. */
  events(sessionId: string): AsyncIterable<string>
}

const CALL_LIMIT_MS = 90_000

/**
 * Makes a client of the public API.
 * @param signal aborts every call
 */
export function createApi(base: string, signal: AbortSignal): Api {
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
    schedule: async (route, body) =>
      (await call<{ session_id: string }>('POST', `/iac/${route}`, 202, body)).session_id,
    apply: async (sessionId) => void (await call('POST', '/iac/apply', 202, { session_id: sessionId })),
    cancel: async (sessionId) => void (await call('POST', '/iac/cancel', 202, { session_id: sessionId })),
    refusal: async (what, sessionId) => {
      const [method, path] = what === 'apply' ? ['POST', '/iac/apply'] : ['PUT', '/repository/pr/merge']
      const { status, text } = await ask(method, path, { session_id: sessionId })
      return { status, detail: detailOf(text) }
    },
    session: (id) => call('GET', `/sessions?id=${id}`, 200),
    openPullRequest: (sessionId) => call('PUT', '/repository/pr', 201, { session_id: sessionId }),
    metadataPrefix: async () =>
      (await call<{ artifact_metadata_header_prefix: string }>('GET', '/auth/config', 200))
        .artifact_metadata_header_prefix,
    events: (sessionId) => readEvents(`${base}/api/v1/events/subscribe/${sessionId}`, signal),
  }
}

function detailOf(text: string): string {
  try {
    const { detail } = JSON.parse(text) as { detail: unknown }
    return typeof detail === 'string' ? detail : JSON.stringify(detail)
  } catch {
    return text.slice(0, 300) || 'nothing'
  }
}

async function* readEvents(url: string, signal: AbortSignal): AsyncIterable<string> {
  const response = await fetch(url, { signal, headers: { accept: 'text/event-stream' } })
  if (!response.ok || !response.body)
    throw new ApiError(`the event stream answered ${response.status}: ${detailOf(await response.text())}`)
  for await (const { data } of readFrames(response.body))
    if (data) yield (JSON.parse(data) as { status_msg: string }).status_msg
}

/** Reads the frames of an event stream. Comments have neither event nor data. */
export async function* readFrames(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncIterable<{ event: string | undefined; data: string | undefined }> {
  let text = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames)
      yield { event: /^event: (.*)$/m.exec(frame)?.[1], data: /^data: (.*)$/m.exec(frame)?.[1] }
  }
}

export interface Downloaded {
  kind: string
  url: string
  bytes: number
}

/** Downloads an artifact with only the presigned URL, as a browser does. */
export async function download(
  artifact: Artifact,
  signal: AbortSignal,
): Promise<{ text: string; bytes: number; headers: Headers }> {
  const response = await fetch(artifact.url, { signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_LIMIT_MS)]) })
  const body = new Uint8Array(await response.arrayBuffer())
  if (response.status !== 200)
    throw new ApiError(`an artifact could not be downloaded, the store answered ${response.status}`)
  if (artifact.file_size_bytes !== null && artifact.file_size_bytes !== body.length)
    throw new ApiError(`an artifact has ${body.length} bytes, the session says ${artifact.file_size_bytes}`)
  return { text: new TextDecoder().decode(body), bytes: body.length, headers: response.headers }
}
