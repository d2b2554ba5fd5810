import * as v from 'valibot'
import type { Tool } from '../../src/agent/agent-request.ts'
import { createResultTool } from '../../src/agent/result-tool.ts'

/** An argument that may be absent, null or empty, which is the same. */
export const optionalText = (description: string) =>
  v.optional(
    v.pipe(
      v.nullable(v.string()),
      v.transform((value) => value?.trim() ?? ''),
      v.string(),
      v.description(description),
    ),
    '',
  )

/**
 * Creates a tool that checks its arguments against a schema. Each tool accepts an argument `explanation` and ignores it;
 * most do not offer it, because writing it takes time and money. Errors: `ToolError` when the arguments do not fit.
 */
export function defineTool<Schema extends v.GenericSchema, Result>(options: {
  name: string
  description: string
  schema: Schema
  run: (args: v.InferOutput<Schema>, signal: AbortSignal) => Promise<Result>
  mutates?: boolean
  reads?: boolean
}): Tool<Result> {
  const { name, description, schema, run, ...flags } = options
  const validated = createResultTool({ name, description, schema, mayOmit: true })
  return {
    ...flags,
    definition: validated.definition,
    run: async (args, signal) => run(await validated.run(args, signal), signal),
  }
}
