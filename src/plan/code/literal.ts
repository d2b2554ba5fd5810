import type { Json } from '../../base/json.ts'
import { parseHcl } from '../../hcl/parser.ts'
import { attributeOf, MAX_TOKENS } from '../../hcl/read.ts'
import { HclScanner } from '../../hcl/scanner.ts'
import type { HclValue } from '../../hcl/tree.ts'

/** Stands in a value for a part that only the engine can compute. */
export const COMPUTED = '\uFFFC'

/**
 * Reads an expression as far as it is written out, with `COMPUTED` for the rest. `jsonencode` gives what it encodes, a
 * quoted text or heredoc its text.
 * @param code an expression of the native syntax
 * @returns `COMPUTED` for an expression that is not literal at all
 */
export function literalIn(code: string): Json {
  const expression = code.trim()
  const [, encoded] = /^jsonencode\s*\(([\s\S]*)\)$/.exec(expression) ?? []
  if (/^(?:"|<<)/.test(expression)) return textIn(expression)
  const { body } = parseHcl(`value = ${encoded?.trim() ?? expression}\n`, { maxTokens: MAX_TOKENS })
  const value = attributeOf(body, 'value')?.value
  return value === undefined ? COMPUTED : jsonOf(value)
}

/** Returns a quoted text or a heredoc, as it is indented, with a placeholder for each template. */
function textIn(expression: string): string {
  const scanner = new HclScanner(`${expression}\n`)
  const parts: string[] = []
  let templates = 0
  let isClosed = false
  for (let token = scanner.next(); token.kind !== 'eof'; token = scanner.next()) {
    if (isClosed && token.kind !== 'newline') return COMPUTED
    if (token.kind === 'close' && templates === 0) isClosed = true
    else if (token.kind === 'template' && templates++ === 0) parts.push(COMPUTED)
    else if (token.kind === 'end') templates--
    else if (token.kind === 'literal' && templates === 0) parts.push(token.text)
  }
  return parts.join('')
}

/** Returns a value with a placeholder for each computed part; nothing of a text is known behind its first template. */
function jsonOf(value: HclValue): Json {
  switch (value.kind) {
    case 'object':
      return Object.fromEntries(value.entries.map((entry) => [entry.key ?? COMPUTED, jsonOf(entry.value)]))
    case 'array':
      return value.items.map(jsonOf)
    case 'string':
      return value.whole ? value.value : `${value.value}${COMPUTED}`
    case 'word':
      return wordOf(value.word)
    default:
      return COMPUTED
  }
}

function wordOf(word: string): Json {
  if (word === 'true') return true
  if (word === 'false') return false
  if (word === 'null') return null
  return /^\d+(\.\d+)?$/.test(word) ? Number(word) : COMPUTED
}
