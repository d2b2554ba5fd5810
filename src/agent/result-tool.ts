import { toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { type Tool, ToolError } from './agent-request.ts'

/**
 * Creates a tool whose arguments are its result; a `ToolError` names all faults, and unknown keys are dropped.
 * @param options.mayOmit true if the model may leave out keys of nested objects that have a default
 */
export function createResultTool<Schema extends v.GenericSchema>(options: {
  name: string
  description: string
  schema: Schema
  acknowledgement?: string
  mayOmit?: boolean
}): Tool<v.InferOutput<Schema>> {
  const { name, description, schema, mayOmit = false, ...more } = options
  return {
    ...more,
    definition: { name, description, parameters: describeParameters(schema, mayOmit) },
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

function describeParameters(schema: v.GenericSchema, mayOmit: boolean): Record<string, unknown> {
  const { $schema: _, ...parameters } = toJsonSchema(schema, { typeMode: 'output', errorMode: 'ignore' })
  const { properties } = parameters
  return {
    ...parameters,
    properties:
      properties &&
      Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, condense(value, mayOmit)])),
  }
}

/** What code checks or fills in itself. Every call of the chain would send it again. */
const FOR_CODE = ['default', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'pattern'] as const

/**
 * Leaves out what only code needs, and marks every key below the top level as required for the model, including keys
 * with a default, unless it may omit them.
 */
function condense(schema: JsonSchema, mayOmit: boolean): JsonSchema {
  if (typeof schema !== 'object') return schema
  const { properties, items, required } = schema
  const kept = Object.fromEntries(Object.entries(schema).filter(([key]) => !FOR_CODE.some((one) => one === key)))
  if (properties) {
    const completed = Object.entries(properties).map(([key, value]) => [key, condense(value, mayOmit)] as const)
    return {
      ...kept,
      properties: Object.fromEntries(completed),
      required: mayOmit ? required?.filter((key) => !hasDefault(properties[key])) : Object.keys(properties),
    }
  }
  return items && !Array.isArray(items) ? { ...kept, items: condense(items, mayOmit) } : kept
}

const hasDefault = (schema: JsonSchema | undefined): boolean => typeof schema === 'object' && 'default' in schema

type JsonSchema = NonNullable<ReturnType<typeof toJsonSchema>['properties']>[string]

const MAX_FAULTS = 20

function listFaults(issues: readonly v.BaseIssue<unknown>[]): string {
  const faults = issues.slice(0, MAX_FAULTS).map((issue) => `${v.getDotPath(issue) ?? 'arguments'}: ${issue.message}`)
  return issues.length > MAX_FAULTS ? `${faults.join('; ')}; and ${issues.length - MAX_FAULTS} more` : faults.join('; ')
}
