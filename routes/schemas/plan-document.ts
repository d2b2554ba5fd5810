import { z } from '@hono/zod-openapi'
import { PlanDocumentSchema } from '../../src/plan/document/plan-document.ts'

export type { PlanDocument } from '../../src/plan/document/plan-document.ts'

/** Returns the JSON Schema (2020-12) of a plan document, without `$schema`, as OpenAPI 3.1 has it in its components. */
export function planDocumentJsonSchema(): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(PlanDocumentSchema, {
    io: 'input',
    // A value of the plan may be any JSON, for which the schema has no constraint.
    unrepresentable: 'any',
  })
  return schema
}
