import { OpenAPIHono, z } from '@hono/zod-openapi'
import { ActivitySchema, OutputSchema } from '../../src/events/round-event.ts'
import { PlanDocumentSchema } from '../../src/plan/document/plan-document.ts'
import type { Endpoint } from '../endpoint.ts'

export type { PlanDocument } from '../../src/plan/document/plan-document.ts'

const DESCRIPTION =
  'Turns a request in plain words and a git repository into infrastructure code, a validated plan and ' +
  'a pull request.\n\n' +
  'A request answers at once and its round runs in the background: follow it on the event stream, read the result in ' +
  'the session.\n' +
  'Errors are `{"detail": "<text>"}`; a request that does not validate is 422 with a list.'

/** Returns the OpenAPI 3.1 document of these endpoints as JSON text. Its paths are relative to the server `/api`. */
export function describeApi(endpoints: readonly Endpoint[], version: string): string {
  const app = new OpenAPIHono()
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A token of the configured issuer. Not needed while authentication is disabled.',
  })
  // No route returns it: it is fetched from the object store, at `rounds[].plans[].document_url`.
  app.openAPIRegistry.registerComponent('schemas', 'PlanDocument', planDocumentJsonSchema())
  // The JSON in the frames of the event streams.
  app.openAPIRegistry.register('Activity', ActivitySchema)
  app.openAPIRegistry.register('Output', OutputSchema)
  for (const { route } of endpoints) app.openAPIRegistry.registerPath(route)
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'Platform', version, description: DESCRIPTION },
    servers: [{ url: '/api' }],
    tags: [
      { name: 'Identity', description: 'Signing in, and who the caller is.' },
      { name: 'Rounds', description: 'Starting work and following it.' },
      { name: 'Sessions', description: 'Requests and their results.' },
      { name: 'Repository', description: 'Pull requests, and what is known of a repository before the first request.' },
      { name: 'Administration', description: 'The admin panel: all sessions, the lock, users and their roles.' },
      { name: 'Notifications', description: 'Messages of users to those who run the platform.' },
    ],
  })
  return JSON.stringify(nullableReferences(document))
}

/** Returns the JSON Schema (2020-12) of a plan document, without `$schema`, as OpenAPI 3.1 has it in its components. */
export function planDocumentJsonSchema(): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(PlanDocumentSchema, {
    io: 'input',
    // A value of the plan may be any JSON, for which the schema has no constraint.
    unrepresentable: 'any',
  })
  return schema
}

/** Writes nullable references as alternatives. The library writes them as `allOf`, which null does not satisfy. */
function nullableReferences(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(nullableReferences)
  if (typeof part !== 'object' || part === null) return part
  const { allOf, ...own } = Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, nullableReferences(value)]),
  )
  if (!Array.isArray(allOf)) return allOf === undefined ? own : { ...own, allOf }
  const [reference, { type, ...rest } = { type: undefined }] = allOf as Record<string, unknown>[]
  const isNullable = allOf.length === 2 && reference?.$ref !== undefined && Array.isArray(type) && type.includes('null')
  return isNullable && !('properties' in rest)
    ? { ...own, ...rest, anyOf: [reference, { type: 'null' }] }
    : { ...own, allOf }
}
