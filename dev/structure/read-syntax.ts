import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import {
  type FunctionLikeDeclaration,
  isConstructorDeclaration,
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
import { type FunctionSize, type Import, MAX_COLUMNS, type ParsedFile, type ParseRequest } from './parse.ts'

/** Only the syntax is asked for: neither imports nor the standard library are read. */
const SYNTAX_ONLY = { noResolve: true, noLib: true, types: [], module: 'nodenext', target: 'es2024', noEmit: true }

/** Reads the files with TypeScript's own parser. Errors: a file cannot be read. */
export async function readSyntax({ root, paths, measured }: ParseRequest): Promise<ParsedFile[]> {
  // The parser asks for a project on disk. Files handed over by callbacks would take twice as long.
  const folder = await mkdtemp(join(tmpdir(), 'structure-'))
  const project = join(folder, 'tsconfig.json')
  const options = { ...SYNTAX_ONLY, jsx: 'preserve', allowImportingTsExtensions: true, resolveJsonModule: true }
  await writeFile(project, JSON.stringify({ compilerOptions: options, files: paths.map((path) => join(root, path)) }))
  const withFunctions = new Set(measured)
  const api = new API({ cwd: root })
  try {
    const program = api.updateSnapshot({ openProjects: [project] }).getProject(project)?.program
    return paths.map((path) => {
      const source = program?.getSourceFile(join(root, path))
      if (!source) throw new Error(`TypeScript could not read ${path}.`)
      return readFile(path, source, withFunctions.has(path))
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
  if (isConstructorDeclaration(node)) return 'constructor'
  const { parent } = node
  if (isVariableDeclaration(parent) || isPropertyAssignment(parent)) return parent.name.getText(source)
  return 'a function without a name'
}

const lineOf = (source: SourceFile, node: Node): number =>
  source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
