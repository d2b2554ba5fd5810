import type OpenAI from 'openai'
import type { LlmConfig, ModelListEntry } from '../../config/types.ts'
import { type Connection, type LlmTools, type ModelEntry, Unconfigured } from './connect/connection.ts'
import { connectPlain } from './connect/plain.ts'
import { inferenceError } from './failure.ts'
import { knownProviders, providerFor } from './providers.ts'
import type { Parameter, Quirks } from './quirks.ts'
import type { WireName } from './wire/wire.ts'
import { createWireFetch } from './wire/wire-fetch.ts'

/** One model at one address, ready to be called. It keeps the learnt quirks of the model. */
export interface Deployment {
  /** `<provider>/<model-id>` for error texts and telemetry. */
  model: string
  modelId: string
  /** Identifies this deployment in the data that messages carry: it gets back only its own. */
  carries: string
  wire: WireName
  /** True if streams have an address of their own. */
  hasStreamAddress: boolean
  /** Returns the client of the library, which is loaded on first use. */
  client: () => Promise<OpenAI>
  quirks: Quirks
  /** Parameters that are omitted. The set grows when the model refuses one, so that each is refused only once. */
  unsupported: Set<Parameter>
  /** Calls in a row whose stream broke and whose answer came when it was asked for as a whole. */
  brokenStreams: number
  secrets: readonly string[]
}

type Params = ModelListEntry['litellm_params']

/** Loads the library for calls. It takes 20 MB, which a process without rounds does without. */
export const loadLibrary = () => import('openai')

/**
 * Creates the deployment for an entry. Throws `PlatformError` with code `InferenceCallAPIError` when the provider is
 * unknown or a required variable is not set, which the check at boot does not always detect.
 */
function createDeployment(params: Params, config: LlmConfig, tools: LlmTools): Deployment {
  const { model } = params
  const connection = connect(params, config, tools)
  const options: ConstructorParameters<typeof OpenAI>[0] = {
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
  }
  let client: OpenAI | undefined
  const { quirks, modelId, secrets } = connection
  return {
    model,
    modelId,
    wire: connection.wire.name,
    hasStreamAddress: connection.wire.hasStreamAddress ?? false,
    carries: `${connection.wire.name} ${connection.base_url} ${modelId}`,
    client: async () => {
      const { OpenAI } = await loadLibrary()
      client ??= new OpenAI(options)
      return client
    },
    quirks,
    unsupported: new Set(quirks.unsupported),
    brokenStreams: 0,
    secrets,
  }
}

function connect(params: Params, config: LlmConfig, tools: LlmTools): Connection {
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

/** The cooldown of an entry whose provider requests no time. */
const COOLDOWN_MS = 30_000

interface Entry {
  params: Params
  deployment: Deployment | null
  cooldownEnd: number
  /** The end of the wait that the provider requested (`Retry-After`). */
  waitEnd: number
}

/**
 * Returns a function that returns the route of a model name. A name without an entry in `model_list` is used as a model
 * string, `<provider>/<model-id>`. Deployments are created on first use.
 */
export function createRouter(config: LlmConfig, tools: LlmTools): (name: string) => Route {
  const routes = new Map<string, Route>()
  return (name) => {
    const route = routes.get(name) ?? createRoute(name, config, tools)
    routes.set(name, route)
    return route
  }
}

export type Route = ReturnType<typeof createRoute>

/** Makes the route of one model name. Its entries rotate, and an entry that failed is skipped for a cooldown. */
function createRoute(name: string, config: LlmConfig, tools: LlmTools) {
  const { now } = tools
  const toEntry = (params: Params): Entry => ({ params, deployment: null, cooldownEnd: 0, waitEnd: 0 })
  const listed = config.model_list.filter(({ model_name }) => model_name === name)
  const [first = toEntry({ model: name }), ...rest] = listed.map(({ litellm_params }) => toEntry(litellm_params))
  const entries = [first, ...rest]
  const connectEntry = (entry: Entry): Deployment => {
    entry.deployment ??= createDeployment(entry.params, config, tools)
    return entry.deployment
  }
  const entryOf = (deployment: Deployment) => entries.find((entry) => entry.deployment === deployment) ?? first
  let turn = 0
  return {
    /** Returns the deployment for the next attempt; while all cool down, the one whose cooldown ends first. */
    next: () => {
      const order = [...entries.slice(turn), ...entries.slice(0, turn)]
      const earliest = order.reduce((a, b) => (b.cooldownEnd < a.cooldownEnd ? b : a))
      const chosen = order.find(({ cooldownEnd }) => cooldownEnd <= now()) ?? earliest
      turn = (entries.indexOf(chosen) + 1) % entries.length
      return connectEntry(chosen)
    },
    /** Returns the deployments of all entries. Throws the errors of `createDeployment`. */
    all: () => entries.map(connectEntry),
    /**
     * Starts the cooldown of an entry after a temporary failure.
     * @param requestedMs the wait that the provider requested; null for none
     */
    markFailed: (deployment: Deployment, requestedMs: number | null): void => {
      const entry = entryOf(deployment)
      entry.waitEnd = now() + (requestedMs ?? 0)
      entry.cooldownEnd = now() + (requestedMs ?? COOLDOWN_MS)
    },
    /** Ends the cooldown of an entry. */
    markWorked: (deployment: Deployment): void => {
      Object.assign(entryOf(deployment), { cooldownEnd: 0, waitEnd: 0 })
    },
    /** Returns the rest of the requested wait in milliseconds: 0 without a cooldown, null without a requested time. */
    remainingWaitMs: (deployment: Deployment): number | null => {
      const { cooldownEnd, waitEnd } = entryOf(deployment)
      if (cooldownEnd <= now()) return 0
      return waitEnd > now() ? waitEnd - now() : null
    },
  }
}
