import { blameOf } from '../../../src/plan/diagnostics/blame.ts'
import {
  type Diagnostic,
  markOlder,
  orderDiagnostics,
  renderDiagnostics,
} from '../../../src/plan/diagnostics/diagnostic.ts'
import { type Declarations, hintFor, readDeclarations, type Surroundings } from '../../../src/plan/diagnostics/hints.ts'
import { fromEngine, parseDiagnostics } from '../../../src/plan/diagnostics/parse.ts'
import { explainUnmendable } from '../../../src/plan/diagnostics/unmendable.ts'
import { type Block, keyOf, readBlock, type TypeName } from '../../../src/plan/schema/read-schema.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import type { FileAccess } from '../../workspace/files/access.ts'
import { isHidden } from '../../workspace/files/engine-files.ts'
import { readCode } from './changed-code.ts'
import { readProviders } from './generator-dialogue.ts'

const NOT_DESCRIBED = 'an engine failure could not be described'

export type EngineStep = 'init' | 'validate' | 'plan' | 'show'
interface EngineFailure {
  step: EngineStep
  feedback: string
  /** Those of a plan. */
  targets: string[]
}

/** Explains, masked, why no code change can correct the failure; null when one might, or when it is unclassified. */
export async function explainFaultOutsideCode(kit: Kit, diagnostics: readonly Diagnostic[]): Promise<string | null> {
  const { run, secrets } = kit
  const { provider: cloud } = run.round.session
  return await withFallback(run, 'an engine failure could not be classified', null, async () => {
    if (explainUnmendable(diagnostics, { blame: blameOf([], []), cloud }) === null) return null
    const [versions, files] = await Promise.all([run.workspace.versions(), readCode(kit)])
    const text = explainUnmendable(diagnostics, { blame: blameOf(versions, files), cloud })
    return text === null ? null : secrets.text(text.replaceAll(run.workspace.iacRoot, '.'))
  })
}

/**
 * Lists the errors of the engine with their code, causes first, unmasked; empty for output of unknown form. Warnings
 * are dropped, since none makes code invalid and some concern files of the platform. What the code had before the
 * session is marked as older.
 */
export async function findErrors(kit: Kit, step: EngineStep, found: readonly Diagnostic[]): Promise<Diagnostic[]> {
  const { run } = kit
  return await withFallback(run, NOT_DESCRIBED, [], async () => {
    const root = `${run.workspace.iacRoot}/`
    const errors = found.filter(({ severity }) => severity === 'error')
    const before = errors.length === 0 ? [] : await kit.base.findErrors(step)
    const diagnostics = orderDiagnostics(
      markOlder(
        errors.map((one) => makeRelative(one, root)),
        before,
      ),
    )
    const files = kit.openFiles()
    return await Promise.all(diagnostics.map((one) => addSnippet(kit, files, one)))
  })
}

/** Formats the errors for the generator, with hints and masked; empty when there are none. */
export async function describeErrors(kit: Kit, errors: readonly Diagnostic[]): Promise<string> {
  const { run, secrets } = kit
  return await withFallback(run, NOT_DESCRIBED, '', async () => {
    const files = kit.openFiles()
    const text = renderDiagnostics(await addHints(kit, files, [...errors])).replaceAll(run.workspace.iacRoot, '.')
    return secrets.text(text)
  })
}

const FRAMED_WARNING = /^╷\n│ Warning: .*\n(?:│.*\n)*╵\n?/gm

/** Removes warnings from engine output; output without errors stays as it is. */
export function withoutWarnings(output: string): string {
  const rest = output.replaceAll(FRAMED_WARNING, '')
  return rest.trim() === '' ? output : rest
}

/**
 * Reads the diagnostics of a failure, unmasked: as data where the iac service offers them and that takes another job
 * which is worth it, otherwise from the text. Several headings in the text of a plan may be one message with a quoted
 * one, which only the data tell apart.
 * @param isRepeated false for a failure after which no attempt comes
 */
export async function readDiagnostics(
  { run, engine }: Kit,
  { step, feedback, targets }: EngineFailure,
  { isRepeated }: { isRepeated: boolean },
): Promise<Diagnostic[]> {
  const text = parseDiagnostics(feedback)
  const plan = { ...engine.scoped, plan_file: run.context.config.paths.session_plan_filename, targets }
  const data = await withFallback(run, NOT_DESCRIBED, [], async () => {
    if (step === 'validate' && isRepeated) return await engine.diagnostics()
    return step === 'plan' && text.length > 1 ? await engine.diagnosePlan(plan) : []
  })
  const entries = fromEngine(data ?? [])
  return entries.some(({ severity }) => severity === 'error') ? entries : text
}

const makeRelative = (one: Diagnostic, root: string): Diagnostic => ({
  ...one,
  file: one.file?.startsWith(root) ? one.file.slice(root.length) : one.file,
})

/** Lines of code quoted before and after the line of a diagnostic. */
const LINES_AROUND = 2
const MAX_LINE_CHARS = 200

/** Adds the code around a diagnostic, masked before it is cut. The snippet of a hidden file is emptied. */
async function addSnippet({ run, secrets }: Kit, files: FileAccess, one: Diagnostic): Promise<Diagnostic> {
  if (one.file === null) return one
  if (one.file.split('/').some((segment) => isHidden(run.context.config.paths, segment))) return { ...one, snippet: '' }
  const { line } = one
  if (line === null) return one
  const text = await files.read(one.file).catch(() => null)
  if (text === null) return one
  const lines = text.split('\n')
  const first = Math.max(1, line - LINES_AROUND)
  const quoted = lines.slice(first - 1, line + LINES_AROUND).map((content, index) => {
    const number = first + index
    return `${number === line ? '>' : ' '}${String(number).padStart(4)}: ${secrets.text(content).slice(0, MAX_LINE_CHARS)}`
  })
  return line > lines.length ? one : { ...one, snippet: quoted.join('\n').trimEnd() }
}

/** Maximum number of diagnostics that a model is shown. */
const MAX_HINTED = 12
/** Maximum code files of a folder that are read for declarations. */
const MAX_FILES = 100

/** Adds what code knows about the names in errors below the engine's text. Errors without such facts get no hint. */
async function addHints(kit: Kit, files: FileAccess, diagnostics: readonly Diagnostic[]): Promise<Diagnostic[]> {
  const { run, engine } = kit
  const folders = new Map<string, Promise<Declarations>>()
  const blocks = new Map<string, Promise<Block | null>>()
  const declaredAt = (folder: string) => once(folders, folder, () => readFolder(files, folder))
  const blockOf = async (type: TypeName) => readBlock((await engine.schema.of([type]))?.[0]?.schema)
  const surroundingsOf = async (file: string | null): Promise<Surroundings> => {
    const folder = folderOf(file ?? '')
    const declared = () => declaredAt(folder)
    return {
      text: file === null ? null : await files.read(file).catch(() => null),
      declared,
      declaredIn: async (module) => {
        const source = (await declared()).modules.get(module)
        return source != null && /^\.\.?\//.test(source) ? await declaredAt(`${folder}/${source}`) : null
      },
      types: () => engine.schema.names(),
      block: (type) => once(blocks, keyOf(type), () => blockOf(type)),
      providers: async () => (engine.hasInstalled ? await readProviders(kit) : null),
    }
  }
  return await Promise.all(
    diagnostics.map(async (one, index) => {
      if (one.severity !== 'error' || index >= MAX_HINTED) return one
      try {
        const hint = await hintFor(one, await surroundingsOf(one.file))
        return hint === '' ? one : { ...one, hint }
      } catch (error) {
        run.signal.throwIfAborted()
        run.log.info('an error of the engine got no hint', { error })
        return one
      }
    }),
  )
}

function once<Value>(known: Map<string, Promise<Value>>, key: string, read: () => Promise<Value>): Promise<Value> {
  const value = known.get(key) ?? read()
  known.set(key, value)
  return value
}

const folderOf = (file: string) => file.slice(0, Math.max(0, file.lastIndexOf('/'))) || '.'

/** @param folder relative to the engine root; refused if `..` leads out of it */
async function readFolder(files: FileAccess, folder: string): Promise<Declarations> {
  const names = (await files.list(folder)).filter((name) => /\.(?:tf|tofu)$/.test(name))
  return readDeclarations(await Promise.all(names.slice(0, MAX_FILES).map((name) => files.read(name))))
}

/** True if two texts list the same findings, in any order and at any line, since a change moves lines. */
export const areSameFindings = (a: string, b: string): boolean => formOf(a) === formOf(b)

/** Returns the lines of findings in a form that stays the same when lines move. */
export const formOf = (findings: string): string =>
  findings
    .split('\n')
    .map((line) =>
      line
        .replace(/^[>\s]*\d+[.:]\s/, '')
        .replaceAll(/(\.\w+):\d+\b/g, '$1')
        .replaceAll(/\bline \d+\b/g, 'line')
        .trim(),
    )
    .filter((line) => line !== '')
    .sort()
    .join('\n')

/** Tells how many of the errors the code had before the session. */
export const areOlder = (errors: readonly Diagnostic[]): 'all' | 'some' | 'none' => {
  const older = errors.filter((one) => one.older).length
  if (older === 0) return 'none'
  return older === errors.length ? 'all' : 'some'
}

const MAX_ERRORS = 5

/** Says why nothing was planned, in sentences of code, and then what the author of the code says about it. */
export function describeUnchanged(errors: readonly Diagnostic[], words: string): string {
  // Errors without a place are about those with one, as when init says that the configuration has problems.
  const placed = errors.filter(({ file }) => file !== null)
  const named = placed.length > 0 ? placed : errors
  const places = named.slice(0, MAX_ERRORS).map(({ summary, file, line }) => {
    const place = file === null ? '' : `${file}${line === null ? '' : `:${line}`}: `
    return `${place}${summary.replace(/[.:]+$/, '')}`
  })
  const more = named.length > MAX_ERRORS ? [`and ${named.length - MAX_ERRORS} more`] : []
  const list = places.length === 0 ? '' : ` (${[...places, ...more].join('; ')})`
  const age = areOlder(errors)
  const origin = {
    all: 'errors that the code had before this session',
    some: 'errors, some of which the code had before this session',
    none: 'errors',
  }
  return `Nothing was planned: the engine does not accept the code because of ${origin[age]}${list}, and the last attempt changed nothing. ${words}`.trim()
}
