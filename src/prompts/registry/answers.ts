import * as v from 'valibot'
import type { OutboundResponse } from '../../http/outbound.ts'
import { type PromptVersion, RegistryError } from './types.ts'

const part = v.object({ type: v.string(), text: v.optional(v.string()) })
const message = v.object({ content: v.union([v.string(), v.array(v.unknown())]) })
const versionSchema = v.object({
  data: v.object({
    id: v.pipe(v.string(), v.minLength(1)),
    model_name: v.optional(v.string(), ''),
    template: v.optional(v.object({ messages: v.optional(v.array(v.unknown()), []) }), {}),
  }),
})

/** A version as the registry wraps it. Errors: `RegistryError` for any other form. */
export function readVersion(response: OutboundResponse): PromptVersion {
  const { data } = checked(versionSchema, response)
  return { id: data.id, model_name: data.model_name, text: firstText(data.template.messages?.[0]) }
}

/** The id of a version that was just created. */
export const readId = (response: OutboundResponse): string => checked(createdSchema, response).data.id
const createdSchema = v.object({ data: v.object({ id: v.pipe(v.string(), v.minLength(1)) }) })

function firstText(value: unknown): string | null {
  const parsed = v.safeParse(message, value)
  if (!parsed.success) return null
  const { content } = parsed.output
  if (typeof content === 'string') return content
  for (const item of content) {
    const found = v.safeParse(part, item)
    if (found.success && found.output.type === 'text' && found.output.text !== undefined) return found.output.text
  }
  return null
}

function checked<Schema extends v.GenericSchema>(schema: Schema, response: OutboundResponse): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, bodyOf(response))
  if (parsed.success) return parsed.output
  throw new RegistryError('refused', 'the answer is not in the form of a prompt version', { cause: new v.ValiError(parsed.issues) })
}

function bodyOf(response: OutboundResponse): unknown {
  try {
    return response.json()
  } catch (cause) {
    throw new RegistryError('refused', 'the answer is not JSON', { cause })
  }
}
