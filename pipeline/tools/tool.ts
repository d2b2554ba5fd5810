import * as v from 'valibot'
import { createResultTool } from '../../src/agent/result-tool.ts'
import type { Tool } from '../../src/agent/types.ts'

/** Accepted by every tool and ignored: writing down why keeps models on track. */
export const explanation = v.optional(v.pipe(v.string(), v.description('Why this call is made, in one sentence')))

/** A tool whose arguments are checked before it runs; arguments that do not fit are a `ToolError`. */
export function tool<Schema extends v.GenericSchema, Result>(options: {
  name: string
  description: string
  schema: Schema
  run: (args: v.InferOutput<Schema>, signal: AbortSignal) => Promise<Result>
  mutates?: boolean
  oncePerState?: boolean
}): Tool<Result> {
  const { name, description, schema, run, ...flags } = options
  const checked = createResultTool({ name, description, schema })
  return {
    ...flags,
    definition: checked.definition,
    run: async (args, signal) => run(await checked.run(args, signal), signal),
  }
}
