import { type Diagnostic, orderDiagnostics, renderDiagnostics } from '../../../src/plan/diagnostics/diagnostic.ts'
import { fromEngine, parseDiagnostics } from '../../../src/plan/diagnostics/parse.ts'
import { blameOf, explainUnmendable } from '../../../src/plan/diagnostics/unmendable.ts'
import type { Kit } from '../../kit/kit.ts'
import { createFileAccess, type FileAccess } from '../../workspace/files/access.ts'
import { isHidden } from '../../workspace/files/confine.ts'

/** A command of the engine that failed. */
export type EngineStep = 'init' | 'validate' | 'plan' | 'show'
export interface EngineFailure {
  step: EngineStep
  /** What the engine said. */
  feedback: string
}

/** Why no change of the code can mend the failure, masked; null when one might, or when that cannot be told. */
export async function whyUnmendable(kit: Kit, feedback: string): Promise<string | null> {
  const { run, secrets } = kit
  const { provider: cloud } = run.round.session
  try {
    const diagnostics = parseDiagnostics(feedback)
    const innocent = explainUnmendable(diagnostics, { blame: blameOf(''), cloud })
    if (innocent === null) return null
    const text = explainUnmendable(diagnostics, { blame: blameOf(await run.workspace.branchDiff()), cloud })
    return text === null ? null : secrets.text(text.replaceAll(run.workspace.iac_root, '.'))
  } catch (error) {
    run.signal.throwIfAborted()
    run.log.warn('an engine failure could not be classified', { error })
    return null
  }
}

/** What the engine found, cause first, with the code it concerns; empty when its words have no known form. */
export async function describeFailure(kit: Kit, failure: EngineFailure): Promise<string> {
  const { run, secrets } = kit
  try {
    const root = `${run.workspace.iac_root}/`
    const found = orderDiagnostics((await findings(kit, failure)).map((one) => relative(one, root)))
    const files = createFileAccess(run.context.config, run.workspace)
    const shown = await Promise.all(found.map((one) => withSnippet(kit, files, one)))
    return secrets.text(renderDiagnostics(shown).replaceAll(run.workspace.iac_root, '.'))
  } catch (error) {
    run.signal.throwIfAborted()
    run.log.warn('an engine failure could not be described', { error })
    return ''
  }
}

/** In machine form where the iac service offers it. */
async function findings({ engine }: Kit, { step, feedback }: EngineFailure): Promise<Diagnostic[]> {
  const text = parseDiagnostics(feedback)
  if (step !== 'validate') return text
  const machine = await engine.diagnostics()
  const entries = fromEngine(machine ?? [])
  return entries.some(({ severity }) => severity === 'error') ? entries : text
}

const relative = (one: Diagnostic, root: string): Diagnostic => ({
  ...one,
  file: one.file?.startsWith(root) ? one.file.slice(root.length) : one.file,
})

const AROUND = 2
const MAX_LINE = 200

/** The code round the line from the working copy; what models may not see is not quoted from the engine either. */
async function withSnippet({ run }: Kit, files: FileAccess, one: Diagnostic): Promise<Diagnostic> {
  if (one.file === null) return one
  if (one.file.split('/').some((segment) => isHidden(run.context.config.paths, segment))) return { ...one, snippet: '' }
  const { line } = one
  if (line === null) return one
  const text = await files.read(one.file).catch(() => null)
  if (text === null) return one
  const lines = text.split('\n')
  const first = Math.max(1, line - AROUND)
  const quoted = lines.slice(first - 1, line + AROUND).map((content, index) => {
    const number = first + index
    return `${number === line ? '>' : ' '}${String(number).padStart(4)}: ${content.slice(0, MAX_LINE)}`
  })
  return line > lines.length ? one : { ...one, snippet: quoted.join('\n').trimEnd() }
}
