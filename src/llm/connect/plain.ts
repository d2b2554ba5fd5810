import { type Quirks, quirksOf } from '../quirks.ts'
import { chatWire } from '../wire/chat.ts'
import {
  baseUrl,
  type Connection,
  configuredWire,
  connectByWire,
  type ModelEntry,
  sameHost,
  Unconfigured,
} from './connection.ts'

/** A provider that offers chat completions with its key as bearer token. */
export interface PlainProvider {
  /** The prefix in `<provider>/<model-id>`. */
  name: string
  aliases?: readonly string[]
  /** Matches model ids that belong to this provider even without its prefix. */
  bare?: RegExp
  /** Null when there is no public server, so that an address must be configured. */
  base_url: string | null
  /** The path that is appended to a configured address without one. */
  defaultPath?: string
  /** Variables of the address, of which the first set one counts. Default `<NAME>_API_BASE`. */
  baseUrlVariables?: readonly string[]
  /** Variables of the key, of which the first set one counts. Default `<NAME>_API_KEY`. */
  keyVariables?: readonly string[]
  organizationVariable?: string
  /** True if servers are often self-hosted and need no key. */
  keyOptional?: boolean
  quirks?: (modelId: string) => Partial<Quirks>
}

/** Connects a provider of chat completions, at its public or a configured address. Throws `Unconfigured`. */
export function connectPlain(provider: PlainProvider, entry: ModelEntry): Connection {
  const variables = (suffix: string) => [`${provider.name.toUpperCase()}_${suffix}`]
  const { baseUrlVariables = variables('API_BASE'), keyVariables = variables('API_KEY') } = provider
  const configured = entry.param('api_base') ?? entry.param('base_url') ?? entry.variable(...baseUrlVariables)
  const address = configured ? baseUrl(configured, provider.defaultPath) : provider.base_url
  if (address === null) throw new Unconfigured(`${baseUrlVariables[0]} is not set`)
  const key = entry.param('api_key') ?? entry.variable(...keyVariables)
  const official = provider.base_url !== null && sameHost(address, provider.base_url)
  if (!key && official && !provider.keyOptional) throw new Unconfigured(`${keyVariables[0]} is not set`)
  const vendorQuirks = provider.quirks?.(entry.modelId) ?? {}
  // A vendor reads the calls of its own models.
  const quirks = official ? { writtenCalls: false, ...vendorQuirks } : withoutVendorLimits(vendorQuirks)
  const connection = connectByWire(entry, configuredWire(entry) ?? 'chat', { base_url: address, key, quirks })
  const organization = entry.param('organization') ?? entry.variable(provider.organizationVariable ?? '')
  return organization ? { ...connection, organization } : connection
}

/**
 * Returns the quirks for a server that is not the vendor's. It may support the usual parameters only, so it gets
 * `max_tokens` and a temperature; unsupported parameters are learnt from its refusals (`learnUnsupported`).
 */
const withoutVendorLimits = ({ cap: _, unsupported = [], ...quirks }: Partial<Quirks>): Partial<Quirks> => ({
  ...quirks,
  unsupported: unsupported.filter((name) => name !== 'temperature'),
})

const OFFICIAL = 'https://api.anthropic.com/v1'

/**
 * Connects a model of Anthropic. The vendor's host is called in its native form, another address in chat completions
 * unless the entry sets a wire form. Throws `Unconfigured`.
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

/** Returns the quirks of OpenAI models by the names of their families. */
export function openaiQuirks(id: string): Partial<Quirks> {
  if (SEARCHING.test(id)) return { search: 'chat', unsupported: ['temperature', 'reasoning_effort'] }
  const search = RESPONSES_SEARCH.test(id) ? 'responses' : null
  if (REASONING.test(id)) return { cap: 'max_completion_tokens', unsupported: ['temperature'], search }
  return { unsupported: ['reasoning_effort'], search }
}

/** Values of the API version that select the undated interface, where the body names the deployment. */
const UNDATED = /^(v1|latest|preview)$/

/**
 * Connects a deployment of an Azure resource. With a dated API version the path names the deployment; with the undated
 * interface (`…/openai/v1`) the body does. A key is sent in the header `api-key`, a token as bearer. Throws
 * `Unconfigured`.
 */
export function connectAzure(entry: ModelEntry): Connection {
  const resource = entry.param('api_base') ?? entry.param('base_url') ?? entry.variable('AZURE_API_BASE')
  if (!resource) throw new Unconfigured('AZURE_API_BASE is not set')
  const version = entry.param('api_version') ?? entry.variable('AZURE_API_VERSION')
  const key = entry.param('api_key') ?? entry.variable('AZURE_API_KEY')
  const token = entry.param('azure_ad_token') ?? entry.variable('AZURE_AD_TOKEN')
  if (!key && !token) throw new Unconfigured('neither AZURE_API_KEY nor AZURE_AD_TOKEN is set')
  const bare = resource.replace(/\/+$/, '')
  const undated = UNDATED.test(version ?? '') || /\/openai\/v1$/.test(bare)
  if (!undated && !version) throw new Unconfigured('AZURE_API_VERSION is not set')
  const deployment = entry.modelId
  const dated = `${bare.replace(/\/openai(\/.*)?$/, '')}/openai/deployments/${encodeURIComponent(deployment)}`
  const query = undated ? (version === 'preview' || version === 'latest' ? 'preview' : null) : version
  return {
    base_url: undated ? `${bare.replace(/\/openai(\/v1)?$/, '')}/openai/v1` : dated,
    modelId: deployment,
    wire: chatWire,
    authorize: async (): Promise<Record<string, string>> =>
      key ? { 'api-key': key } : { authorization: `Bearer ${token}` },
    address: (url) => {
      if (query) url.searchParams.set('api-version', query)
      return url
    },
    quirks: quirksOf({ ...openaiQuirks(deployment), search: undated ? 'responses' : null }),
    secrets: [key, token].filter((secret) => secret !== undefined),
  }
}
