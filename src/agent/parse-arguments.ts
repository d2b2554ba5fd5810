import type { ToolDefinition } from '../llm/types.ts'
import { missingParameters, notJson } from './notices.ts'
import { ToolError } from './types.ts'

/**
 * The argument text of a call as an object that holds every required parameter. A blank text is an
 * empty object: that is how some models call a tool without parameters.
 * Errors: `ToolError` that tells the model what to mend.
 */
export function parseArguments(definition: ToolDefinition, text: string): Record<string, unknown> {
  const args = parseObject(definition.name, text)
  const missing = requiredOf(definition).filter(
    (name) => (args[name] === undefined || args[name] === null) && name !== 'explanation',
  )
  if (missing.length > 0) throw new ToolError(missingParameters(definition.name, missing))
  return args
}

function parseObject(name: string, text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ToolError(notJson(name, error instanceof Error ? error.message : 'syntax error'))
  }
  if (!isObject(value))
    throw new ToolError(
      notJson(name, Array.isArray(value) ? 'an array' : `a ${value === null ? 'null' : typeof value}`),
    )
  return value
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function requiredOf(definition: ToolDefinition): string[] {
  const { required } = definition.parameters
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}
