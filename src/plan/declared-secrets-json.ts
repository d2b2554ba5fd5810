import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'

/** As `declaredSecrets`, for the text of a `.tf.json` file. What is no JSON declares nothing. */
export function declaredSecretsJson(code: string): { names: string[]; literals: string[] } {
  const names: string[] = []
  const literals: string[] = []
  for (const root of objectsOf(parsed(code))) {
    for (const variables of objectsOf(member(root, 'variable'))) {
      for (const [name, declaration] of Object.entries(variables)) {
        const blocks = objectsOf(declaration).filter((block) => isTrue(member(block, 'sensitive')))
        if (blocks.length > 0) names.push(name)
        for (const block of blocks) literals.push(...strings(member(block, 'default')))
      }
    }
  }
  return { names, literals }
}

/** As `assignedSecrets`, for the text of a `.tfvars.json` file. */
export function assignedSecretsJson(tfvars: string, names: readonly string[]): string[] {
  const [values] = objectsOf(parsed(tfvars))
  return values ? names.flatMap((name) => [...strings(member(values, name))]) : []
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A block may be written as an object or as a list of them. */
const objectsOf = (value: Json): JsonObject[] => (Array.isArray(value) ? value : [value]).filter(isJsonObject)
const member = (object: JsonObject, key: string): Json => (Object.hasOwn(object, key) ? (object[key] ?? null) : null)
const isTrue = (value: Json) => value === true || value === 'true'

function* strings(value: Json): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const item of value) yield* strings(item)
  else if (isJsonObject(value)) for (const item of Object.values(value)) yield* strings(item)
}
