import { isJsonObject, itemsOf, type Json, memberOf, parseQuoted } from '../base/json.ts'
import { escapePattern } from '../base/text.ts'
import { readHeader } from '../hcl/read.ts'
import { type AddressPart, readAddress } from './addresses.ts'
import { folderOf, resolveFolder } from './code/modules.ts'
import { type DiffFile, readDiffFiles } from './code/patch.ts'
import { type DriftOperation, listDifferences } from './drift.ts'
import { isRefreshed, type Plan, type ResourceChange } from './plan.ts'
import { newAddresses } from './planned-changes.ts'

/**
 * Finds operations that would only undo a branch's own changes that are not applied yet, if plan and diff prove it:
 * - the infrastructure never had the resource: the plan creates it and does not list it as deleted by others
 * - the diff removes the block, the call of its module, or the count or key of its instance
 * - the refresh found the resource as in the state, and for each differing attribute the diff changes it, or a variable
 * or local value that it refers to, from the value of the infrastructure to that of the code
 * A model judges all other operations.
 * @param diffs diffs of the branch from the workspace; each may explain an operation
 */
export function findOwnChanges(
  plan: Plan,
  operations: readonly DriftOperation[],
  diffs: readonly string[],
): DriftOperation[] {
  const uncreated = newAddresses(plan)
  const views = diffs.map(readChangedBlocks)
  const changes = new Map(
    plan.resource_changes.filter(({ deposed }) => deposed === undefined).map((change) => [change.address, change]),
  )
  return operations.filter((operation) => {
    const change = changes.get(operation.address)
    if (change === undefined) return false
    if (operation.action === 'delete resource') return uncreated.has(operation.address)
    return views.some((blocks) =>
      operation.action === 'create resource'
        ? isOwnDeletion(plan, change, blocks)
        : isOwnUpdate(plan, operation, { change, blocks }),
    )
  })
}

const resourceLabel = ({ type, name }: ResourceChange) => `resource ${type}.${name}`

const isTakenAway = (block: ChangedBlock | undefined) => block?.removedHeader === true && !block.addedHeader

function isOwnDeletion(plan: Plan, change: ResourceChange, blocks: ChangedBlocks): boolean {
  const { calls, resource } = readAddress(change.address)
  let place = rootPlace(plan)
  for (const call of calls) {
    const block = blocks.find(place.directory, `module ${call.name}`)
    const inCode = callInCode(place, call.name)
    if (isTakenAway(block) || isOwnInstance(call, { own: block, inCode, place }, blocks)) return true
    const inside = enterModule(place, call.name)
    if (inside === null) return false
    place = inside
  }
  const block = blocks.find(place.directory, resourceLabel(change))
  const inCode = resourceInCode(place, change)
  return isTakenAway(block) || isOwnInstance(resource, { own: block, inCode, place }, blocks)
}

/** Reports whether the diff removes one instance of a block or module call that stays; `own` are its changes. */
function isOwnInstance(
  { key }: AddressPart,
  { own, inCode, place }: { own: ChangedBlock | undefined; inCode: Json | undefined; place: CodePlace },
  blocks: ChangedBlocks,
): boolean {
  if (key === null || inCode === undefined) return false
  const isNumber = !key.startsWith('"')
  const expression = memberOf(inCode, isNumber ? 'count_expression' : 'for_each_expression')
  const lines = declarationsOf(referencesIn(expression), place, blocks)
  if (own !== undefined) lines.push({ block: own, name: isNumber ? 'count' : 'for_each' })
  if (isNumber) return lines.some(({ block, name }) => changesCount(block, name))
  const text = parseQuoted(key)
  if (text === null) return false
  const anything: Sides = { code: null, infrastructure: null }
  return (
    lines.some(({ block }) => removesKey(block, text)) || (own !== undefined && changesValue(own, 'for_each', anything))
  )
}

/** Reports whether the lines change the number of instances; the numbers are in the plan. */
const changesCount = (block: ChangedBlock, name: string): boolean =>
  [...block.removed, ...block.added].some((line) => new RegExp(`^${name}\\s*=`).test(line))

function isOwnUpdate(
  plan: Plan,
  operation: DriftOperation & { action: 'update resource' },
  { change, blocks }: { change: ResourceChange; blocks: ChangedBlocks },
): boolean {
  const place = readAddress(change.address).calls.reduce<CodePlace | null>(
    (outer, { name }) => outer && enterModule(outer, name),
    rootPlace(plan),
  )
  const inCode = place && resourceInCode(place, change)
  if (isRefreshed(plan, change) || !inCode) return false
  const block = blocks.find(place.directory, resourceLabel(change))
  // In a block that is new under this name every line is added, so changes cannot be told apart.
  const own = block?.addedHeader ? undefined : block
  return listDifferences(operation.changes).every(({ path, from, to }) => {
    const sides: Sides = { code: from ?? null, infrastructure: to ?? null }
    const { first, last, isItem } = readPath(path)
    if (own && (isItem ? changesItem(own, sides) : changesValue(own, last, sides))) return true
    const references = referencesIn(memberOf(memberOf(inCode, 'expressions'), first))
    return declarationsOf(references, place, blocks).some((one) => changesValue(one.block, one.name, sides, true))
  })
}

const SEGMENT = /\[(\d+)\]|\[("(?:\\.|[^"\\])*")\]|([^.[\]]+)/g

/** Splits a path: its first and last name, and whether it ends with an item index. */
function readPath(path: string): { first: string; last: string; isItem: boolean } {
  const segments = [...path.matchAll(SEGMENT)]
  const names = segments.flatMap(([, , quoted, name]) => (quoted ? [JSON.parse(quoted) as string] : (name ?? [])))
  return { first: names[0] ?? '', last: names.at(-1) ?? '', isItem: segments.at(-1)?.[1] !== undefined }
}

/** Lines that changed a referenced value, and its name there. */
interface Declaration {
  block: ChangedBlock
  name: string
}

/** Returns the changes of the referenced variables and local values. */
function declarationsOf(references: readonly string[], place: CodePlace, blocks: ChangedBlocks): Declaration[] {
  const { directory, caller } = place
  return references.flatMap((reference) => {
    const [kind, name = ''] = reference.split('.')
    const found = (inDirectory: string, label: string, nameThere: string): Declaration[] => {
      const block = blocks.find(inDirectory, label)
      return block === undefined ? [] : [{ block, name: nameThere }]
    }
    if (kind === 'local') return found(directory, 'locals', name)
    if (kind !== 'var') return []
    const given = caller
      ? found(caller.place.directory, `module ${caller.name}`, name)
      : found(directory, 'tfvars', name)
    return [...found(directory, `variable ${name}`, 'default'), ...given]
  })
}

/** The location of a module's code and its description in the plan. */
interface CodePlace {
  /** Folder relative to the engine root; empty for the root, beginning with `..` outside of it. */
  directory: string
  /** The module in the plan's `configuration`; undefined when the plan lacks it. */
  module: Json | undefined
  /** The calling module and the name of the call; null for the root. */
  caller: { place: CodePlace; name: string } | null
}

const rootPlace = ({ document }: Plan): CodePlace => ({
  directory: '',
  module: memberOf(document.configuration, 'root_module'),
  caller: null,
})

/** Returns a module call in the plan's `configuration`; undefined when the code has none. */
const callInCode = (place: CodePlace, name: string): Json | undefined =>
  memberOf(memberOf(place.module, 'module_calls'), name)

/** Returns the place of a called module; null when its source is not local or not described. */
function enterModule(place: CodePlace, name: string): CodePlace | null {
  const call = callInCode(place, name)
  const source = memberOf(call, 'source')
  const directory = typeof source === 'string' ? resolveFolder(place.directory, source) : null
  return directory === null ? null : { directory, module: memberOf(call, 'module'), caller: { place, name } }
}

/** Returns the block of a resource in the plan's `configuration`; undefined when the code has none. */
const resourceInCode = (place: CodePlace, { type, name }: Pick<ResourceChange, 'type' | 'name'>) =>
  itemsOf(memberOf(place.module, 'resources')).find(
    (entry) =>
      memberOf(entry, 'mode') === 'managed' && memberOf(entry, 'type') === type && memberOf(entry, 'name') === name,
  )

/** Returns the distinct references of an expression, such as `var.size`; deeper parts are left out. */
function referencesIn(expression: Json | undefined): string[] {
  const found = new Set<string>()
  const visit = (value: Json) => {
    for (const reference of itemsOf(memberOf(value, 'references')))
      if (typeof reference === 'string') found.add(reference.split('.').slice(0, 2).join('.').replace(/\[.*$/, ''))
    if (Array.isArray(value)) for (const item of value) visit(item)
    else if (isJsonObject(value)) for (const member of Object.values(value)) visit(member)
  }
  if (expression !== undefined) visit(expression)
  return [...found]
}

/** A branch's changes of a block over all files of a folder. */
interface ChangedBlock {
  /** True if the diff removes the header of the block. */
  removedHeader: boolean
  /** True if the diff adds the header of the block; a move between files has both. */
  addedHeader: boolean
  /** Removed and added lines of the block, trimmed. */
  removed: string[]
  added: string[]
}

/** A lookup of a branch's changes by block. */
type ChangedBlocks = ReturnType<typeof readChangedBlocks>

/**
 * Reads which blocks a branch diff changes. Blocks are identified by headers in the first column or after `@@`; changes
 * without a header are ignored, so results are certain but may be incomplete. Blocks of new files count as added.
 */
function readChangedBlocks(diff: string) {
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
    const directory = folderOf(file.path)
    if (file.path.endsWith('.tfvars')) collectValues(file, blockOf(directory, 'tfvars'))
    else if (/\.(?:tf|tofu)$/.test(file.path)) collectBlocks(file, (label) => blockOf(directory, label))
  }
  return {
    /**
     * Returns the change of a block; undefined when the diff shows none.
     * @param directory folder relative to the engine root; empty for the root
     * @param label `resource aws_s3_bucket.logs`, `module network`, `variable size`, `locals`, or `tfvars` for all
     * variable files in the folder
     */
    find: (directory: string, label: string): ChangedBlock | undefined => blocks.get(`${directory}\n${label}`),
  }
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

type ChangedLines = Pick<ChangedBlock, 'removed' | 'added'>

/** A value on both sides of a difference; null where a side has none. */
interface Sides {
  code: Json
  infrastructure: Json
}

const LITERAL = /^("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false)\s*(?=$|[,}\])#]|\/\/)/
const isComment = (line: string) => /^(#|\/\/)/.test(line)

/**
 * Reports whether the lines change the value of a name in a way that explains the difference: literals must match the
 * code on the added side and the infrastructure on the removed side.
 * @param strict whether both sides must be literals
 */
function changesValue(lines: ChangedLines, name: string, sides: Sides, strict = false): boolean {
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
function changesItem({ removed, added }: ChangedLines, { code, infrastructure }: Sides): boolean {
  const moves = (value: Json, from: readonly string[], to: readonly string[]) =>
    value === null || (mentions(from, value) && !mentions(to, value))
  return moves(code, added, removed) && moves(infrastructure, removed, added)
}

/** Reports whether the lines remove a key or item. */
const removesKey = ({ removed, added }: ChangedLines, key: string): boolean =>
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
  return { text: literal, literal: /[$%]\{/.test(literal) ? null : parseQuoted(literal) }
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
