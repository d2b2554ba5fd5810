import type { LlmConfig } from '../../../config/types.ts'
import { CredentialError } from '../../aws/credentials.ts'
import type { Fetch } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import { CallFailure } from '../failure.ts'
import { type Quirks, quirksOf } from '../quirks.ts'
import { messagesWire } from '../wire/anthropic.ts'
import { chatWire } from '../wire/chat.ts'
import { converseWire } from '../wire/converse.ts'
import { geminiWire } from '../wire/gemini.ts'
import { WIRES, type Wire, type WireName } from '../wire/wire.ts'
import type { Authorize, WireOptions } from '../wire/wire-fetch.ts'

export interface LlmTools {
  fetch: Fetch
  log: Logger
  /** Reads a credentials file; null when there is none. Throws when it cannot be read. */
  readFile: (path: string) => Promise<string | null>
  /** Returns the current time in milliseconds. */
  now: () => number
}

/** The entry of `model_list`, or the bare model string, that is connected. */
export interface ModelEntry {
  /** `<provider>/<model-id>` as configured. */
  model: string
  modelId: string
  /** Returns a parameter of the entry with `os.environ/` references resolved; undefined when absent or empty. */
  param(name: string): string | undefined
  /** Returns the first of these environment variables that is set and not empty, else undefined. */
  variable(...names: string[]): string | undefined
  config: Pick<LlmConfig, 'aws' | 'google_credentials_file'>
  tools: LlmTools
}

/** The connection to one model at one address. */
export interface Connection {
  base_url: string
  /** The name of the model at the provider. */
  modelId: string
  wire: Wire
  /** The key that the library sends as bearer; absent when `authorize` makes the headers. */
  key?: string
  authorize?: Authorize
  address?: WireOptions['address']
  quirks: Quirks
  organization?: string
  /** Values that must not appear in texts. The list grows when tokens are renewed. */
  secrets: string[]
}

/** A model cannot be called as configured. The message is shown after the name of the model. */
export class Unconfigured extends Error {
  override readonly name = 'Unconfigured'
}

/** Converts a credential error to a failed attempt. */
export function throwCredentialFailure(error: unknown): never {
  if (!(error instanceof CredentialError)) throw error
  throw new CallFailure(error.message, 502, { retryable: error.transient, cause: error })
}

/** Returns the address without trailing slashes, with `defaultPath` appended if it has no path. */
export function baseUrl(configured: string, defaultPath = ''): string {
  const bare = configured.replace(/\/+$/, '')
  return /^[a-z]+:\/\/[^/]+\/./i.test(bare) ? bare : `${bare}${defaultPath}`
}

export const sameHost = (a: string, b: string): boolean =>
  URL.canParse(a) && URL.canParse(b) && new URL(a).host === new URL(b).host

/** Returns the wire form that an entry sets by `wire`; null for none. Throws `Unconfigured` for an unknown form. */
export function configuredWire(entry: ModelEntry): WireName | null {
  const name = entry.param('wire')
  if (name === undefined) return null
  const wireName = WIRES.find((wire) => wire === name)
  if (!wireName) throw new Unconfigured(`wire '${name}' is unknown (known: ${WIRES.join(', ')})`)
  return wireName
}

/** Claude models that accept a temperature. Newer ones refuse it, so it is sent to these only. */
const SAMPLED = /claude-(instant|v?2|3)|claude-(opus|sonnet|haiku)-4(?!-[7-9](?!\d))/
export const claudeQuirks = (modelId: string): Partial<Quirks> => ({
  unsupported: SAMPLED.test(modelId) ? [] : ['temperature'],
  maxTemperature: 1,
})

/** The wire forms besides chat completions, each with the header of the key. */
const FORMS: Record<
  Exclude<WireName, 'chat'>,
  { form: Wire; header: string; quirks: (modelId: string) => Partial<Quirks> }
> = {
  anthropic: { form: messagesWire, header: 'x-api-key', quirks: (id) => ({ ...claudeQuirks(id), search: 'chat' }) },
  gemini: { form: geminiWire, header: 'x-goog-api-key', quirks: () => ({ search: 'chat' }) },
  converse: { form: converseWire, header: 'authorization', quirks: (id) => quirksOfClaude(id) },
}

/**
 * Connects a model at an address that uses a given wire form, regardless of its provider.
 * @param options.quirks apply to the form `chat`; the other forms have their own quirks
 */
export function connectByWire(
  entry: ModelEntry,
  wire: WireName,
  options: { base_url: string; key: string | undefined; quirks: Partial<Quirks> },
): Connection {
  const { base_url, key } = options
  const { modelId } = entry
  const common = { base_url, modelId, secrets: key ? [key] : [] }
  if (wire === 'chat') return { ...common, wire: chatWire, key: key ?? '', quirks: quirksOf(options.quirks) }
  const { form, header, quirks } = FORMS[wire]
  const proof: Record<string, string> = key ? { [header]: header === 'authorization' ? `Bearer ${key}` : key } : {}
  return { ...common, wire: form, authorize: async () => proof, quirks: quirksOf(quirks(modelId)) }
}

/** Returns the quirks of Claude for a model id of Claude, and none for others. */
export const quirksOfClaude = (modelId: string): Partial<Quirks> =>
  modelId.includes('claude') ? claudeQuirks(modelId) : {}
