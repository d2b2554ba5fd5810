import { assignedSecrets, declaredSecrets } from '../../src/plan/declared-secrets.ts'
import { createFileAccess, type FileAccess } from '../workspace/file-access.ts'
import type { Kit } from './kit.ts'

/**
 * Adds the values of variables that the code as it stands declares sensitive to what is masked, so that
 * they are hidden before the first plan can name them. What cannot be searched is left to the plan.
 */
export async function learnDeclaredSecrets({ run, secrets }: Kit): Promise<void> {
  try {
    const files = createFileAccess(run.context.config, run.workspace)
    const code = await textsOf(files, '^\\s*sensitive\\s*=\\s*true', '*.tf', run.signal)
    const declared = code.map(declaredSecrets)
    secrets.add(declared.flatMap(({ literals }) => literals))
    const names = declared.flatMap((one) => one.names)
    if (names.length === 0) return
    const assigned = await textsOf(files, `^\\s*"?(${names.join('|')})"?\\s*=`, '*.tfvars', run.signal)
    secrets.add(assigned.flatMap((text) => assignedSecrets(text, names)))
  } catch (error) {
    run.signal.throwIfAborted()
    run.log.warn('declared secrets could not be looked for', { error })
  }
}

/** Texts of the files in which a line matches. */
async function textsOf(files: FileAccess, query: string, include_pattern: string, signal: AbortSignal): Promise<string[]> {
  const lines = await files.grep({ query, include_pattern, case_sensitive: true }, signal)
  const paths = new Set(lines.map((line) => line.replace(/:\d+:.*$/, '')))
  return await Promise.all([...paths].map((path) => files.read(path)))
}
