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
  const headers: Headers = { types: new Set(), hasBackend: false, sources: [] }
  if (form !== 'native') return readJson(headers, form, text)
  const { body, tokens } = parseHcl(text, { maxTokens: MAX_TOKENS })
  for (const block of body.blocks) {
    addType(headers, block.type)
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

const isBackend = ({ type }: HclBlock): boolean => type === 'backend' || type === 'cloud'

function addSource({ sources }: Headers, body: HclBody, text: string): void {
  const attribute = attributeOf(body, 'source')
  if (attribute) sources.push(textOf(body, 'source') ?? text.slice(attribute.valueStart, attribute.end))
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
        if (type === 'terraform')
          headers.hasBackend ||= isJsonObject(body) && (Object.hasOwn(body, 'backend') || Object.hasOwn(body, 'cloud'))
        if (type === 'terraform') addJsonSource(headers, body)
        else if (CALLS.has(type)) addJsonSources(headers, body)
      }
    }
  }
  return headers
}

/** Adds the sources of a block, whose labels are keys of its value. */
function addJsonSources(headers: Headers, block: Json): void {
  for (const body of isJsonObject(block) ? Object.values(block).flatMap(listOf) : []) {
    addJsonSource(headers, body)
    for (const module of listOf(memberOf(body, 'module'))) addJsonSource(headers, module)
  }
}

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : value === undefined ? [] : [value])

function addJsonSource({ sources }: Headers, body: Json): void {
  const source = memberOf(body, 'source')
  if (typeof source === 'string') sources.push(source)
}
