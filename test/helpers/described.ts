import type { Hono } from 'hono'
import { z } from 'zod'
import { ENDPOINTS } from '../../routes/endpoints.ts'
import type { AppEnv } from '../../routes/env.ts'
import { describeApi } from '../../routes/openapi/document.ts'

export type Schema = Record<string, unknown>
export interface DescribedOperation {
  responses: Record<
    string,
    { content?: Record<string, { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }> }
  >
  requestBody?: { content: Record<string, { schema: Schema }> }
}
interface Document {
  paths: Record<string, Record<string, DescribedOperation>>
  components: { schemas: Record<string, Schema> }
}

export const DOCUMENT: Document = JSON.parse(describeApi(ENDPOINTS, 'test'))
const PATTERNS = Object.entries(DOCUMENT.paths).map(([path, methods]) => ({
  pattern: new RegExp(`^(?:/api)?${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  methods,
}))

/** Fails the test on every answer that differs from the published description in status, content type or keys. */
export function asDescribed(app: Hono<AppEnv>): Hono<AppEnv> {
  const { fetch } = app
  app.fetch = async (request, ...rest) => {
    const answer = await fetch(request, ...rest)
    await checkAnswer(request.method, new URL(request.url).pathname, answer)
    return answer
  }
  return app
}

/** Checks an answer against the description. Errors: each difference. Requests without a route are ignored. */
export async function checkAnswer(method: string, path: string, answer: Response): Promise<void> {
  const operation = PATTERNS.find(({ pattern }) => pattern.test(path))?.methods[method.toLowerCase()]
  if (!operation) return
  const name = `${method} ${path} answered ${answer.status}`
  const described = operation.responses[answer.status] ?? operation.responses.default
  if (!described) throw new Error(`${name}, which is not described`)
  const type = answer.headers.get('content-type')?.split(';')[0] ?? null
  const content = type === null ? undefined : described.content?.[type]
  if (!content && (type !== null || described.content)) throw new Error(`${name} as ${type}, which is not described`)
  if (type !== 'application/json' || !content) return
  const result = validator(content.schema).safeParse(await answer.clone().json())
  if (!result.success) throw new Error(`${name}, not as described:\n${z.prettifyError(result.error)}`)
}

const known = new WeakMap<Schema, z.ZodType>()

/** Makes a validator that accepts what the schema describes, and no unlisted keys. */
export function validator(schema: Schema): z.ZodType {
  const found = known.get(schema)
  if (found) return found
  const made = z.fromJSONSchema(closed(schema) as Parameters<typeof z.fromJSONSchema>[0])
  known.set(schema, made)
  return made
}

/** Inlines references and `allOf`, so that objects can be closed. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, allOf, example: _, ...own } = schema as Schema
  if (typeof $ref === 'string') return closed(DOCUMENT.components.schemas[$ref.split('/').at(-1) ?? ''])
  // Alternatives of an object that lists its keys itself only say which of these go together.
  const isForms = (key: string) => key === 'oneOf' && 'properties' in own
  const inner = Object.fromEntries(
    Object.entries(own).map(([key, value]) => [key, isForms(key) ? value : closed(value)]),
  ) as Schema
  const parts = Array.isArray(allOf) ? (allOf.map(closed) as Schema[]) : []
  const whole = parts.length === 0 ? inner : [...parts, inner].reduce(merged, {})
  return 'properties' in whole && !('additionalProperties' in whole) ? { ...whole, additionalProperties: false } : whole
}

const merged = (a: Schema, b: Schema): Schema => ({
  ...a,
  ...b,
  properties: { ...(a.properties as Schema), ...(b.properties as Schema) },
  required: [...((a.required as string[]) ?? []), ...((b.required as string[]) ?? [])],
})
