import {
  findAssignedSecrets,
  findAssignedSecretsInJson,
  findDeclaredSecrets,
  findDeclaredSecretsInJson,
} from '../../../src/plan/declared-secrets.ts'
import type { Kit } from '../../kit/kit.ts'
import { createFileAccess, type FileAccess } from '../../workspace/files/access.ts'

/**
 * Adds the values that the code as it stands declares sensitive to what is masked, so that they are
 * hidden before the first plan can name them. What cannot be searched is left to the plan.
 */
export async function learnDeclaredSecrets({ run, secrets }: Kit): Promise<void> {
  try {
    const files = createFileAccess(run.context.config, run.workspace)
    const texts = (query: string, pattern: string) => textsOf(files, query, pattern, run.signal)
    const [code, json] = await Promise.all([
      texts('^\\s*sensitive\\s*=\\s*true|\\bsensitive\\s*\\(', '*.tf'),
      texts('"sensitive"\\s*:', '*.tf.json'),
    ])
    const declared = [...code.map(findDeclaredSecrets), ...json.map(findDeclaredSecretsInJson)]
    secrets.add(declared.flatMap(({ literals }) => literals))
    const names = declared.flatMap((one) => one.names).filter((name) => /^[\w-]+$/.test(name))
    if (names.length === 0) return
    const [assigned, assigned_json] = await Promise.all([
      texts(`^\\s*"?(${names.join('|')})"?\\s*=`, '*.tfvars'),
      texts(`"(${names.join('|')})"\\s*:`, '*.tfvars.json'),
    ])
    secrets.add(assigned.flatMap((text) => findAssignedSecrets(text, names)))
    secrets.add(assigned_json.flatMap((text) => findAssignedSecretsInJson(text, names)))
  } catch (error) {
    run.signal.throwIfAborted()
    run.log.warn('declared secrets could not be looked for', { error })
  }
}

/** Texts of the files in which a line matches. */
async function textsOf(
  files: FileAccess,
  query: string,
  include_pattern: string,
  signal: AbortSignal,
): Promise<string[]> {
  const lines = await files.grep({ query, include_pattern, case_sensitive: true }, signal)
  const paths = new Set(lines.map((line) => line.replace(/:\d+:.*$/, '')))
  return await Promise.all([...paths].map((path) => files.read(path)))
}
