import { baseUrl, sameHost } from './base-url.ts'
import { askedWire, connectByWire } from './by-wire.ts'
import { type Asked, type Connection, Unconfigured } from './types.ts'

const OFFICIAL = 'https://api.anthropic.com/v1'

/** The vendor's host is asked in its native form, another address in chat completions unless the entry says otherwise. */
export function connectAnthropic(asked: Asked): Connection {
  const configured =
    asked.param('api_base') ?? asked.param('base_url') ?? asked.variable('ANTHROPIC_BASE_URL', 'ANTHROPIC_API_BASE')
  const base_url = configured ? baseUrl(configured, '/v1') : OFFICIAL
  const key = asked.param('api_key') ?? asked.variable('ANTHROPIC_API_KEY')
  const official = sameHost(base_url, OFFICIAL)
  if (!key && official) throw new Unconfigured('ANTHROPIC_API_KEY is not set')
  return connectByWire(asked, askedWire(asked) ?? (official ? 'anthropic' : 'chat'), { base_url, key, quirks: {} })
}
