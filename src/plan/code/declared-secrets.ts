import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'

/**
 * Finds the literal values that code declares sensitive, so that they can be masked before the first plan is made:
 * defaults of variables with `sensitive = true` or `ephemeral = true` and constant arguments of `sensitive()`.
 * @param code text of `.tf` files
 * @returns names of the sensitive variables, and the values as they would appear in a text
 */
export function findDeclaredSecrets(code: string): { names: string[]; literals: string[] } {
  const names: string[] = []
  const literals: string[] = []
  for (const match of code.matchAll(/^[ \t]*variable[ \t]+"?([\w-]+)"?[ \t]*\{/gm).take(MAX_BLOCKS)) {
    const body = blockAt(code, match.index + match[0].length)
    if (!/^[ \t]*(?:sensitive|ephemeral)[ \t]*=[ \t]*true\b/m.test(body)) continue
    names.push(match[1] ?? '')
    const value = /^[ \t]*default[ \t]*=[ \t]*/m.exec(body)
    if (value) literals.push(...literalsAt(body.slice(value.index + value[0].length)))
  }
  for (const match of code.matchAll(/\bsensitive\s*\(\s*/g).take(MAX_BLOCKS))
    literals.push(...literalsAt(code.slice(match.index + match[0].length)).filter(isConstant))
  return { names, literals }
}

/** A text with an interpolation such as `${var.a}` has no value before the engine evaluates it. */
const isConstant = (literal: string) => !/[$%]\{/.test(literal)

/** Finds the values that the text of a `.tfvars` file assigns to variables of these names. */
export function findAssignedSecrets(tfvars: string, names: readonly string[]): string[] {
  const wanted = new Set(names)
  return tfvars
    .matchAll(/^[ \t]*"?([\w-]+)"?[ \t]*=[ \t]*/gm)
    .filter(([, name = '']) => wanted.has(name))
    .take(MAX_BLOCKS)
    .flatMap((match) => literalsAt(tfvars.slice(match.index + match[0].length)))
    .toArray()
}

/**
 * Matches a bracket, or a comment, string or heredoc as a whole, since brackets inside these do not count. A block
 * comment or a heredoc that is never closed reaches to the end of the text.
 */
const TOKEN = /#.*|\/\/.*|\/\*[\s\S]*?(?:\*\/|$)|"(?:\\.|[^"\\\n])*"|<<-?(\w+)\n[\s\S]*?(?:\n[ \t]*\1\b|$)|[{}[\]]/g

/**
 * Anybody may have written the files, so the work on each is bounded: characters of one block, blocks of one file and
 * characters of one literal.
 */
const MAX_BLOCK = 20_000
const MAX_BLOCKS = 1_000
const MAX_LITERAL = 100_000

/** The text of a block. `start` is the place behind its opening bracket; the closing bracket is left out. */
function blockAt(text: string, start: number): string {
  const block = text.slice(start, start + MAX_BLOCK)
  let depth = 1
  for (const match of block.matchAll(TOKEN)) {
    if (match[0] === '{' || match[0] === '[') depth++
    else if (match[0] === '}' || match[0] === ']') depth--
    if (depth === 0) return block.slice(0, match.index)
  }
  return block
}

/** The strings in the value at the beginning of `text`: one string, one heredoc, or every string of a list or map. */
function literalsAt(text: string): string[] {
  const bracket = text[0] === '{' || text[0] === '['
  const value = bracket
    ? blockAt(text, 1)
    : (/^("(?:\\.|[^"\\\n])*"|<<-?(\w+)\n[\s\S]*?\n[ \t]*\2\b)/.exec(text.slice(0, MAX_LITERAL))?.[0] ?? '')
  return [...value.matchAll(TOKEN)].flatMap(([token]) => {
    if (token.startsWith('"')) return [resolveEscapes(token.slice(1, -1))]
    if (token.startsWith('<<')) return [token.slice(token.indexOf('\n') + 1, token.lastIndexOf('\n'))]
    return []
  })
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' }
const resolveEscapes = (text: string) =>
  text.replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character)

/** As `findDeclaredSecrets`, for the text of a `.tf.json` file. Text that is no JSON declares nothing. */
export function findDeclaredSecretsInJson(code: string): { names: string[]; literals: string[] } {
  const names: string[] = []
  const literals: string[] = []
  for (const root of objectsOf(parseJson(code))) {
    for (const variables of objectsOf(memberOf(root, 'variable'))) {
      for (const [name, declaration] of Object.entries(variables)) {
        const blocks = objectsOf(declaration).filter((block) =>
          ['sensitive', 'ephemeral'].some((mark) => isTrue(memberOf(block, mark))),
        )
        if (blocks.length > 0) names.push(name)
        for (const block of blocks) literals.push(...textsIn(memberOf(block, 'default')))
      }
    }
  }
  return { names, literals }
}

/** As `findAssignedSecrets`, for the text of a `.tfvars.json` file. */
export function findAssignedSecretsInJson(tfvars: string, names: readonly string[]): string[] {
  const [values] = objectsOf(parseJson(tfvars))
  return values ? names.flatMap((name) => [...textsIn(memberOf(values, name))]) : []
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The format allows both one object and a list of objects where a block may stand. */
const objectsOf = (value: Json): JsonObject[] => (Array.isArray(value) ? value : [value]).filter(isJsonObject)
const memberOf = (object: JsonObject, key: string): Json => (Object.hasOwn(object, key) ? (object[key] ?? null) : null)
const isTrue = (value: Json) => value === true || value === 'true'

function* textsIn(value: Json): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item)
  else if (isJsonObject(value)) for (const item of Object.values(value)) yield* textsIn(item)
}
