import { isJsonObject, type Json, type JsonObject, ownMember } from '../base/json.ts'
import { wordsOf } from '../base/text.ts'
import { CLASSES, type ClassText, type FaultClass } from './classes.ts'
import { fits } from './intent/glob.ts'
import { openTo } from './network.ts'
import { jsonOf } from './policies/document.ts'
import type { Cloud, PlanContext, Rule, Subject, View } from './rule.ts'
import { blocksOf, isAbsent, isUnknown, jsonAt, textOf, viewOf } from './view.ts'

// Rules whose checks are one argument and one value: a class of faults has the words, a table the arguments.

/**
 * One line of a table, with blanks between its columns:
 *
 *     <types> <path> <faults> [if <condition> …]
 *
 * Types and values are divided by commas; `*` in a value stands for any characters, `\*` for itself. All steps of a path
 * but the last are blocks, or documents in JSON, of which `[name=x]` and `[name!=x]` choose some; where `block?` is
 * missing, nothing is bad. Faults are divided by `|`: values, `not:` values, `open` (a range of the internet), `set`,
 * `<7`, and `unset` where the provider's default is bad: `unset-inside` only in blocks that are there, `unset-outside`
 * only where the block is missing. Conditions are `key=values`, `key!=values`, `key` (is set) and `!key` (is not set). A
 * line with an address is the source of the lines below it, which says what the provider does; one with `#` is a comment.
 */
export interface Row {
  types: string[]
  path: string
  faults: string[]
  conditions: string[]
  source: string
}

/** Reads the lines of a section. Throws on a malformed one. */
export function rowsOf(table: string): Row[] {
  let source = ''
  return table.split('\n').flatMap((line) => {
    const [types = '', path = '', faults = '', word, ...conditions] = wordsOf(line)
    if (types === '' || types.startsWith('#')) return []
    if (types.startsWith('https://')) {
      source = types
      return []
    }
    if (faults === '' || source === '' || (word !== undefined && (word !== 'if' || conditions.length === 0)))
      throw new Error(`no row of a table of rules: ${line}`)
    return [{ types: types.split(','), path, faults: faults.split('|'), conditions, source }]
  })
}

/**
 * Creates the rules of one cloud from a table in sections, each of which begins with `[<name of a class>]`.
 * @param own classes of the table, beside those of several clouds; one with the same name goes first
 */
export function tableRules(cloud: Cloud, table: string, own: Record<string, FaultClass> = {}): Rule[] {
  const [, ...parts] = table.split(/^\[(\w+)\]$/m)
  const classes: Record<string, FaultClass> = { ...CLASSES, ...own }
  return parts.flatMap((name, index) => {
    if (index % 2 === 1) return []
    const faults = classes[name]
    if (faults === undefined) throw new Error(`no class of a table of rules: ${name}`)
    return classRules(cloud, faults, parts[index + 1] ?? '')
  })
}

function classRules(cloud: Cloud, { byDefault, ...bySetting }: FaultClass, section: string): Rule[] {
  const byType = new Map<string, PreparedRow[]>()
  for (const row of rowsOf(section).map(prepare))
    for (const type of row.types) byType.set(type, [...(byType.get(type) ?? []), row])
  const ruleOf = ({ name, says, ...text }: ClassText, ways: readonly Cause['by'][]): Rule => ({
    id: `${cloud}.${name}`,
    ...text,
    types: [...byType.keys()],
    check: (subject, context) =>
      (byType.get(subject.type) ?? []).flatMap((row) =>
        causesOf(subject, row, context)
          .filter(({ by }) => ways.includes(by))
          .map(({ value }) => `${row.path.replaceAll('?', '')} ${value}${says}.`),
      ),
  })
  if (byDefault === undefined) return [ruleOf(bySetting, ['set', 'default'])]
  return [ruleOf(bySetting, ['set']), ruleOf(byDefault, ['default'])]
}

/** Why an argument is bad. */
interface Cause {
  /** The code sets it so, or leaves it to the provider. */
  by: 'set' | 'default'
  /** The pattern that it fits, where the row has several; it tells one fault from another that comes in its place. */
  value: string
}

interface Step {
  key: string
  /** True if nothing is bad where the block is missing. */
  isOptional: boolean
  /** Chooses blocks by an attribute. */
  only?: { key: string; values: string; has: boolean }
}

interface PreparedRow extends Row {
  steps: Step[]
  /** Returns the pattern that a value fits, or another text for a bad one; null for a good one. */
  faultIn(value: Json): string | null
  /** True where the provider's default is bad in a block that is there, and where the block is missing. */
  unset: { inside: boolean; outside: boolean }
}

function prepare(row: Row): PreparedRow {
  const patterns = row.faults.filter((fault) => !fault.startsWith('unset')).flatMap(patternsOf)
  return {
    ...row,
    steps: stepsOf(row.path),
    faultIn: (value) => {
      const fault = patterns.find((pattern) => isFault(pattern, value))
      return fault === undefined ? null : patterns.length > 1 ? `(${fault}) ` : ''
    },
    unset: {
      inside: row.faults.some((fault) => fault === 'unset' || fault === 'unset-inside'),
      outside: row.faults.some((fault) => fault === 'unset' || fault === 'unset-outside'),
    },
  }
}

const STEP = /([\w-]+)(\?)?(?:\[([\w-]+)(!?=)([^\]]+)\])?(?:\.|$)/gy

function stepsOf(path: string): Step[] {
  const steps = [...path.matchAll(STEP)]
  if (steps.map(([text]) => text).join('') !== path) throw new Error(`no path of a table of rules: ${path}`)
  return steps.map(([, key = '', optional, only, operator, values = '']) => ({
    key,
    isOptional: optional !== undefined,
    ...(only !== undefined && { only: { key: only, values, has: operator === '=' } }),
  }))
}

const patternsOf = (fault: string): string[] => (fault.startsWith('not:') ? [fault] : fault.split(','))

function isFault(fault: string, value: Json): boolean {
  if (fault === 'set') return true
  if (fault === 'open') return typeof value === 'string' && openTo(value) !== null
  if (fault.startsWith('<')) return value !== null && Number(value) < Number(fault.slice(1))
  if (fault.startsWith('not:')) return !isOneOf(value, fault.slice(4))
  return isOneOf(value, fault)
}

/** Reports whether a value is among patterns, without regard to letter case. */
const isOneOf = (value: Json, patterns: string): boolean =>
  patterns.split(',').some((pattern) => (pattern === '\\*' ? value === '*' : fits(pattern, String(value))))

/** A resource or block, with the code that makes it; null where that is not known. */
interface Place {
  view: View
  code: JsonObject | null
}

const UNSET: Cause = { by: 'default', value: '' }

/** Returns why an argument is bad in the blocks that have it; none for a good one. */
function causesOf(subject: Subject, row: PreparedRow, { expressionsOf }: PlanContext): Cause[] {
  const expressions = expressionsOf(subject.address)
  const root: Place = { view: subject, code: Object.keys(expressions).length > 0 ? expressions : null }
  if (!row.conditions.every((condition) => holds(root, condition))) return []
  return walk(root, row.steps, row)
}

function walk(place: Place, [step, ...rest]: readonly Step[], row: PreparedRow): Cause[] {
  if (step === undefined) return []
  const { view, code } = place
  if (rest.length > 0) {
    const blocks = placesOf(place, step)
    if (blocks.length > 0) return blocks.flatMap((block) => walk(block, rest, row))
    if (step.isOptional) return []
    const isMissing = lacks(place, step.key) || (step.only !== undefined && !isUnknown(view, step.key))
    return row.unset.outside && isMissing ? [UNSET] : []
  }
  if (lacks(place, step.key)) return row.unset.inside ? [UNSET] : []
  // The code gives it a value that is known later.
  if (row.faults.includes('set') && isUnknown(view, step.key)) return [{ by: 'set', value: '' }]
  const value = jsonAt(view, step.key)
  const items = Array.isArray(value) ? value : value === null ? [] : [value]
  const by = leaves(code, step.key) ? 'default' : 'set'
  return items.flatMap((item) => {
    const fault = row.faultIn(item)
    return fault === null ? [] : [{ by, value: by === 'set' ? fault : '' }]
  })
}

/** Returns the blocks of a step, each with its code where code and plan have as many. */
function placesOf({ view, code }: Place, { key, only }: Step): Place[] {
  const document = textOf(view, key)
  const blocks = document === null ? blocksOf(view, key) : blocksOf(viewOf({ [key]: jsonOf(document) }), key)
  const written = code === null ? undefined : ownMember(code, key)
  const codes = Array.isArray(written) ? written : [written]
  return blocks
    .map((block, index): Place => {
      const own = codes.length === blocks.length ? codes[index] : undefined
      return { view: block, code: isJsonObject(own) && !isExpression(own) ? own : null }
    })
    .filter(({ view: block }) => only === undefined || isOneOf(jsonAt(block, only.key), only.values) === only.has)
}

/** Reports whether a member of the code is one expression instead of a block. */
const isExpression = (code: JsonObject) => Object.hasOwn(code, 'constant_value') || Object.hasOwn(code, 'references')

/** Reports whether the code leaves an argument to the provider, whose default may then stand in the plan. */
const leaves = (code: JsonObject | null, key: string): boolean => code !== null && !Object.hasOwn(code, key)

/** Reports whether an argument has no value. Providers plan some unset arguments as unknown. */
const lacks = ({ view, code }: Place, key: string): boolean =>
  isAbsent(view, key) || (isUnknown(view, key) && leaves(code, key))

function holds(root: Place, condition: string): boolean {
  const [, negated, path = '', operator, values = ''] = /^(!?)([\w.-]+)(?:(!?=)(.+))?$/.exec(condition) ?? []
  const steps = stepsOf(path)
  const key = steps.at(-1)?.key ?? ''
  const holders = steps.slice(0, -1).reduce((places, step) => places.flatMap((place) => placesOf(place, step)), [root])
  if (operator === undefined) return holders.some((holder) => !lacks(holder, key)) !== (negated === '!')
  const has = holders.some(({ view }) => {
    const value = jsonAt(view, key)
    return (Array.isArray(value) ? value : [value]).some((item) => item !== null && isOneOf(item, values))
  })
  return has === (operator === '=')
}
