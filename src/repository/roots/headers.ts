import { isJsonObject, itemsOf, type Json, memberOf, parseJson } from '../../base/json.ts'
import { parseHcl } from '../../hcl/parser.ts'
import { attributeOf, textOf } from '../../hcl/read.ts'
import type { HclBlock, HclBody } from '../../hcl/tree.ts'

/** Facts from the headers of a file's blocks. */
export interface Headers {
  /** Those of `BLOCKS` that it has. */
  types: Set<BlockType>
  /** True with a `backend` or `cloud` block. */
  hasBackend: boolean
  /** Sources of the modules that the file calls; an expression is kept as it is written. */
  sources: string[]
  /** Sources of providers by the names that the file has for them; null where it states none. */
  providers: Map<string, string | null>
}

/** Syntax of a file; `cdktf` is the settings file of a CDKTF app. */
export type FileForm = 'native' | 'json' | 'cdktf'

/** Types of top-level blocks that tell a root from a module. */
const BLOCKS = ['resource', 'data', 'module', 'ephemeral', 'provider', 'variable'] as const
export type BlockType = (typeof BLOCKS)[number]

/** More than written files have; the time to read as many tokens is a few slices at most. */
const MAX_TOKENS = 50_000

/** Blocks that call the module of their `source`: of configurations, tests, stacks and Terragrunt. */
const CALLS: ReadonlySet<string> = new Set(['module', 'component', 'stack', 'unit', 'run', 'terraform'])

/** Reads the block headers of a file in either syntax. Never throws; null for a text that is too long to be read. */
export function readHeaders(form: FileForm, text: string): Headers | null {
  const headers: Headers = { types: new Set(), hasBackend: false, sources: [], providers: new Map() }
  if (form !== 'native') return readJson(headers, form, text)
  const { body, tokens } = parseHcl(text, { maxTokens: MAX_TOKENS })
  for (const block of body.blocks) {
    addType(headers, block.type)
    addProviders(headers, block, text)
    if (block.type === 'terraform') headers.hasBackend ||= block.body.blocks.some(isBackend)
    if (!CALLS.has(block.type)) continue
    addSource(headers, block.body, text)
    // A test calls the module of a block within its `run`.
    for (const { type, body } of block.body.blocks) if (type === 'module') addSource(headers, body, text)
  }
  return tokens > MAX_TOKENS ? null : headers
}

function addType({ types }: Headers, type: string): void {
  const known = BLOCKS.find((one) => one === type)
  if (known) types.add(known)
}

/** Blocks whose type begins with the name of its provider, unless an argument names another one. */
const TYPED: ReadonlySet<string> = new Set(['resource', 'data', 'ephemeral'])

/** Adds the providers of a top-level block. */
function addProviders(headers: Headers, { type, labels: [label = ''], body }: HclBlock, text: string): void {
  if (type === 'provider') addProvider(headers, label)
  if (TYPED.has(type)) {
    const named = attributeOf(body, 'provider')
    addProvider(headers, (named && text.slice(named.valueStart, named.end)) ?? label.split('_', 1)[0])
  }
  for (const required of type === 'terraform' ? body.blocks : [])
    for (const { name, value } of required.type === 'required_providers' ? required.body.attributes : []) {
      const source = value.kind === 'object' ? value.entries.find(({ key }) => key === 'source')?.value : undefined
      addProvider(headers, name, source?.kind === 'string' ? source.value : null)
    }
}

/** The registry's address of a module, which names the provider that it is for. */
const REGISTRY = /^(?:[\w.-]+\.[a-z]+\/)?[\w-]+\/[\w-]+\/([a-z0-9-]+)(?:\/\/.*)?$/

/** Returns the provider in a registry's address of a module; null for any other source. */
export const providerOfModule = (source: string): string | null => REGISTRY.exec(source)?.[1] ?? null

/**
 * A name, perhaps with the alias of one of its configurations, and the parts of a source. Source: the engine's syntax.
 */
const PROVIDER = /^["\s]*([a-z0-9][\w-]{0,63})(?:\.[\w-]+)?["\s]*$/i
const SOURCE = /^[\w.-]{1,128}(?:\/[\w.-]{1,128}){0,2}(?::\d+)?$/

function addProvider({ providers }: Headers, written = '', source: string | null = null): void {
  const [, name] = PROVIDER.exec(written) ?? []
  // The engine's own types need no provider.
  if (name === undefined || name === 'terraform') return
  providers.set(name, source !== null && SOURCE.test(source) ? source : (providers.get(name) ?? null))
}

const isBackend = ({ type }: HclBlock): boolean => type === 'backend' || type === 'cloud'

function addSource(headers: Headers, body: HclBody, text: string): void {
  const attribute = attributeOf(body, 'source')
  if (attribute) keepSource(headers, textOf(body, 'source') ?? text.slice(attribute.valueStart, attribute.end))
}

function keepSource(headers: Headers, source: string): void {
  headers.sources.push(source)
  addProvider(headers, providerOfModule(source) ?? undefined)
}

function readJson(headers: Headers, form: FileForm, text: string): Headers {
  const root = parseJson(text)
  if (form === 'cdktf') {
    // A module of a CDKTF app is an object with a source, or the source itself.
    for (const module of itemsOf(memberOf(root, 'terraformModules')))
      addJsonSource(headers, isJsonObject(module) ? module : { source: module })
    return headers
  }
  for (const part of listOf(root)) {
    for (const [type, value] of Object.entries(isJsonObject(part) ? part : {})) {
      addType(headers, type)
      for (const body of listOf(value)) {
        addJsonProviders(headers, type, body)
        if (type === 'terraform')
          headers.hasBackend ||= isJsonObject(body) && (Object.hasOwn(body, 'backend') || Object.hasOwn(body, 'cloud'))
        if (type === 'terraform') addJsonSource(headers, body)
        else if (CALLS.has(type)) addJsonSources(headers, body)
      }
    }
  }
  return headers
}

/** Adds the providers of a block, whose labels are keys of its value. */
function addJsonProviders(headers: Headers, type: string, body: Json): void {
  if (type === 'provider') for (const name of keysOf(body)) addProvider(headers, name)
  for (const label of TYPED.has(type) ? keysOf(body) : [])
    for (const block of listOf(memberOf(body, label)).flatMap((one) => (isJsonObject(one) ? Object.values(one) : [])))
      for (const { provider } of listOf(block).filter(isJsonObject))
        addProvider(headers, typeof provider === 'string' ? provider : label.split('_', 1)[0])
  for (const required of type === 'terraform' ? listOf(memberOf(body, 'required_providers')) : [])
    for (const name of keysOf(required)) {
      const source = memberOf(memberOf(required, name), 'source')
      addProvider(headers, name, typeof source === 'string' ? source : null)
    }
}

const keysOf = (value: Json): string[] => (isJsonObject(value) ? Object.keys(value) : [])

/** Adds the sources of a block, whose labels are keys of its value. */
function addJsonSources(headers: Headers, block: Json): void {
  for (const body of isJsonObject(block) ? Object.values(block).flatMap(listOf) : []) {
    addJsonSource(headers, body)
    for (const module of listOf(memberOf(body, 'module'))) addJsonSource(headers, module)
  }
}

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : value === undefined ? [] : [value])

function addJsonSource(headers: Headers, body: Json): void {
  const source = memberOf(body, 'source')
  if (typeof source === 'string') keepSource(headers, source)
}
