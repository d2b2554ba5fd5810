import { posix } from 'node:path'
import { type ESTree, parseSync, Visitor } from 'rolldown/utils'

/** One place of a file that names another file or a module of Node. */
interface Import {
  /** The path from the root, or `node:fs`. */
  target: string
  /** 1-based. */
  line: number
}

/**
 * Reads all references of a file to others: imports and exports, of types too, and `import(…)`. Packages are left out.
 * Errors: the file is not valid TypeScript.
 * @param path from the root, with `/`
 */
export function readImports(path: string, text: string): Import[] {
  const { program, errors } = parseSync(path, text)
  if (errors[0]) throw new Error(`${path}: ${errors[0].message}`)
  const imports: Import[] = []
  const add = ({ source }: { source: ESTree.Expression | null }) => {
    const specifier = source ? textOf(source) : ''
    if (!source || !/^(\.|node:)/.test(specifier)) return
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier
    imports.push({ target, line: text.slice(0, source.start).split('\n').length })
  }
  new Visitor({
    ImportDeclaration: add,
    ExportNamedDeclaration: add,
    ExportAllDeclaration: add,
    ImportExpression: add,
    TSImportType: add,
  }).visit(program)
  return imports
}

/** Returns the text of a literal, or of a template without variables; empty for anything else. */
function textOf(source: ESTree.Expression): string {
  if (source.type === 'Literal' && typeof source.value === 'string') return source.value
  return source.type === 'TemplateLiteral' && source.quasis.length === 1 ? (source.quasis[0]?.value.cooked ?? '') : ''
}

/**
 * Finds a cycle in a graph: its nodes in order, the first one repeated at the end; null if there is none.
 * @param graph the successors of each node
 */
export function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] | null {
  const left = new Map(graph)
  const next = (node: string) => left.get(node)?.find((target) => left.has(target))
  // A node without successors is on no cycle. Without it, others may have none either.
  for (let size = -1; size !== left.size; ) {
    size = left.size
    for (const node of left.keys()) if (next(node) === undefined) left.delete(node)
  }
  const [first] = left.keys()
  if (first === undefined) return null
  const path = [first]
  while (true) {
    const node = next(path.at(-1) ?? first) ?? first
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    path.push(node)
  }
}
