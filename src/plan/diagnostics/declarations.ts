import { readHcl, textOf } from '../../hcl/read.ts'
import type { HclBlock, HclBody } from '../../hcl/tree.ts'

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
