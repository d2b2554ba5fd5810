import OpenAI from 'openai'
import type { LlmConfig, ModelListEntry } from '../../config/types.ts'
import { type Connection, type LlmTools, type ModelEntry, Unconfigured } from './connect/connection.ts'
import { connectPlain } from './connect/plain.ts'
import { inferenceError } from './failure.ts'
import { knownProviders, providerFor } from './providers.ts'
import type { Parameter, Quirks } from './quirks.ts'
import { createWireFetch } from './wire/wire-fetch.ts'

/** One model at one address, ready to be called. It keeps the learnt quirks of the model. */
export interface Deployment {
  /** `<provider>/<model-id>` for error texts and telemetry. */
  model: string
  modelId: string
  /** Identifies this deployment in the data that messages carry: it gets back only its own. */
  carries: string
  client: OpenAI
  quirks: Quirks
  /** Parameters that are omitted. The set grows when the model refuses one, so that each is refused only once. */
  unsupported: Set<Parameter>
  secrets: readonly string[]
}

type Params = ModelListEntry['litellm_params']
export type DeploymentConfig = Pick<LlmConfig, 'credentials' | 'timeout' | 'aws' | 'google_credentials_file'>

/**
 * Creates the deployment for an entry. Throws `PlatformError` with code `InferenceCallAPIError` when the provider is
 * unknown or a required variable is not set, which the check at boot does not always detect.
 */
export function createDeployment(params: Params, config: DeploymentConfig, tools: LlmTools): Deployment {
  const { model } = params
  const connection = connect(params, config, tools)
  const client = new OpenAI({
    baseURL: connection.base_url,
    // The library requires a key, even for a self-hosted server that needs none.
    apiKey: connection.key || 'none',
    organization: connection.organization ?? null,
    // Every option is set, because the library would read a missing one from environment variables.
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    logLevel: 'off',
    maxRetries: 0,
    timeout: config.timeout * 1000,
    fetch: createWireFetch({ fetch: tools.fetch, ...connection }),
  })
  const { quirks, modelId, secrets } = connection
  return {
    model,
    modelId,
    carries: `${connection.wire.name} ${connection.base_url} ${modelId}`,
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
  const { provider, modelId } = match
  const entry: ModelEntry = {
    model,
    modelId,
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

function unknownProvider(model: string): string {
  if (!model.includes('/')) return 'the model has no provider prefix; write <provider>/<model-id>'
  const prefix = model.slice(0, model.indexOf('/'))
  return `the provider '${prefix}' is not supported (supported: ${knownProviders().join(', ')})`
}

const REFERENCE = 'os.environ/'

/** Returns a parameter as written, or the value of the variable for `os.environ/<VARIABLE>`. */
function resolveReference(model: string, value: unknown, credentials: Record<string, string>): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  if (!value.startsWith(REFERENCE)) return value
  const name = value.slice(REFERENCE.length)
  const resolved = credentials[name]
  if (resolved === undefined) throw inferenceError(model, `${name} is not set`, 502, [])
  return resolved === '' ? undefined : resolved
}
