import * as v from 'valibot'
import { type Fetch, OutboundError, type OutboundRequest, type OutboundResponse, send } from '../../base/http.ts'

const MAX_BYTES = 4 * 1024 * 1024
const MAX_REASON = 200
/** Statuses of the registry, or of a proxy before it, after which a call is repeated. */
const PASSING = [502, 503, 504]

/** A name that no prompt has, for which a working registry returns 404. */
const UNLIKELY = 'platform-probe-of-the-registry'

export interface RegistryOptions {
  fetch: Fetch
  /** Longest time of one attempt, in milliseconds. Default 5000. */
  timeoutMs?: number
  /** Pause before the first of three repetitions, in milliseconds; doubled each time. Default 250. */
  backoffMs?: number
}

/** Creates a client of the registry's REST API. Calls that read or tag are repeated up to three times. */
export function createPromptRegistry(access: RegistryAccess, options: RegistryOptions): PromptRegistry {
  const { timeoutMs = 5_000, backoffMs = 250 } = options
  const base = access.url.endsWith('/') ? access.url : `${access.url}/`
  const headers: Record<string, string> = { accept: 'application/json' }
  if (access.api_key !== '') headers.authorization = `Bearer ${access.api_key}`

  const ask = (path: string, request: Partial<OutboundRequest> = {}) =>
    send(options.fetch, {
      ...request,
      url: `${base}v1/${path}`,
      headers,
      timeoutMs,
      backoffMs,
      maxBytes: MAX_BYTES,
    }).catch((error: unknown) => {
      throw asRegistryError(error)
    })
  const withRetries = { retries: 3, retryStatuses: PASSING }

  /** Returns null for 404, and for 422, the registry's response to a name that no prompt can have. */
  const findVersion = async (path: string, request: Partial<OutboundRequest> = {}) => {
    const response = await ask(path, request)
    return response.status === 404 || response.status === 422 ? null : readVersion(requireSuccess(response))
  }

  return {
    findLatest: (name) => findVersion(`prompts/${encodeURIComponent(name)}/latest`, withRetries),
    findTagged: (name, tag, signal) =>
      findVersion(`prompts/${encodeURIComponent(name)}/tags/${tag}`, { ...withRetries, signal }),
    create: async (name, { body, description }) => {
      const json = { prompt: { name, description }, version: versionOf(body, description) }
      return readId(requireSuccess(await ask('prompts', { method: 'POST', json })))
    },
    tag: async (versionId, name) => {
      const path = `prompt_versions/${encodeURIComponent(versionId)}/tags`
      requireSuccess(await ask(path, { ...withRetries, method: 'POST', json: { name } }))
    },
    probe: async () => {
      const response = await ask(`prompts/${UNLIKELY}/latest`)
      if (response.status !== 404) requireSuccess(response)
    },
  }
}

/** Returns the body of a new version. The registry requires provider and parameters; the platform never reads them. */
const versionOf = (text: string, description: string) => ({
  description,
  model_name: SEED_MODEL,
  model_provider: 'OPENAI',
  template: { type: 'chat', messages: [{ role: 'user', content: [{ type: 'text', text }] }] },
  template_type: 'CHAT',
  template_format: 'NONE',
  invocation_parameters: { type: 'openai', openai: {} },
})

function requireSuccess(response: OutboundResponse): OutboundResponse {
  if (response.status >= 200 && response.status < 300) return response
  const words = response.text().replaceAll(/\s+/g, ' ').trim().slice(0, MAX_REASON)
  throw new RegistryError('refused', `HTTP ${response.status}${words === '' ? '' : `: ${words}`}`)
}

function asRegistryError(error: unknown): unknown {
  if (!(error instanceof OutboundError) || error.kind === 'aborted') return error
  return new RegistryError(error.kind === 'body' ? 'refused' : 'unreachable', `${error.message}${codeOf(error)}`, {
    cause: error,
  })
}

/** Returns the runtime's code of the fault, for example ` (ECONNREFUSED)`; empty for none. */
function codeOf(error: Error): string {
  for (let cause: unknown = error.cause, depth = 0; cause instanceof Error && depth < 4; cause = cause.cause, depth++) {
    const { code } = { code: undefined, ...cause }
    if (typeof code === 'string' && /^[A-Z0-9_]+$/.test(code)) return ` (${code})`
  }
  return ''
}

/** The tags under which runs fetch prompts, one for each environment. */
export const TAGS = ['development', 'staging', 'production'] as const
export type Tag = (typeof TAGS)[number]

/** The model name by which the platform recognises its own versions. */
export const SEED_MODEL = 'platform-seed'

export interface PromptVersion {
  id: string
  model_name: string
  /** First text of the first message; null when the version has none. */
  text: string | null
}

export interface RegistryAccess {
  /** `telemetry.collector_url`. */
  url: string
  /** Sent as bearer token unless empty. */
  api_key: string
}

/** The prompt registry. Every call throws `RegistryError`. */
export interface PromptRegistry {
  /** Returns null when there is no prompt of that name. */
  findLatest(name: string): Promise<PromptVersion | null>
  /** Returns the id of the new version. Not repeated after a fault, because the registry might keep both versions. */
  create(name: string, prompt: { body: string; description: string }): Promise<string>
  tag(versionId: string, tag: Tag): Promise<void>
  /** Returns null when there is no prompt of that name or no version with that tag. */
  findTagged(name: string, tag: Tag, signal?: AbortSignal): Promise<PromptVersion | null>
  /** Checks, without repetition, that the registry answers. */
  probe(): Promise<void>
}

/** A failed call: `unreachable` without a response, `refused` when the response is an error or cannot be read. */
export class RegistryError extends Error {
  readonly kind: 'unreachable' | 'refused'
  constructor(kind: RegistryError['kind'], message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'RegistryError'
    this.kind = kind
  }
}

const id = v.pipe(v.union([v.pipe(v.string(), v.minLength(1)), v.number()]), v.transform(String))
const createdSchema = v.object({ data: v.object({ id }) })
/** Only the id is required. Another missing part becomes an error where it is needed. */
const versionSchema = v.object({
  data: v.object({
    id,
    model_name: v.fallback(v.string(), ''),
    template: v.fallback(v.object({ messages: v.array(v.unknown()) }), { messages: [] }),
  }),
})
const message = v.object({ content: v.union([v.string(), v.array(v.unknown())]) })
const textPart = v.object({ type: v.literal('text'), text: v.string() })

/** Reads a version from the registry's response. Throws `RegistryError` for any other form. */
export function readVersion(response: OutboundResponse): PromptVersion {
  const { data } = parseAnswer(versionSchema, response)
  return { id: data.id, model_name: data.model_name, text: firstText(data.template.messages[0]) }
}

/** Reads the id of a newly created version. Throws `RegistryError`. */
export const readId = (response: OutboundResponse): string => parseAnswer(createdSchema, response).data.id

function firstText(value: unknown): string | null {
  const parsed = v.safeParse(message, value)
  if (!parsed.success) return null
  const { content } = parsed.output
  if (typeof content === 'string') return content
  for (const item of content) {
    const part = v.safeParse(textPart, item)
    if (part.success) return part.output.text
  }
  return null
}

function parseAnswer<Schema extends v.GenericSchema>(
  schema: Schema,
  response: OutboundResponse,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, parseJson(response))
  if (parsed.success) return parsed.output
  throw new RegistryError('refused', 'the answer is not in the form of a prompt version', {
    cause: new v.ValiError(parsed.issues),
  })
}

function parseJson(response: OutboundResponse): unknown {
  try {
    return response.json()
  } catch (cause) {
    throw new RegistryError('refused', 'the answer is not JSON', { cause })
  }
}
