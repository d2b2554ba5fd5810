import { distanceWithin, joinNames } from '../../base/text.ts'
import { readHcl, textOf } from '../../hcl/read.ts'
import type { HclBlock, HclBody } from '../../hcl/tree.ts'
import type { LockedProvider } from '../schema/lock-file.ts'
import type { TypeNames } from '../schema/provider-schema.ts'
import {
  type Attribute,
  type Block,
  isSettable,
  modeOf,
  type NestedBlock,
  nearNames,
  type TypeName,
} from '../schema/read-schema.ts'
import type { Diagnostic } from './diagnostic.ts'
import { missingProvider } from './unmendable.ts'

/** Sources of hints; null where there is none. */
export interface Surroundings {
  /** Whole text of the file that the diagnostic names. */
  text: string | null
  /** Returns the declarations in the folder of that file. */
  declared(): Promise<Declarations>
  /** Returns the declarations of a called module whose code is in the repository. */
  declaredIn(module: string): Promise<Declarations | null>
  types(): Promise<TypeNames | null>
  block(type: TypeName): Promise<Block | null>
  /** Returns the providers that are installed; null when that is not known. */
  providers(): Promise<Pick<LockedProvider, 'source' | 'version'>[] | null>
}

const MAX_NAMES = 15
/** Most declarations of the same name in a hint. */
const MAX_NAMESAKES = 3
/** Most hints of one entry, which may represent many diagnostics. */
const MAX_HINTS = 2

type Hint = (match: RegExpExecArray, diagnostic: Diagnostic, at: Surroundings) => Promise<string>

const hintOutputs: Hint = async ([, name = ''], _, at) => {
  const module = new RegExp(`\\bmodule\\.([\\w-]+)(?:\\[[^\\]]*\\])*\\.${name}\\b`).exec(at.text ?? '')?.[1]
  const declared = module === undefined ? null : await at.declaredIn(module)
  return declared === null ? '' : describeAll(`outputs of module.${module}`, name, declared.outputs)
}

const hintAttribute: Hint = async ([, name = ''], _, at) => {
  const reference = new RegExp(`(?:\\b(data|ephemeral)\\.)?\\b([a-z]\\w*)\\.[\\w-]+(?:\\[[^\\]]*\\])*\\.${name}\\b`)
  const [, mode, type] = reference.exec(at.text ?? '') ?? []
  if (type === undefined) return ''
  const block = await at.block({ mode: modeOf(mode), type })
  return block === null ? '' : describeNearest(`attributes of ${type}`, name, namesIn(block))
}

const hintArgument: Hint = async ([, name = ''], diagnostic, at) => {
  const module = /^module "([\w-]+)"/.exec(diagnostic.context ?? '')?.[1]
  if (module !== undefined) {
    const declared = await at.declaredIn(module)
    return declared === null ? '' : describeAll(`variables of module.${module}`, name, declared.variables)
  }
  const place = await placeOf(name, diagnostic, at)
  if (place === null) return ''
  const inside = pathTo(name, place.block)
  if (inside !== null) return `${place.label} takes ${name} inside of its block ${inside}.`
  return describeNearest(`arguments of ${place.label}`, name, namesIn(place.block, isSettable))
}

const hintRequired: Hint = async ([, name = ''], diagnostic, at) => {
  const place = await placeOf(name, diagnostic, at)
  if (place === null) return ''
  const required = namesIn(
    place.block,
    (attribute) => attribute.required === true,
    ({ min_items = 0 }) => min_items > 0,
  )
  // For a nested block the engine reports the line of its header, so the block found here may be the enclosing one.
  return required.includes(name) && required.length > 1 ? `${place.label} requires ${required.join(', ')}.` : ''
}

/** Returns the schema block in which a diagnostic found a name, with a label. */
async function placeOf(
  name: string,
  { context, line }: Diagnostic,
  { text, block }: Surroundings,
): Promise<{ label: string; block: Block } | null> {
  const [, mode, type = ''] = /^(resource|data|ephemeral) "([\w-]+)"/.exec(context ?? '') ?? []
  if (mode === undefined || line === null || text === null) return null
  const path = blockPathAt(text, line, name) ?? []
  let current = await block({ mode: modeOf(mode), type })
  for (const step of path) current = current?.block_types?.[step]?.block ?? null
  return current === null ? null : { label: [type, ...path].join('.'), block: current }
}

function namesIn(
  { attributes = {}, block_types = {} }: Block,
  hasAttribute: (attribute: Attribute) => boolean = () => true,
  hasBlock: (block: NestedBlock) => boolean = () => true,
): string[] {
  const attributeNames = Object.entries(attributes).filter(([, attribute]) => hasAttribute(attribute))
  const blockNames = Object.entries(block_types).filter(([, block]) => hasBlock(block))
  return [...attributeNames, ...blockNames].map(([name]) => name)
}

/** Returns the nested block names that lead to an argument, joined by dots; null when there is none. */
function pathTo(name: string, { block_types = {} }: Block, depth = 3): string | null {
  for (const [key, { block = {} }] of Object.entries(block_types)) {
    if (namesIn(block, isSettable).includes(name)) return key
    const deeper = depth > 1 ? pathTo(name, block, depth - 1) : null
    if (deeper !== null) return `${key}.${deeper}`
  }
  return null
}

const hintDeclared: Hint = async ([, kind = '', name = '', suggested], _, at) => {
  const declared = await at.declared()
  const { variables, locals, modules } = declared
  const namesakes = describeNamesakes(name, declared)
  if (suggested !== undefined) return namesakes
  const names: Record<string, readonly string[]> = {
    module: [...modules.keys()],
    'local value': locals,
    'input variable': variables,
  }
  return joinHints(namesakes, describeAll(`declared ${kind}s`, name, names[kind] ?? []))
}

const joinHints = (...hints: string[]) => hints.filter((hint) => hint !== '').join(' ')

/** Describes declarations of another kind with exactly this name: the kind is then the likely mistake. */
function describeNamesakes(name: string, { variables, locals, outputs, resources, modules }: Declarations): string {
  const references = [
    ...(variables.includes(name) ? [`var.${name}`] : []),
    ...(locals.includes(name) ? [`local.${name}`] : []),
    ...(modules.has(name) ? [`module.${name}`] : []),
    ...resources.filter((address) => address.endsWith(`.${name}`)),
  ].slice(0, MAX_NAMESAKES)
  if (references.length > 0)
    return `${references.map((one) => `\`${one}\``).join(', ')} ${references.length === 1 ? 'exists' : 'exist'}.`
  return outputs.includes(name) ? `an output ${name} exists, which code of its own module cannot refer to.` : ''
}

const hintResource: Hint = async ([, mode, type = '', name = ''], _, at) => {
  const address = `${mode === 'managed' ? '' : `${mode}.`}${type}.${name}`
  const declared = await at.declared()
  const { resources } = declared
  const ofType = ['', 'data.', 'ephemeral.'].map((prefix) => `${prefix}${type}.`)
  const alike = resources.filter(
    (other) => ofType.some((start) => other.startsWith(start)) || other.endsWith(`.${name}`),
  )
  const near = resources.filter((other) => distanceWithin(other, address, 3) <= 3)
  const found = [...new Set([...near, ...alike])]
  // Resources of this name are among the similar ones.
  const namesakes = describeNamesakes(name, { ...declared, resources: [] })
  return joinHints(namesakes, found.length === 0 ? '' : describeAll('declared resources', address, found))
}

const hintType: Hint = async ([, kind, type = ''], _, at) => {
  const names = await at.types()
  const near = names === null ? [] : nearest(type, names[modeOf(kind?.split(' ')[0])])
  return near.length === 0 ? '' : `nearest types: ${near.join(', ')}.`
}

const hintProvider: Hint = async (_, diagnostic, at) => {
  const missing = missingProvider(diagnostic)
  if (missing === null) return ''
  const known = await at.providers()
  const own = known?.find(({ source }) => source === missing.split('/').slice(-2).join('/'))
  if (own)
    return `the provider ${missing} is installed as ${own.version}, and not as the code asks for it. Let the code accept that version.`
  const others = known?.map(({ source, version }) => `${source} ${version}`) ?? null
  return [
    `the provider ${missing} cannot be installed here as the code asks for it.`,
    others && (others.length === 0 ? 'No other provider is installed.' : `Installed: ${joinNames(others, MAX_NAMES)}.`),
    'terraform_data needs no provider. If only the code of this session uses it, write that code without it.',
  ]
    .filter(Boolean)
    .join(' ')
}

/** Hints by the detail of a diagnostic, in the words of OpenTofu and Terraform. */
const HINTS: readonly [RegExp, Hint][] = [
  [/This object does not have an attribute named "([\w-]+)"\.(?! Did)/g, hintOutputs],
  [/no argument, nested block, or exported attribute named "([\w-]+)"\.(?! Did)/g, hintAttribute],
  [/An argument named "([\w-]+)" is not expected here\.(?! Did)/g, hintArgument],
  [/Blocks of type "([\w-]+)" are not expected here\.(?! Did)/g, hintArgument],
  [/The argument "([\w-]+)" is required, but no definition was found/g, hintRequired],
  [/(input variable) with the name "([\w-]+)" has not been declared\.( Did)?/g, hintDeclared],
  [/(local value) with the name "([\w-]+)" has not been declared\.( Did)?/g, hintDeclared],
  [/No (module) call named "([\w-]+)" is declared/g, hintDeclared],
  [/An? (managed|data|ephemeral) resource "([\w-]+)" "([\w-]+)" has not been declared/g, hintResource],
  [/\b(?:provider|installing) (?:[\w.-]+\/)?[\w.-]+\/[\w-]+/g, hintProvider],
  [/does not support (resource type|data source|ephemeral resource(?: type)?) "([\w-]+)"\.(?! Did)/g, hintType],
]

/**
 * Returns one or two lines about existing outputs, arguments, types and declared names where the code uses an unknown
 * one. Empty where the engine has already named them, and where nothing is known. Errors: those of the surroundings.
 */
export async function hintFor(diagnostic: Diagnostic, at: Surroundings): Promise<string> {
  const hints = new Set<string>()
  for (const [pattern, hint] of HINTS)
    for (const match of diagnostic.detail.replaceAll(/\s+/g, ' ').matchAll(pattern)) {
      if (hints.size === MAX_HINTS) break
      const text = await hint(match, diagnostic, at)
      if (text !== '') hints.add(`Hint: ${text}`)
    }
  return [...hints].join('\n')
}

/** Lists as many names as fit, similar ones first. */
function describeAll(what: string, name: string, existing: readonly string[]): string {
  if (existing.length === 0) return `there are no ${what}.`
  const ordered = [...new Set([...nearest(name, existing), ...existing])]
  return `${what}: ${joinNames(ordered, MAX_NAMES)}.`
}

/** Lists the similar names, or as many of all names as fit. */
function describeNearest(what: string, name: string, existing: readonly string[]): string {
  const near = nearest(name, existing)
  return near.length > 0 ? `nearest ${what}: ${near.join(', ')}.` : describeAll(what, name, existing)
}

/** Returns at most five names that differ in few letters, then those that share words. */
function nearest(name: string, existing: readonly string[]): string[] {
  const limit = Math.max(1, Math.floor(name.length / 3))
  const alike = existing
    .map((other) => ({ other, distance: distanceWithin(name, other, limit) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
    .map(({ other }) => other)
  return [...new Set([...alike, ...nearNames(name, existing)])].slice(0, 5)
}

/** The declarations in one folder (one module), named like references: `aws_vpc.main`. */
export interface Declarations {
  variables: string[]
  locals: string[]
  outputs: string[]
  /** Addresses of resources; `data.` or `ephemeral.` precedes those that are only read. */
  resources: string[]
  /** Sources of called modules by name; null where the source is not a literal. */
  modules: Map<string, string | null>
}

/** Reads declarations for hints, tolerating code that the engine could not parse. */
export function readDeclarations(texts: readonly string[]): Declarations {
  const found: Declarations = { variables: [], locals: [], outputs: [], resources: [], modules: new Map() }
  for (const { type, labels, body } of texts.flatMap((text) => readHcl(text).body.blocks)) {
    const [first, second] = labels
    if (type === 'locals') found.locals.push(...body.attributes.map(({ name }) => name))
    if (first === undefined) continue
    if (type === 'variable') found.variables.push(first)
    if (type === 'output') found.outputs.push(first)
    if (type === 'module') found.modules.set(first, textOf(body, 'source'))
    if (second === undefined) continue
    if (type === 'resource') found.resources.push(`${first}.${second}`)
    if (type === 'data' || type === 'ephemeral') found.resources.push(`${type}.${first}.${second}`)
  }
  return found
}

/**
 * Returns the nested blocks around a name, without the outermost; `dynamic` blocks count as the blocks they produce.
 * Null when the name is in an expression or outside every block.
 * @param line of the name, from 1
 */
export function blockPathAt(text: string, line: number, name: string): string[] | null {
  const lines = text.split('\n')
  const before = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0)
  const at = before + Math.max(0, (lines[line - 1] ?? '').search(new RegExp(`\\b${name}\\b`)))
  const path: HclBlock[] = []
  for (let body: HclBody | undefined = readHcl(text).body; body; body = path.at(-1)?.body) {
    if (body.attributes.some(({ valueStart, end }) => valueStart <= at && at < end)) return null
    const block: HclBlock | undefined = body.blocks.find(({ bodyStart, bodyEnd }) => bodyStart <= at && at < bodyEnd)
    if (block === undefined) break
    path.push(block)
  }
  if (path.length === 0) return null
  const names = path.slice(1).map(({ type, labels: [label = ''] }) => (type === 'dynamic' ? label : type))
  return names.filter((each, index) => each !== 'content' || path[index]?.type !== 'dynamic')
}
