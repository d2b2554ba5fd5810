import { ExactNumber, isJsonObject, type Json, type JsonObject, memberOf, parseJson } from '../../base/json.ts'
import { attributeOf, isWrittenOut, readHcl } from '../../hcl/read.ts'
import type { HclAttribute, HclBlock, HclValue } from '../../hcl/tree.ts'

/** Limits against hostile files: values of one file, and characters of one value. */
const MAX_LITERALS = 10_000
const MAX_LITERAL = 100_000

interface DeclaredSecrets {
  names: string[]
  /** The values as they would appear in a text. */
  literals: string[]
}

/**
 * Finds literal values that code declares sensitive, to mask them before the first plan is made: defaults of variables
 * with `sensitive = true` or `ephemeral = true`, and constant arguments of `sensitive()`.
 * @param code text of `.tf` files
 */
export function findDeclaredSecrets(code: string): DeclaredSecrets {
  const { body, calls } = readHcl(code)
  const variables = body.blocks.filter(isSensitive)
  const defaults = variables.flatMap(({ body: variable }) => attributeOf(variable, 'default') ?? [])
  const marked = calls.filter(({ name }) => name === 'sensitive').flatMap(({ args }) => args[0] ?? [])
  return {
    names: variables.map(({ labels }) => labels[0] ?? ''),
    literals: bounded([...defaults.flatMap((attribute) => literalsOf(attribute, code)), ...marked.flatMap(textsOf)]),
  }
}

const MARKS = ['sensitive', 'ephemeral']

const isSensitive = ({ type, body }: HclBlock): boolean =>
  type === 'variable' &&
  MARKS.some((mark) => {
    const value = attributeOf(body, mark)?.value
    return (value?.kind === 'word' && value.word === 'true') || (value?.kind === 'string' && value.value === 'true')
  })

/** Finds the values that a `.tfvars` text assigns to variables of these names. */
export function findAssignedSecrets(tfvars: string, names: readonly string[]): string[] {
  const wanted = new Set(names)
  const assigned = readHcl(tfvars).body.attributes.filter(({ name }) => wanted.has(name))
  return bounded(assigned.flatMap((attribute) => literalsOf(attribute, tfvars)))
}

const bounded = (literals: readonly string[]): string[] =>
  literals.filter(({ length }) => length <= MAX_LITERAL).slice(0, MAX_LITERALS)

/** Returns the literals of an attribute. The parser reads a negative number as an expression. */
function literalsOf({ value, valueStart, end }: HclAttribute, code: string): string[] {
  const [, digits] =
    /^-\s*(\d[\d.]*(?:[eE][+-]?\d+)?)$/.exec(code.slice(valueStart, Math.min(end, valueStart + 100))) ?? []
  return digits === undefined ? textsOf(value) : [digits]
}

/** Returns the texts and numbers in a value; a template has no value before the engine evaluates it. */
function textsOf(value: HclValue): string[] {
  if (value.kind === 'array') return value.items.flatMap(textsOf)
  if (value.kind === 'object') return value.entries.flatMap((entry) => textsOf(entry.value))
  if (value.kind === 'word') return /^\d/.test(value.word) ? [value.word] : []
  if (value.kind === 'computed' || !isWrittenOut(value)) return []
  const text = value.value.trimEnd()
  // In code, a literal `${` is written `$${`.
  const inCode = text.replaceAll(/[$%](?=\{)/g, '$&$&')
  return inCode === text ? [text] : [text, inCode]
}

/** Does the same as `findDeclaredSecrets` for the text of a `.tf.json` file; invalid JSON declares nothing. */
export function findDeclaredSecretsInJson(code: string): DeclaredSecrets {
  const found: DeclaredSecrets = { names: [], literals: [] }
  const variables = objectsOf(parseJson(code)).flatMap((root) => objectsOf(memberOf(root, 'variable')))
  for (const [name, declaration] of variables.flatMap(Object.entries<Json>)) {
    const blocks = objectsOf(declaration).filter((block) => MARKS.some((mark) => isTrue(memberOf(block, mark))))
    if (blocks.length > 0) found.names.push(name)
    for (const block of blocks) found.literals.push(...textsIn(memberOf(block, 'default')))
  }
  return found
}

/** Does the same as `findAssignedSecrets` for the text of a `.tfvars.json` file. */
export function findAssignedSecretsInJson(tfvars: string, names: readonly string[]): string[] {
  const [values] = objectsOf(parseJson(tfvars))
  return values ? names.flatMap((name) => [...textsIn(memberOf(values, name))]) : []
}

/** Returns the blocks in a value: the format allows one object or a list of objects. */
const objectsOf = (value: Json | undefined): JsonObject[] =>
  (Array.isArray(value) ? value : [value]).filter(isJsonObject)
const isTrue = (value: Json | undefined) => value === true || value === 'true'

function* textsIn(value: Json | undefined): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'number' || value instanceof ExactNumber) yield String(value)
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item)
  else if (isJsonObject(value)) for (const item of Object.values(value)) yield* textsIn(item)
}
