import { isJsonObject, type Json, type JsonObject } from '../base/json.ts'

/**
 * Literal values that code itself declares sensitive, known before any plan is: defaults of variables
 * with `sensitive = true` and arguments of `sensitive()`. Texts of `.tf` files in, text forms of the values out.
 */
export function declaredSecrets(code: string): { names: string[]; literals: string[] } {
  const names: string[] = []
  const literals: string[] = []
  for (const match of code.matchAll(/^[ \t]*variable[ \t]+"?([\w-]+)"?[ \t]*\{/gm).take(MAX_BLOCKS)) {
    const body = blockAt(code, match.index + match[0].length)
    if (!/^[ \t]*sensitive[ \t]*=[ \t]*true\b/m.test(body)) continue
    names.push(match[1] ?? '')
    const value = /^[ \t]*default[ \t]*=[ \t]*/m.exec(body)
    if (value) literals.push(...literalsAt(body.slice(value.index + value[0].length)))
  }
  for (const match of code.matchAll(/\bsensitive\s*\(\s*/g).take(MAX_BLOCKS))
    literals.push(...literalsAt(code.slice(match.index + match[0].length)).filter(isConstant))
  return { names, literals }
}

/** Text with an expression in it is no value yet. */
const isConstant = (literal: string) => !/[$%]\{/.test(literal)

/** Values that a `.tfvars` text assigns to variables of these names. */
export function assignedSecrets(tfvars: string, names: readonly string[]): string[] {
  const wanted = new Set(names)
  return tfvars
    .matchAll(/^[ \t]*"?([\w-]+)"?[ \t]*=[ \t]*/gm)
    .filter(([, name = '']) => wanted.has(name))
    .take(MAX_BLOCKS)
    .flatMap((match) => literalsAt(tfvars.slice(match.index + match[0].length)))
    .toArray()
}

/** A token that hides braces in it (comment, string, heredoc), or a bracket. What is not closed goes to the end. */
const TOKEN = /#.*|\/\/.*|\/\*[\s\S]*?(?:\*\/|$)|"(?:\\.|[^"\\\n])*"|<<-?(\w+)\n[\s\S]*?(?:\n[ \t]*\1\b|$)|[{}[\]]/g

/** Files are of strangers: what is looked at has an end. Characters of a block, and blocks of a file. */
const MAX_BLOCK = 20_000
const MAX_BLOCKS = 1_000
const MAX_LITERAL = 100_000

/** The text from `start`, just behind an opening bracket, to the bracket that closes it. */
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

/** Strings of the value at the beginning of `text`: one string, one heredoc, or all of a list or map. */
function literalsAt(text: string): string[] {
  const bracket = text[0] === '{' || text[0] === '['
  const value = bracket
    ? blockAt(text, 1)
    : (/^("(?:\\.|[^"\\\n])*"|<<-?(\w+)\n[\s\S]*?\n[ \t]*\2\b)/.exec(text.slice(0, MAX_LITERAL))?.[0] ?? '')
  return [...value.matchAll(TOKEN)].flatMap(([token]) => {
    if (token.startsWith('"')) return [unescaped(token.slice(1, -1))]
    if (token.startsWith('<<')) return [token.slice(token.indexOf('\n') + 1, token.lastIndexOf('\n'))]
    return []
  })
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' }
const unescaped = (text: string) => text.replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character)

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
