import OpenAI from 'openai'
import type { LlmConfig, ModelListEntry } from '../../config/types.ts'
import { inferenceError } from './call.ts'
import { connectPlain } from './connect/plain.ts'
import { type Connection, type LlmTools, type ModelEntry, Unconfigured } from './connect/types.ts'
import { knownProviders, providerFor } from './providers.ts'
import type { Parameter, Quirks } from './quirks.ts'
import { createWireFetch } from './wire/wire-fetch.ts'

/** One model at one address, ready to be called. */
export interface Deployment {
  /** `<provider>/<model-id>` for error texts and telemetry. */
  model: string
  model_id: string
  /** Whose carried fields it takes back. */
  carries: string
  client: OpenAI
  quirks: Quirks
  /** Grows when the model refuses a parameter, so that it is refused once only. */
  unsupported: Set<Parameter>
  secrets: readonly string[]
}

type Params = ModelListEntry['litellm_params']
export type DeploymentConfig = Pick<LlmConfig, 'credentials' | 'timeout' | 'aws' | 'google_credentials_file'>

/**
 * Errors: `PlatformError` `InferenceCallAPIError` when the provider is unknown or a variable that is needed
 * is not set: both pass the boot check and show on the first call.
 */
export function createDeployment(params: Params, config: DeploymentConfig, tools: LlmTools): Deployment {
  const { model } = params
  const connection = connect(params, config, tools)
  const client = new OpenAI({
    baseURL: connection.base_url,
    // A server of one's own may ask for no key, the library always does.
    apiKey: connection.key || 'none',
    organization: connection.organization ?? null,
    // Spelled out, because what is left out the library takes from the environment.
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: config.timeout * 1000,
    fetch: createWireFetch({ fetch: tools.fetch, ...connection }),
  })
  const { quirks, model_id, secrets } = connection
  return {
    model,
    model_id,
    carries: `${connection.wire.name} ${connection.base_url} ${model_id}`,
    client,
    quirks,
    unsupported: new Set(quirks.unsupported),
    secrets,
  }
}

function connect(params: Params, config: DeploymentConfig, tools: LlmTools): Connection {
  const { model } = params
  const match = providerFor(model)
  if (!match) throw inferenceError(model, unknownProvider(model), 502, [])
  const { provider, model_id } = match
  const entry: ModelEntry = {
    model,
    model_id,
    param: (name) => resolveReference(model, params[name], config.credentials),
    variable: (...names) =>
      names.map((name) => config.credentials[name]).find((value) => value !== undefined && value !== ''),
    config,
    tools,
  }
  try {
    return 'connect' in provider ? provider.connect(entry) : connectPlain(provider, entry)
  } catch (error) {
    if (!(error instanceof Unconfigured)) throw error
    throw inferenceError(model, error.message, 502, [])
  }
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
  return resolved === '' ? undefined : resolved
}
