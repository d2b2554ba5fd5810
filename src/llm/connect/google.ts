import { CallFailure } from '../call.ts'
import { GoogleTokenError, googleTokens } from '../google-credentials.ts'
import { quirksOf } from '../quirks.ts'
import { anthropicWire } from '../wire/anthropic.ts'
import { chatWire } from '../wire/chat.ts'
import { geminiWire } from '../wire/gemini.ts'
import type { Wire } from '../wire/types.ts'
import { askedWire, claudeQuirks, connectByWire } from './by-wire.ts'
import { type Asked, baseUrl, type Connection, sameHost, Unconfigured } from './types.ts'

const OFFICIAL = 'https://generativelanguage.googleapis.com/v1beta'

/** Chat completions, except that searches need the native form: there is no parameter for them here. */
const searchingWire: Wire = {
  ...geminiWire,
  encode: (request) => (request.web_search_options ? geminiWire.encode(request) : null),
  assemble: (events) => chatWire.assemble(events) ?? geminiWire.assemble(events),
}

export function connectGemini(asked: Asked): Connection {
  const configured = asked.param('api_base') ?? asked.param('base_url') ?? asked.variable('GEMINI_API_BASE')
  const key = asked.param('api_key') ?? asked.variable('GEMINI_API_KEY', 'GOOGLE_API_KEY')
  const wire = askedWire(asked)
  const official = !configured || sameHost(configured, OFFICIAL)
  if (!key && official) throw new Unconfigured('neither GEMINI_API_KEY nor GOOGLE_API_KEY is set')
  if (wire !== null && wire !== 'chat')
    return connectByWire(asked, wire, { base_url: baseUrl(configured ?? OFFICIAL, '/v1beta'), key, quirks: {} })
  const quirks = { echo: ['extra_content'] as const }
  if (!official) return connectByWire(asked, 'chat', { base_url: baseUrl(configured), key, quirks })
  return {
    base_url: OFFICIAL,
    address: (url) => new URL(`${OFFICIAL}/openai${url.pathname.slice(new URL(OFFICIAL).pathname.length)}`),
    model_id: asked.model_id,
    wire: searchingWire,
    authorize: async ({ url }): Promise<Record<string, string>> =>
      url.includes(':generateContent') ? { 'x-goog-api-key': key ?? '' } : { authorization: `Bearer ${key}` },
    quirks: quirksOf({ ...quirks, search: 'chat' }),
    secrets: key ? [key] : [],
  }
}

/** Of the vendor, in the body instead of a header. */
const VERSION = 'vertex-2023-10-16'

/** Claude models in their native form, all others through the chat-completions endpoint of the location. */
export function connectVertex(asked: Asked): Connection {
  const gateway = asked.param('api_base') ?? asked.param('base_url')
  const wire = askedWire(asked)
  const access = accessOf(asked)
  if (wire !== null && !gateway) throw new Unconfigured('wire needs an api_base beside it')
  if (gateway) {
    const options = { base_url: baseUrl(gateway), key: asked.param('api_key'), quirks: {} }
    return { ...connectByWire(asked, wire ?? 'chat', options), ...access.explicit }
  }
  const project = asked.param('vertex_project') ?? asked.variable('VERTEXAI_PROJECT')
  const location = asked.param('vertex_location') ?? asked.variable('VERTEXAI_LOCATION')
  if (!project) throw new Unconfigured('VERTEXAI_PROJECT is not set')
  if (!location) throw new Unconfigured('VERTEXAI_LOCATION is not set')
  const place = `${hostOf(location)}/v1/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`
  const common = { authorize: access.authorize, secrets: access.secrets }
  if (asked.model_id.startsWith('claude-'))
    return {
      ...common,
      base_url: `${place}/publishers/anthropic/models`,
      model_id: asked.model_id,
      wire: anthropicWire((model) => ({
        path: `/${encodeURIComponent(model).replace('%40', '@')}:rawPredict`,
        body: { anthropic_version: VERSION },
      })),
      quirks: quirksOf({ ...claudeQuirks(asked.model_id), search: 'chat' }),
    }
  const google = !asked.model_id.includes('/')
  return {
    ...common,
    base_url: `${place}/endpoints/openapi`,
    model_id: google ? `google/${asked.model_id}` : asked.model_id,
    wire: chatWire,
    quirks: quirksOf({ echo: ['extra_content'], ...(google && { search: 'chat', searchSize: false }) }),
  }
}

/** One host for the whole world, one for each group of regions, one for each region. */
function hostOf(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  if (!/^[a-z0-9-]+$/.test(location)) throw new Unconfigured('VERTEXAI_LOCATION is no location')
  return location.includes('-')
    ? `https://${location}-aiplatform.googleapis.com`
    : `https://aiplatform.${location}.rep.googleapis.com`
}

function accessOf(
  asked: Asked,
): Pick<Connection, 'secrets'> & { authorize: NonNullable<Connection['authorize']>; explicit: Partial<Connection> } {
  const secrets: string[] = []
  const sources = {
    access_token: asked.variable('GOOGLE_OAUTH_ACCESS_TOKEN') ?? '',
    credentials: asked.param('vertex_credentials') ?? asked.variable('VERTEXAI_CREDENTIALS') ?? '',
    credentials_file: asked.variable('GOOGLE_APPLICATION_CREDENTIALS') ?? '',
    wellKnownFile: asked.config.google_credentials_file ?? '',
  }
  const token = googleTokens(sources, asked.tools)
  const authorize = async () => {
    const value = await token().catch(refused)
    if (!secrets.includes(value)) secrets.splice(0, 1, value)
    return { authorization: `Bearer ${value}` }
  }
  // A gateway of one's own gets the cloud's token only when it was given no key and there is one to give.
  const setUp = sources.access_token !== '' || sources.credentials !== '' || sources.credentials_file !== ''
  return { secrets, authorize, explicit: asked.param('api_key') || !setUp ? {} : { authorize, secrets } }
}

function refused(error: unknown): never {
  if (!(error instanceof GoogleTokenError)) throw error
  throw new CallFailure(error.message, 502, { retryable: error.transient, cause: error })
}
