import * as v from 'valibot'
import type { Tool } from '../../src/agent/agent-request.ts'
import { createResultTool } from '../../src/agent/result-tool.ts'

/** An argument that every tool accepts and ignores: models make better calls when they state their reason. */
export const explanation = v.optional(v.pipe(v.string(), v.description('Why this call is made, in one sentence')))

/** Creates a tool that checks its arguments against a schema. Errors: `ToolError` when they do not fit. */
export function defineTool<Schema extends v.GenericSchema, Result>(options: {
  name: string
  description: string
  schema: Schema
  run: (args: v.InferOutput<Schema>, signal: AbortSignal) => Promise<Result>
  mutates?: boolean
  reads?: boolean
}): Tool<Result> {
  const { name, description, schema, run, ...flags } = options
  const validated = createResultTool({ name, description, schema })
  return {
    ...flags,
    definition: validated.definition,
    run: async (args, signal) => run(await validated.run(args, signal), signal),
  }
}
