import * as v from 'valibot'
import type { OutboundResponse } from '../../base/http.ts'
import { type PromptVersion, RegistryError } from './types.ts'

const id = v.pipe(v.union([v.pipe(v.string(), v.minLength(1)), v.number()]), v.transform(String))
const createdSchema = v.object({ data: v.object({ id }) })
/** Only the id is required. Whatever else a version lacks becomes an error where it is needed. */
const versionSchema = v.object({
  data: v.object({
    id,
    model_name: v.fallback(v.string(), ''),
    template: v.fallback(v.object({ messages: v.array(v.unknown()) }), { messages: [] }),
  }),
})
const message = v.object({ content: v.union([v.string(), v.array(v.unknown())]) })
const textPart = v.object({ type: v.literal('text'), text: v.string() })

/** Reads a version from the answer of the registry. Errors: `RegistryError` for any other form. */
export function readVersion(response: OutboundResponse): PromptVersion {
  const { data } = parseAnswer(versionSchema, response)
  return { id: data.id, model_name: data.model_name, text: firstText(data.template.messages[0]) }
}

/** Reads the id of a version that was just created. Errors: `RegistryError`. */
export const readId = (response: OutboundResponse): string => parseAnswer(createdSchema, response).data.id

function firstText(value: unknown): string | null {
  const parsed = v.safeParse(message, value)
  if (!parsed.success) return null
  const { content } = parsed.output
  if (typeof content === 'string') return content
  for (const item of content) {
    const part = v.safeParse(textPart, item)
    if (part.success) return part.output.text
  }
  return null
}

function parseAnswer<Schema extends v.GenericSchema>(
  schema: Schema,
  response: OutboundResponse,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, parseJson(response))
  if (parsed.success) return parsed.output
  throw new RegistryError('refused', 'the answer is not in the form of a prompt version', {
    cause: new v.ValiError(parsed.issues),
  })
}

function parseJson(response: OutboundResponse): unknown {
  try {
    return response.json()
  } catch (cause) {
    throw new RegistryError('refused', 'the answer is not JSON', { cause })
  }
}
