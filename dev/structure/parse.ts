import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import {
  type FunctionLikeDeclaration,
  isExportDeclaration,
  isFunctionLikeDeclaration,
  isImportDeclaration,
  isLiteralTypeNode,
  isPropertyAssignment,
  isStringLiteralLikeNode,
  isVariableDeclaration,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/sync'

/** One place of a file that names another module. */
export interface Import {
  /** As written: `../plan/types.ts`, `node:fs`, `valibot`. */
  specifier: string
  /** Path from the root of the repository for a relative specifier; null for packages and `node:`. */
  target: string | null
  /** Counted from 1. */
  line: number
  /**
   * `value` when the module is loaded at run time. `import { type A } from` counts as `value` too: it leaves
   * `import {} from` behind when types are stripped, and that loads the module.
   */
  kind: 'value' | 'type'
}

export interface FunctionSize {
  name: string
  /** Counted from 1. */
  line: number
  /** From the first line of its head to its closing brace, inner functions included. */
  lines: number
}

export interface ParsedFile {
  /** From the root of the repository, with `/`. */
  path: string
  lines: number
  /** Lengths in UTF-16 code units, as editors count columns; `line` is counted from 1. */
  longLines: { line: number; columns: number }[]
  imports: Import[]
  functions: FunctionSize[]
}

export const MAX_COLUMNS = 120

/** Only the syntax is asked for: neither imports nor the standard library are read. */
const SYNTAX_ONLY = { noResolve: true, noLib: true, types: [], module: 'nodenext', target: 'es2024', noEmit: true }

/**
 * Reads the files with TypeScript's own parser.
 *
 * @param paths from `root`, with `/`
 * @param withFunctions whether the functions of a file are measured; to walk through a whole file takes longer than
 *   to read its imports
 */
export async function parseFiles(
  root: string,
  paths: readonly string[],
  withFunctions: (path: string) => boolean,
): Promise<ParsedFile[]> {
  // The parser asks for a project on disk. Files handed over by callbacks would take twice as long.
  const folder = await mkdtemp(join(tmpdir(), 'structure-'))
  const project = join(folder, 'tsconfig.json')
  const options = { ...SYNTAX_ONLY, allowImportingTsExtensions: true, resolveJsonModule: true }
  await writeFile(project, JSON.stringify({ compilerOptions: options, files: paths.map((path) => join(root, path)) }))
  const api = new API({ cwd: root })
  try {
    const program = api.updateSnapshot({ openProjects: [project] }).getProject(project)?.program
    return paths.map((path) => {
      const source = program?.getSourceFile(join(root, path))
      if (!source) throw new Error(`TypeScript could not read ${path}.`)
      return readFile(path, source, withFunctions(path))
    })
  } finally {
    api.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function readFile(path: string, source: SourceFile, withFunctions: boolean): ParsedFile {
  const lines = source.text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return {
    path,
    lines: lines.length,
    longLines: lines.flatMap(({ length }, index) =>
      length > MAX_COLUMNS ? [{ line: index + 1, columns: length }] : [],
    ),
    imports: source.imports.map((specifier) => readImport(path, source, specifier)),
    functions: withFunctions ? readFunctions(source) : [],
  }
}

function readImport(path: string, source: SourceFile, node: Node): Import {
  const specifier = isStringLiteralLikeNode(node) ? node.text : node.getText(source).slice(1, -1)
  return {
    specifier,
    target: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : null,
    line: lineOf(source, node),
    kind: isTypeOnly(node.parent) ? 'type' : 'value',
  }
}

/** `parent` is the statement, the call or the type that holds the specifier. */
function isTypeOnly(parent: Node): boolean {
  if (isImportDeclaration(parent)) return parent.importClause?.phaseModifier === SyntaxKind.TypeKeyword
  if (isExportDeclaration(parent)) return parent.isTypeOnly
  return isLiteralTypeNode(parent)
}

function readFunctions(source: SourceFile): FunctionSize[] {
  const functions: FunctionSize[] = []
  const visit = (node: Node): void => {
    if (isFunctionLikeDeclaration(node) && 'body' in node && node.body) functions.push(measure(source, node))
    node.forEachChild(visit)
  }
  visit(source)
  return functions
}

function measure(source: SourceFile, node: FunctionLikeDeclaration): FunctionSize {
  const line = lineOf(source, node)
  const last = source.getLineAndCharacterOfPosition(node.getEnd()).line + 1
  return { name: nameOf(source, node), line, lines: last - line + 1 }
}

function nameOf(source: SourceFile, node: FunctionLikeDeclaration): string {
  if ('name' in node && node.name) return node.name.getText(source)
  const { parent } = node
  if (isVariableDeclaration(parent) || isPropertyAssignment(parent)) return parent.name.getText(source)
  return 'a function without a name'
}

const lineOf = (source: SourceFile, node: Node): number =>
  source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
