import { writeFile } from 'node:fs/promises'
import { dirname, join, posix, relative, sep } from 'node:path'
import { isExportDeclaration, isImportDeclaration, isStringLiteral, SyntaxKind } from 'typescript/unstable/ast'
import { API, DiagnosticCategory, NodeBuilderFlags, type Snapshot } from 'typescript/unstable/sync'
import { applyTo, type Mutant, mutantsOf } from './mutants.ts'

/** A compiled copy of the project in which files are changed and changed back. */
export interface Project {
  /** Its own TypeScript files, from its root, with `/`. */
  files: readonly string[]
  mutantsOf(file: string): Mutant[]
  /** Files that load this one when they run, by the number of imports in between; the file itself has 0. */
  importersOf(file: string): Map<string, number>
  /** Whether the compiler accepts the project with this mutant. */
  accepts(mutant: Mutant): Promise<boolean>
  /** Writes the mutant into the file. */
  apply(mutant: Mutant): Promise<void>
  /** Writes the file as it was. */
  undo(mutant: Mutant): Promise<void>
  close(): void
}

/** Names that are no longer used are a matter of style: a mutant may well leave some behind. */
const UNUSED = new Set([6133, 6138, 6192, 6196, 6198, 6199, 6205])

/**
 * Opens the project with TypeScript's own server, which checks a mutant in a fraction of the time of a new process.
 * Errors: one that names what the compiler says, when it does not accept the project as it is.
 */
export function openProject(root: string): Project {
  const api = new API({ cwd: root })
  const config = join(root, 'tsconfig.json')
  let snapshot: Snapshot = api.updateSnapshot({ openProjects: [config] })
  const project = () => {
    const opened = snapshot.getProject(config)
    if (!opened) throw new Error(`${config} could not be opened.`)
    return opened
  }
  const program = () => project().program
  const sourceOf = (file: string) => {
    const source = program().getSourceFile(join(root, file))
    if (!source) throw new Error(`${file} is no file of the project.`)
    return source
  }
  /** The first thing that the compiler does not accept, in one file or in all. */
  const complaint = (file?: string): string | null => {
    const path = file === undefined ? undefined : join(root, file)
    const found = [...program().getSyntacticDiagnostics(path), ...program().getSemanticDiagnostics(path)]
    const wrong = found.find(({ code, category }) => category === DiagnosticCategory.Error && !UNUSED.has(code))
    return wrong ? `${wrong.fileName ?? ''}: ${wrong.text}` : null
  }
  /** Types of what the file exports: as long as they stay as they are, no other file can become wrong. */
  const surfaceOf = (file: string): string => {
    const { checker } = project()
    const module = checker.getSymbolAtLocation(sourceOf(file))
    const exported = module ? checker.getExportsOfModule(module) : []
    return exported
      .map((symbol) => {
        const type = checker.getTypeOfSymbol(symbol)
        return `${symbol.name}: ${type ? checker.typeToString(type, undefined, NodeBuilderFlags.NoTruncation) : ''}`
      })
      .join('\n')
  }
  const update = async (file: string, text: string): Promise<void> => {
    await writeFile(join(root, file), text)
    const earlier = snapshot
    snapshot = api.updateSnapshot({ fileChanges: { changed: [join(root, file)] } })
    earlier.dispose()
  }

  const fault = complaint()
  if (fault !== null) {
    api.close()
    throw new Error(`The compiler does not accept the project as it is: ${fault}`)
  }
  const files = ownFiles(root, program().getSourceFileNames())
  const texts = new Map(files.map((file) => [file, sourceOf(file).text]))
  const importers = new Map<string, string[]>()
  for (const file of files)
    for (const imported of importsOf(file, sourceOf(file)))
      importers.set(imported, [...(importers.get(imported) ?? []), file])

  return {
    files,
    mutantsOf: (file) => mutantsOf(file, sourceOf(file)),
    importersOf: (file) => distances(file, importers),
    async accepts(mutant) {
      const { file } = mutant
      const text = texts.get(file) ?? ''
      const before = surfaceOf(file)
      await update(file, applyTo(text, mutant))
      const accepted = complaint(file) === null && (surfaceOf(file) === before || complaint() === null)
      await update(file, text)
      return accepted
    },
    apply: (mutant) => writeFile(join(root, mutant.file), applyTo(texts.get(mutant.file) ?? '', mutant)),
    undo: ({ file }) => writeFile(join(root, file), texts.get(file) ?? ''),
    close: () => api.close(),
  }
}

const ownFiles = (root: string, names: readonly string[]): string[] =>
  names
    .map((name) => relative(root, name).split(sep).join('/'))
    .filter((file) => !file.startsWith('..') && !file.includes('node_modules/') && !file.endsWith('.d.ts'))
    .sort()

type Source = Parameters<typeof mutantsOf>[1]

/** What the file loads when it runs: imports of types alone are left out. */
function importsOf(file: string, source: Source): string[] {
  return source.imports.flatMap((specifier) => {
    if (!isStringLiteral(specifier) || !specifier.text.startsWith('.')) return []
    const { parent } = specifier
    if (isImportDeclaration(parent) && parent.importClause?.phaseModifier === SyntaxKind.TypeKeyword) return []
    if (isExportDeclaration(parent) && parent.isTypeOnly) return []
    return [posix.join(dirname(file), specifier.text)]
  })
}

function distances(file: string, importers: ReadonlyMap<string, string[]>): Map<string, number> {
  const reached = new Map([[file, 0]])
  for (const [current, distance] of reached)
    for (const importer of importers.get(current) ?? []) if (!reached.has(importer)) reached.set(importer, distance + 1)
  return reached
}
