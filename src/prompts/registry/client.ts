import { type Fetch, OutboundError, type OutboundRequest, type OutboundResponse, send } from '../../base/http.ts'
import { readId, readVersion } from './answers.ts'
import { type PromptRegistry, type RegistryAccess, RegistryError, SEED_MODEL } from './types.ts'

const MAX_BYTES = 4 * 1024 * 1024
const MAX_REASON = 200
/** Statuses, of the registry or of a proxy before it, after which a call is repeated because the fault may pass. */
const PASSING = [502, 503, 504]

/** A name that no prompt has, so that a registry that works answers 404. */
const UNLIKELY = 'platform-probe-of-the-registry'

export interface RegistryOptions {
  fetch: Fetch
  /** Longest time of one attempt, in milliseconds. Default 5000. */
  timeoutMs?: number
  /** Pause before the first of three repetitions, in milliseconds; doubled each time. Default 250. */
  backoffMs?: number
}

/**
 * A client of the registry's REST interface. Calls that read or tag are repeated up to three times, when no answer
 * comes or one of `PASSING`.
 */
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

  /** Answers null for 404, and for 422, which the registry answers to a name that no prompt could have. */
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

/** The body of a new version. The registry requires provider and parameters; the platform never reads them. */
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

/** The code that the runtime gives to the fault, for example ` (ECONNREFUSED)`; empty when it gives none. */
function codeOf(error: Error): string {
  for (let cause: unknown = error.cause, depth = 0; cause instanceof Error && depth < 4; cause = cause.cause, depth++) {
    const { code } = { code: undefined, ...cause }
    if (typeof code === 'string' && /^[A-Z0-9_]+$/.test(code)) return ` (${code})`
  }
  return ''
}
