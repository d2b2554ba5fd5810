import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { type Tool, ToolError } from './agent-request.ts'

/** Creates a tool whose arguments are its result; a `ToolError` names all faults, and unknown keys are dropped. */
export function createResultTool<Schema extends v.GenericSchema>(options: {
  name: string
  description: string
  schema: Schema
  acknowledgement?: string
}): Tool<v.InferOutput<Schema>> {
  const { name, description, schema, ...more } = options
  return {
    ...more,
    definition: { name, description, parameters: describeParameters(schema) },
    run: (args) => {
      const parsed = v.safeParse(schema, args)
      if (parsed.success) return parsed.output
      throw new ToolError(
        `Invalid arguments of \`${name}\`: ${listFaults(parsed.issues)}. ` +
          'Call it again with the whole corrected result.',
      )
    },
  }
}

function describeParameters(schema: v.GenericSchema): Record<string, unknown> {
  const { $schema: _, ...parameters } = toJsonSchema(schema, { typeMode: 'output', errorMode: 'ignore' })
  const { properties } = parameters
  return {
    ...parameters,
    properties:
      properties && Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, requireAll(value)])),
  }
}

/** Marks every key below the top level as required for the model, including keys with a default. */
function requireAll(schema: JsonSchema): JsonSchema {
  if (typeof schema !== 'object') return schema
  const { properties, items } = schema
  if (properties) {
    const completed = Object.entries(properties).map(([key, value]) => [key, requireAll(value)] as const)
    return { ...schema, properties: Object.fromEntries(completed), required: Object.keys(properties) }
  }
  return items && !Array.isArray(items) ? { ...schema, items: requireAll(items) } : schema
}

type JsonSchema = NonNullable<ReturnType<typeof toJsonSchema>['properties']>[string]

const MAX_FAULTS = 20

function listFaults(issues: readonly v.BaseIssue<unknown>[]): string {
  const faults = issues.slice(0, MAX_FAULTS).map((issue) => `${v.getDotPath(issue) ?? 'arguments'}: ${issue.message}`)
  return issues.length > MAX_FAULTS ? `${faults.join('; ')}; and ${issues.length - MAX_FAULTS} more` : faults.join('; ')
}
