import { type Diagnostic, orderDiagnostics, renderDiagnostics } from '../../../src/plan/diagnostics/diagnostic.ts'
import { fromEngine, parseDiagnostics } from '../../../src/plan/diagnostics/parse.ts'
import { blameOf, explainUnmendable } from '../../../src/plan/diagnostics/unmendable.ts'
import type { Kit } from '../../kit/kit.ts'
import { createFileAccess, type FileAccess } from '../../workspace/files/access.ts'
import { isHidden } from '../../workspace/files/engine-files.ts'
import { addHints } from './hints.ts'

/** A command of the engine that failed. */
export type EngineStep = 'init' | 'validate' | 'plan' | 'show'
export interface EngineFailure {
  step: EngineStep
  /** The output of the engine. */
  feedback: string
}

/**
 * Says why no change of the code can correct the failure, masked; null when a change might, or when the failure cannot
 * be classified.
 */
export async function explainFaultOutsideCode(kit: Kit, feedback: string): Promise<string | null> {
  const { run, secrets } = kit
  const { provider: cloud } = run.round.session
  try {
    const diagnostics = parseDiagnostics(feedback)
    const reasonWithoutDiff = explainUnmendable(diagnostics, { blame: blameOf(''), cloud })
    if (reasonWithoutDiff === null) return null
    const text = explainUnmendable(diagnostics, { blame: blameOf(await run.workspace.branchDiff()), cloud })
    return text === null ? null : secrets.text(text.replaceAll(run.workspace.iacRoot, '.'))
  } catch (error) {
    run.signal.throwIfAborted()
    run.log.warn('an engine failure could not be classified', { error })
    return null
  }
}

/**
 * Lists the errors that the engine found, causes first, each with the code that it concerns; unmasked. Empty when the
 * words of the engine have no known form. Warnings are left out: none of them keeps code from being accepted, and some
 * are about files of the platform.
 * @param asksEngine whether the engine is asked for its diagnostics in machine form, which takes another job
 */
export async function findErrors(
  kit: Kit,
  failure: EngineFailure,
  { asksEngine }: { asksEngine: boolean },
): Promise<Diagnostic[]> {
  const { run } = kit
  try {
    const root = `${run.workspace.iacRoot}/`
    const found = asksEngine ? await readDiagnostics(kit, failure) : parseDiagnostics(failure.feedback)
    const errors = found.filter(({ severity }) => severity === 'error')
    const diagnostics = orderDiagnostics(errors.map((one) => makeRelative(one, root)))
    const files = createFileAccess(run.context.config, run.workspace)
    return await Promise.all(diagnostics.map((one) => addSnippet(kit, files, one)))
  } catch (error) {
    run.signal.throwIfAborted()
    run.log.warn('an engine failure could not be described', { error })
    return []
  }
}

/** Writes the errors as a text for the generator, with hints and masked; empty when there are none. */
export async function describeErrors(kit: Kit, errors: readonly Diagnostic[]): Promise<string> {
  const { run, secrets } = kit
  try {
    const files = createFileAccess(run.context.config, run.workspace)
    const text = renderDiagnostics(await addHints(kit, files, [...errors])).replaceAll(run.workspace.iacRoot, '.')
    return secrets.text(text)
  } catch (error) {
    run.signal.throwIfAborted()
    run.log.warn('an engine failure could not be described', { error })
    return ''
  }
}

const FRAMED_WARNING = /^╷\n│ Warning: .*\n(?:│.*\n)*╵\n?/gm

/** Leaves warnings out of what the engine said; the words stay as they are when there is nothing else. */
export function withoutWarnings(output: string): string {
  const rest = output.replaceAll(FRAMED_WARNING, '')
  return rest.trim() === '' ? output : rest
}

/** Reads the diagnostics in machine form where the iac service offers it, otherwise from the text. */
async function readDiagnostics({ engine }: Kit, { step, feedback }: EngineFailure): Promise<Diagnostic[]> {
  const text = parseDiagnostics(feedback)
  if (step !== 'validate') return text
  const machine = await engine.diagnostics()
  const entries = fromEngine(machine ?? [])
  return entries.some(({ severity }) => severity === 'error') ? entries : text
}

const makeRelative = (one: Diagnostic, root: string): Diagnostic => ({
  ...one,
  file: one.file?.startsWith(root) ? one.file.slice(root.length) : one.file,
})

/** Lines of code that are quoted before and after the line that a diagnostic names. */
const LINES_AROUND = 2
const MAX_LINE_CHARS = 200

/**
 * Adds the code around the line that the diagnostic names, from the working copy. For a file that models may not see,
 * the snippet is emptied, because the engine itself quotes it. Each line is masked before it is cut, since half of a
 * secret would be found no more.
 */
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
