import type { Quirks } from '../quirks.ts'
import { configuredWire, connectByWire } from './by-wire.ts'
import { baseUrl, type Connection, type ModelEntry, type PlainProvider, sameHost, Unconfigured } from './types.ts'

/** A provider of chat completions, at its public address or at a configured one. Errors: `Unconfigured`. */
export function connectPlain(provider: PlainProvider, entry: ModelEntry): Connection {
  const configured = entry.param('api_base') ?? entry.param('base_url') ?? entry.variable(...provider.baseUrlVariables)
  const address = configured ? baseUrl(configured, provider.defaultPath) : provider.base_url
  if (address === null) throw new Unconfigured(`${provider.baseUrlVariables[0]} is not set`)
  const key = entry.param('api_key') ?? entry.variable(...provider.keyVariables)
  const official = provider.base_url !== null && sameHost(address, provider.base_url)
  if (!key && official && !provider.keyOptional) throw new Unconfigured(`${provider.keyVariables[0]} is not set`)
  const vendorQuirks = provider.quirks?.(entry.modelId) ?? {}
  const quirks = official ? vendorQuirks : withoutVendorLimits(vendorQuirks)
  const connection = connectByWire(entry, configuredWire(entry) ?? 'chat', { base_url: address, key, quirks })
  const organization = entry.param('organization') ?? entry.variable(provider.organizationVariable ?? '')
  return organization ? { ...connection, organization } : connection
}

/**
 * The quirks for a server that is not the vendor's. It may know the usual parameters only, so it gets `max_tokens`
 * and a temperature; what it does not support is learnt from its refusals (`learnUnsupported`).
 */
const withoutVendorLimits = ({ cap: _, unsupported = [], ...quirks }: Partial<Quirks>): Partial<Quirks> => ({
  ...quirks,
  unsupported: unsupported.filter((name) => name !== 'temperature'),
})

const OFFICIAL = 'https://api.anthropic.com/v1'

/**
 * Models of Anthropic. The host of the vendor is called in its native form, another address in chat completions unless
 * the entry sets a wire form. Errors: `Unconfigured`.
 */
export function connectAnthropic(entry: ModelEntry): Connection {
  const configured =
    entry.param('api_base') ?? entry.param('base_url') ?? entry.variable('ANTHROPIC_BASE_URL', 'ANTHROPIC_API_BASE')
  const base_url = configured ? baseUrl(configured, '/v1') : OFFICIAL
  const key = entry.param('api_key') ?? entry.variable('ANTHROPIC_API_KEY')
  const official = sameHost(base_url, OFFICIAL)
  if (!key && official) throw new Unconfigured('ANTHROPIC_API_KEY is not set')
  return connectByWire(entry, configuredWire(entry) ?? (official ? 'anthropic' : 'chat'), { base_url, key, quirks: {} })
}

const REASONING = /^(o\d|gpt-[5-9])/
const SEARCHING = /-search-(preview|api)/
const RESPONSES_SEARCH = /^(gpt-4o|gpt-4\.1|gpt-[5-9]|o[3-9])/

/** What the models of OpenAI do not support, and how they search, by the names of their families. */
export function openaiQuirks(id: string): Partial<Quirks> {
  if (SEARCHING.test(id)) return { search: 'chat', unsupported: ['temperature', 'reasoning_effort'] }
  const search = RESPONSES_SEARCH.test(id) ? 'responses' : null
  if (REASONING.test(id)) return { cap: 'max_completion_tokens', unsupported: ['temperature'], search }
  return { unsupported: ['reasoning_effort'], search }
}
