/// <reference path="./prism.d.ts" />
import './prism-manual.ts'
import Prism, { type PrismToken } from 'prismjs/components/prism-core.js'
import './prism-global.ts'
import 'prismjs/components/prism-hcl.js'
import 'prismjs/components/prism-json.js'
import 'prismjs/components/prism-yaml.js'
import type { Token } from '../lines/words.ts'

/** The mode of a line: code, or within a text or comment that began on an earlier line. */
export type LineMode = 'code' | 'string' | 'comment'

const KINDS: Record<string, string> = {
  boolean: 'value',
  comment: 'comment',
  function: 'name',
  keyword: 'keyword',
  number: 'value',
  property: 'name',
  atrule: 'name',
  key: 'name',
  string: 'string',
  variable: 'string',
}
/** The length above which a line is not coloured. */
const MAX_LENGTH = 1_000

/** Splits a line into coloured tokens. No text becomes HTML. */
export function colourLine(text: string, language: string, mode: LineMode): Token[] {
  if (mode !== 'code') return [{ text, kind: mode }]
  const grammar = Prism.languages[language]
  if (text.length > MAX_LENGTH || !grammar) return [{ text, kind: '' }]
  return flatten(Prism.tokenize(text, grammar), '')
}

function flatten(content: PrismToken | PrismToken[], kind: string): Token[] {
  if (typeof content === 'string') return [{ text: content, kind }]
  if (Array.isArray(content)) return content.flatMap((part) => flatten(part, kind))
  const names = [content.alias ?? [], content.type].flat()
  // An interpolation is code, so it loses the colour of the text around it.
  const own = content.type === 'interpolation' ? '' : (names.map((name) => KINDS[name]).find(Boolean) ?? kind)
  return flatten(content.content, own)
}
