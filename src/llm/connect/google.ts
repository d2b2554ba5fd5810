import { googleTokens } from '../google-credentials.ts'
import { quirksOf } from '../quirks.ts'
import { anthropicWire } from '../wire/anthropic.ts'
import { chatWire } from '../wire/chat.ts'
import { geminiWire } from '../wire/gemini.ts'
import { NO_SINK, type Wire } from '../wire/wire.ts'
import {
  baseUrl,
  type Connection,
  claudeQuirks,
  configuredWire,
  connectByWire,
  type ModelEntry,
  sameHost,
  throwCredentialFailure,
  Unconfigured,
} from './connection.ts'

const OFFICIAL = 'https://generativelanguage.googleapis.com/v1beta'

/** Chat completions except for searches: only the native form has a parameter for them. */
const searchingWire: Wire = {
  ...geminiWire,
  hasStreamAddress: false,
  encode: (request) => (request.web_search_options ? geminiWire.encode(request) : null),
  // The stream of a search has the form of its request.
  assembler: (sink) => {
    const chat = chatWire.assembler(sink)
    const native = geminiWire.assembler(NO_SINK)
    return {
      add: (event) => {
        chat.add(event)
        native.add(event)
      },
      answer: () => chat.answer() ?? native.answer(),
      isEnded: () => chat.isEnded() || native.isEnded(),
    }
  },
}

/** Connects a model of the Gemini API, at Google's or another address. Throws `Unconfigured`. */
export function connectGemini(entry: ModelEntry): Connection {
  const configured = entry.param('api_base') ?? entry.param('base_url') ?? entry.variable('GEMINI_API_BASE')
  const key = entry.param('api_key') ?? entry.variable('GEMINI_API_KEY', 'GOOGLE_API_KEY')
  const wire = configuredWire(entry)
  const official = !configured || sameHost(configured, OFFICIAL)
  if (!key && official) throw new Unconfigured('neither GEMINI_API_KEY nor GOOGLE_API_KEY is set')
  if (wire !== null && wire !== 'chat')
    return connectByWire(entry, wire, { base_url: baseUrl(configured ?? OFFICIAL, '/v1beta'), key, quirks: {} })
  const quirks = { echo: ['extra_content'] as const }
  if (!official) return connectByWire(entry, 'chat', { base_url: baseUrl(configured), key, quirks })
  return {
    base_url: OFFICIAL,
    address: (url) => new URL(`${OFFICIAL}/openai${url.pathname.slice(new URL(OFFICIAL).pathname.length)}`),
    modelId: entry.modelId,
    wire: searchingWire,
    authorize: async ({ url }): Promise<Record<string, string>> =>
      url.includes(':generateContent') ? { 'x-goog-api-key': key ?? '' } : { authorization: `Bearer ${key}` },
    quirks: quirksOf({ ...quirks, search: 'chat', writtenCalls: false }),
    secrets: key ? [key] : [],
  }
}

/** The version of the Messages API on Vertex AI, where it is sent in the body instead of a header. */
const VERSION = 'vertex-2023-10-16'

const vertexClaudeWire = anthropicWire(({ model, stream }) => ({
  path: `/${encodeURIComponent(model).replace('%40', '@')}:${stream ? 'streamRawPredict' : 'rawPredict'}`,
  body: { anthropic_version: VERSION },
}))

/**
 * Connects a model of Vertex AI: Claude models in their native form, all others through the chat-completions endpoint
 * of the location. A gateway in front of it uses the configured wire form. Throws `Unconfigured`.
 */
export function connectVertex(entry: ModelEntry): Connection {
  const gateway = entry.param('api_base') ?? entry.param('base_url')
  const wire = configuredWire(entry)
  const access = googleAccess(entry)
  if (wire !== null && !gateway) throw new Unconfigured('wire needs an api_base beside it')
  if (gateway) {
    const options = { base_url: baseUrl(gateway), key: entry.param('api_key'), quirks: {} }
    return { ...connectByWire(entry, wire ?? 'chat', options), ...access.explicit }
  }
  const project = entry.param('vertex_project') ?? entry.variable('VERTEXAI_PROJECT')
  const location = entry.param('vertex_location') ?? entry.variable('VERTEXAI_LOCATION')
  if (!project) throw new Unconfigured('VERTEXAI_PROJECT is not set')
  if (!location) throw new Unconfigured('VERTEXAI_LOCATION is not set')
  const projectPath = `/v1/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`
  const place = `${vertexHost(location)}${projectPath}`
  const common = { authorize: access.authorize, secrets: access.secrets }
  if (entry.modelId.startsWith('claude-'))
    return {
      ...common,
      base_url: `${place}/publishers/anthropic/models`,
      modelId: entry.modelId,
      wire: { ...vertexClaudeWire, hasStreamAddress: true },
      quirks: quirksOf({ ...claudeQuirks(entry.modelId), search: 'chat' }),
    }
  const google = !entry.modelId.includes('/')
  return {
    ...common,
    base_url: `${place}/endpoints/openapi`,
    modelId: google ? `google/${entry.modelId}` : entry.modelId,
    wire: chatWire,
    quirks: quirksOf({ echo: ['extra_content'], ...(google && { search: 'chat', searchSize: false }) }),
  }
}

/** Returns the endpoint of `global`, a region (`europe-west1`) or a group of regions (`eu`). Throws `Unconfigured`. */
function vertexHost(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  if (!/^[a-z0-9-]+$/.test(location)) throw new Unconfigured('VERTEXAI_LOCATION is no location')
  return location.includes('-')
    ? `https://${location}-aiplatform.googleapis.com`
    : `https://aiplatform.${location}.rep.googleapis.com`
}

/** Makes the access by Google tokens. `explicit` is the part for a gateway in front of Vertex AI. */
function googleAccess(
  entry: ModelEntry,
): Pick<Connection, 'secrets'> & { authorize: NonNullable<Connection['authorize']>; explicit: Partial<Connection> } {
  const secrets: string[] = []
  const sources = {
    access_token: entry.variable('GOOGLE_OAUTH_ACCESS_TOKEN') ?? '',
    credentials: entry.param('vertex_credentials') ?? entry.variable('VERTEXAI_CREDENTIALS') ?? '',
    credentials_file: entry.variable('GOOGLE_APPLICATION_CREDENTIALS') ?? '',
    wellKnownFile: entry.config.google_credentials_file ?? '',
  }
  const token = googleTokens(sources, entry.tools)
  const authorize = async () => {
    const value = await token().catch(throwCredentialFailure)
    if (!secrets.includes(value)) secrets.splice(0, 1, value)
    return { authorization: `Bearer ${value}` }
  }
  // A gateway gets a Google token only if the entry has no key for it and credentials were configured explicitly.
  const setUp = sources.access_token !== '' || sources.credentials !== '' || sources.credentials_file !== ''
  return { secrets, authorize, explicit: entry.param('api_key') || !setUp ? {} : { authorize, secrets } }
}
