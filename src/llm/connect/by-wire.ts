import { type Quirks, quirksOf } from '../quirks.ts'
import { anthropicWire } from '../wire/anthropic.ts'
import { chatWire } from '../wire/chat.ts'
import { converseWire } from '../wire/converse.ts'
import { geminiWire } from '../wire/gemini.ts'
import { WIRES, type WireName } from '../wire/wire.ts'
import { type Connection, type ModelEntry, Unconfigured } from './connection.ts'

/** Returns the wire form that an entry sets by `wire`; null for none. Throws `Unconfigured` for an unknown form. */
export function configuredWire(entry: ModelEntry): WireName | null {
  const name = entry.param('wire')
  if (name === undefined) return null
  const wireName = WIRES.find((wire) => wire === name)
  if (!wireName) throw new Unconfigured(`wire '${name}' is unknown (known: ${WIRES.join(', ')})`)
  return wireName
}

export const ANTHROPIC_VERSION = '2023-06-01'

/** The Messages API with the path and the version header of its vendor. */
export const messagesWire = anthropicWire((model) => ({
  path: '/messages',
  body: { model },
  headers: { 'anthropic-version': ANTHROPIC_VERSION },
}))

/** Claude models that accept a temperature. Newer ones refuse it, so it is sent to these only. */
const SAMPLED = /claude-(instant|v?2|3)|claude-(opus|sonnet|haiku)-4(?!-[7-9](?!\d))/
export const claudeQuirks = (modelId: string): Partial<Quirks> => ({
  unsupported: SAMPLED.test(modelId) ? [] : ['temperature'],
  maxTemperature: 1,
})

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
  const proof = (headers: Record<string, string>) => async () => (key ? headers : {})
  const common = { base_url, modelId: entry.modelId, secrets: key ? [key] : [] }
  if (wire === 'anthropic')
    return {
      ...common,
      wire: messagesWire,
      authorize: proof({ 'x-api-key': key ?? '' }),
      quirks: quirksOf({ ...claudeQuirks(entry.modelId), search: 'chat' }),
    }
  if (wire === 'gemini')
    return {
      ...common,
      wire: geminiWire,
      authorize: proof({ 'x-goog-api-key': key ?? '' }),
      quirks: quirksOf({ search: 'chat' }),
    }
  if (wire === 'converse')
    return {
      ...common,
      wire: converseWire,
      authorize: proof({ authorization: `Bearer ${key}` }),
      quirks: quirksOf(quirksOfClaude(entry.modelId)),
    }
  return { ...common, wire: chatWire, key: key ?? '', quirks: quirksOf(options.quirks) }
}

/** Returns the quirks of Claude for a model id of Claude, and none for others. */
export const quirksOfClaude = (modelId: string): Partial<Quirks> =>
  modelId.includes('claude') ? claudeQuirks(modelId) : {}
