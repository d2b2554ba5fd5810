import { type Json, parseJson } from '../../base/json.ts'
import { readHeader } from '../../hcl/read.ts'
import { type DiffFile, readDiffFiles } from '../code/patch.ts'

/** A branch's changes of a block over all files of a folder. */
export interface ChangedBlock {
  /** True if the diff removes the header of the block. */
  removedHeader: boolean
  /** True if the diff adds the header of the block; a move between files has both. */
  addedHeader: boolean
  /** Removed and added lines of the block, trimmed. */
  removed: string[]
  added: string[]
}

/** A lookup of a branch's changes by block. */
export interface ChangedBlocks {
  /**
   * Returns the change of a block; undefined when the diff shows none.
   * @param directory folder relative to the engine root; empty for the root
   * @param label `resource aws_s3_bucket.logs`, `module network`, `variable size`, `locals`, or `tfvars` for all
   * variable files in the folder
   */
  find(directory: string, label: string): ChangedBlock | undefined
}

/**
 * Reads which blocks a branch diff changes. Blocks are identified by headers in the first column or after `@@`; changes
 * without a header are ignored, so results are certain but may be incomplete. Blocks of new files count as added.
 */
export function readChangedBlocks(diff: string): ChangedBlocks {
  const blocks = new Map<string, ChangedBlock>()
  const blockOf = (directory: string, label: string): ChangedBlock => {
    const key = `${directory}\n${label}`
    const known = blocks.get(key)
    if (known) return known
    const block: ChangedBlock = { removedHeader: false, addedHeader: false, removed: [], added: [] }
    blocks.set(key, block)
    return block
  }
  for (const file of readDiffFiles(diff)) {
    const directory = file.path.split('/').slice(0, -1).join('/')
    if (file.path.endsWith('.tfvars')) collectValues(file, blockOf(directory, 'tfvars'))
    else if (/\.(?:tf|tofu)$/.test(file.path)) collectBlocks(file, (label) => blockOf(directory, label))
  }
  return { find: (directory, label) => blocks.get(`${directory}\n${label}`) }
}

const LABELLED = new Set(['resource', 'data', 'module', 'variable', 'output', 'locals'])

function labelOf(line: string): string | null {
  const { type, labels } = readHeader(line) ?? {}
  return type !== undefined && LABELLED.has(type) ? [type, labels?.slice(0, 2).join('.')].join(' ').trim() : null
}

/** Returns the signed lines of a file; a new file is all additions. */
const linesOf = ({ change, text }: DiffFile): string[] =>
  change === 'new' ? text.split('\n').map((line) => `+${line}`) : text.split('\n')

function collectValues(file: DiffFile, block: ChangedBlock): void {
  for (const line of linesOf(file)) {
    if (line.startsWith('-')) block.removed.push(line.slice(1).trim())
    if (line.startsWith('+')) block.added.push(line.slice(1).trim())
  }
}

function collectBlocks(file: DiffFile, blockOf: (label: string) => ChangedBlock): void {
  // A header may differ between the two sides, so each side tracks its own block.
  const current: Record<'-' | '+', string | null> = { '-': null, '+': null }
  const collect = (side: '-' | '+', text: string, isChange: boolean) => {
    const label = labelOf(text)
    if (label !== null) current[side] = label
    const open = current[side]
    if (open === null) return
    if (isChange) addLine(blockOf(open), side, text, label !== null)
    if (/^\}/.test(text) || (label !== null && /\}\s*$/.test(text))) current[side] = null
  }
  for (const line of linesOf(file)) {
    const text = line.slice(1)
    if (line.startsWith('@@')) {
      const label = labelOf(line.replace(/^@@.*?@@ ?/, ''))
      Object.assign(current, { '-': label, '+': label })
    } else if (line.startsWith('-')) collect('-', text, true)
    else if (line.startsWith('+')) collect('+', text, true)
    else if (line.startsWith(' ')) {
      collect('-', text, false)
      collect('+', text, false)
    }
  }
}

function addLine(block: ChangedBlock, side: '-' | '+', text: string, isHeader: boolean): void {
  const isRemoved = side === '-'
  if (isHeader) block[isRemoved ? 'removedHeader' : 'addedHeader'] = true
  const line = isHeader ? text.slice(text.indexOf('{') + 1).trim() : text.trim()
  if (line !== '') block[isRemoved ? 'removed' : 'added'].push(line)
}

/** A value in a line of code after a name. */
interface CodeValue {
  text: string
  /** The plain text, number or boolean; null for any other expression. */
  literal: string | null
}

/** Removed and added lines of a change. */
interface ChangedLines {
  removed: readonly string[]
  added: readonly string[]
}

/** A value on both sides of a difference; null where a side has none. */
export interface Sides {
  code: Json
  infrastructure: Json
}

const LITERAL = /^("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false)\s*(?=$|[,}\])#]|\/\/)/
const isComment = (line: string) => /^(#|\/\/)/.test(line)
const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/**
 * Reports whether the lines change the value of a name in a way that explains the difference: literals must match the
 * code on the added side and the infrastructure on the removed side.
 * @param strict whether both sides must be literals
 */
export function changesValue(lines: ChangedLines, name: string, sides: Sides, strict = false): boolean {
  const before = valuesOf(lines.removed, name)
  const after = valuesOf(lines.added, name)
  const removed = withoutCommon(before, after)
  const added = withoutCommon(after, before)
  if (removed.length + added.length === 0) return false
  return fits(added, sides.code, strict) && fits(removed, sides.infrastructure, strict)
}

function fits(values: readonly CodeValue[], expected: Json, strict: boolean): boolean {
  if (values.length === 0) return !strict
  if (values.some(({ literal }) => literal !== null && isSame(literal, expected))) return true
  return !strict && values.some(({ literal }) => literal === null)
}

/** Reports whether the lines replace a list item of the infrastructure by one of the code. */
export function changesItem({ removed, added }: ChangedLines, { code, infrastructure }: Sides): boolean {
  const moves = (value: Json, from: readonly string[], to: readonly string[]) =>
    value === null || (mentions(from, value) && !mentions(to, value))
  return moves(code, added, removed) && moves(infrastructure, removed, added)
}

/** Reports whether the lines remove a key or item. */
export const removesKey = ({ removed, added }: ChangedLines, key: string): boolean =>
  (mentions(removed, key) && !mentions(added, key)) ||
  (valuesOf(removed, key).length > 0 && valuesOf(added, key).length === 0)

/** Reports whether a line contains a quoted text or a number; other values are too common to be significant. */
function mentions(lines: readonly string[], value: Json): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const form = new RegExp(`(?<![\\w."])${escapePattern(JSON.stringify(value))}(?![\\w."])`)
  return lines.some((line) => !isComment(line) && form.test(line))
}

/** Returns the values that lines assign to a name, be it a block argument or a map key. */
function valuesOf(lines: readonly string[], name: string): CodeValue[] {
  const form = `(?:${escapePattern(JSON.stringify(name))}|${escapePattern(name)})\\s*[=:](?!=)\\s*`
  const first = new RegExp(`^${form}(.+)$`)
  const inside = new RegExp(`(?<=[{,(]\\s*)${form}(?=(.+)$)`, 'g')
  return lines
    .filter((line) => !isComment(line))
    .flatMap((line) => {
      const whole = first.exec(line)?.[1]
      const inner = [...line.matchAll(inside)].map(([, rest = '']) => rest)
      return [
        ...(whole === undefined ? [] : [toValue(whole)]),
        // The end of an expression within a line is unknown, so only literals count there.
        ...inner.map(toValue).filter(({ literal }) => literal !== null),
      ]
    })
}

function toValue(text: string): CodeValue {
  const literal = LITERAL.exec(text)?.[1]
  if (literal === undefined) return { text: text.trim(), literal: null }
  if (!literal.startsWith('"')) return { text: literal, literal }
  return { text: literal, literal: /[$%]\{/.test(literal) ? null : readText(literal) }
}

/** Parses a quoted text; null when it is not written as in JSON. */
export function readText(quoted: string): string | null {
  const value = parseJson(quoted)
  return typeof value === 'string' ? value : null
}

const isSame = (literal: string, value: Json): boolean =>
  value !== null && typeof value !== 'object' && String(value) === literal

/** Returns the values that a list contains more often than the other. */
function withoutCommon(values: readonly CodeValue[], others: readonly CodeValue[]): CodeValue[] {
  const left = others.map(({ text }) => text)
  return values.filter(({ text }) => {
    const at = left.indexOf(text)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}
