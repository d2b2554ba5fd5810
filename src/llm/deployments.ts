import OpenAI from 'openai'
import type { LlmConfig, ModelListEntry } from '../../config/types.ts'
import type { Fetch } from '../http/outbound.ts'
import { inferenceError } from './errors.ts'
import { knownProviders, type Parameter, type Provider, providerFor, type Quirks } from './providers.ts'

/** One model at one address, ready to be called. */
export interface Deployment {
  /** `<provider>/<model-id>` for error texts and telemetry. */
  model: string
  model_id: string
  client: OpenAI
  quirks: Quirks
  /** Grows when the model refuses a parameter, so that it is refused once only. */
  unsupported: Set<Parameter>
  secrets: readonly string[]
}

type Params = ModelListEntry['litellm_params']

/**
 * Errors: `PlatformError` `InferenceCallAPIError` when the provider is unknown or a referenced variable is
 * not set: both pass the boot check and show on the first call.
 */
export function createDeployment(params: Params, config: Pick<LlmConfig, 'credentials' | 'timeout'>, fetcher: Fetch): Deployment {
  const model = params.model
  const found = providerFor(model)
  if (!found) throw inferenceError(model, unknownProvider(model), 502, [])
  const { provider, model_id } = found
  const read = (value: unknown) => resolveReference(model, value, config.credentials)
  const base = baseUrl(provider, read(params.api_base) ?? read(params.base_url), config.credentials)
  const key = read(params.api_key) ?? first(provider.key_variables, config.credentials)
  if (key === undefined && base.official) throw inferenceError(model, `${provider.key_variables[0]} is not set`, 502, [])
  const quirks: Quirks = { cap: 'max_tokens', unsupported: [], search: null, ...provider.quirks(model_id) }
  const client = new OpenAI({
    baseURL: base.url,
    // A server of one's own may ask for no key, the library always does.
    apiKey: key || 'none',
    organization: read(params.organization) ?? first([provider.organization_variable ?? ''], config.credentials) ?? null,
    // Spelled out, because what is left out the library takes from the environment.
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: config.timeout * 1000,
    fetch: fetcher,
  })
  return { model, model_id, client, quirks, unsupported: new Set(quirks.unsupported), secrets: key ? [key] : [] }
}

const unknownProvider = (model: string) =>
  model.includes('/')
    ? `the provider '${model.slice(0, model.indexOf('/'))}' is not supported (supported: ${knownProviders().join(', ')})`
    : 'the model has no provider prefix; write <provider>/<model-id>'

const REFERENCE = 'os.environ/'

/** Text as it stands, or the variable that `os.environ/<VARIABLE>` names. */
function resolveReference(model: string, value: unknown, credentials: Record<string, string>): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  if (!value.startsWith(REFERENCE)) return value
  const name = value.slice(REFERENCE.length)
  const resolved = credentials[name]
  if (resolved === undefined) throw inferenceError(model, `${name} is not set`, 502, [])
  return resolved
}

const first = (names: readonly string[], credentials: Record<string, string>) =>
  names.map((name) => credentials[name]).find((value) => value !== undefined && value !== '')

function baseUrl(provider: Provider, own: string | undefined, credentials: Record<string, string>) {
  const configured = own ?? first(provider.base_url_variables, credentials)
  if (!configured) return { url: provider.base_url, official: true }
  const bare = configured.replace(/\/+$/, '')
  const has_path = /^[a-z]+:\/\/[^/]+\/./i.test(bare)
  const url = has_path ? bare : `${bare}${provider.default_path ?? ''}`
  return { url, official: url === provider.base_url }
}
