import { quirksOf } from '../quirks.ts'
import { chatWire } from '../wire/chat.ts'
import { geminiWire } from '../wire/gemini.ts'
import type { Wire } from '../wire/types.ts'
import { baseUrl, sameHost } from './base-url.ts'
import { askedWire, connectByWire } from './by-wire.ts'
import { type Asked, type Connection, Unconfigured } from './types.ts'

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
