import {
  findAssignedSecrets,
  findAssignedSecretsInJson,
  findDeclaredSecrets,
  findDeclaredSecretsInJson,
} from '../../../src/plan/code/declared-secrets.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { createFileAccess, type FileAccess } from '../../workspace/files/access.ts'

/** Masks values that the code declares sensitive before the first plan marks them. Failures are logged. */
export function learnDeclaredSecrets({ run, secrets }: Kit): Promise<void> {
  return withFallback(run, 'declared secrets could not be looked for', undefined, async () => {
    const files = createFileAccess(run.context.config, run.workspace)
    const search = (query: string, pattern: string) => readMatchingFiles(files, query, pattern, run.signal)
    const [code, json] = await Promise.all([
      search('^\\s*(sensitive|ephemeral)\\s*=\\s*true|\\bsensitive\\s*\\(', '*.{tf,tofu}'),
      search('"(sensitive|ephemeral)"\\s*:', '*.{tf,tofu}.json'),
    ])
    const declared = [...code.map(findDeclaredSecrets), ...json.map(findDeclaredSecretsInJson)]
    secrets.add(declared.flatMap(({ literals }) => literals))
    const names = declared.flatMap((one) => one.names).filter((name) => /^[\w-]+$/.test(name))
    if (names.length === 0) return
    const [assigned, assignedJson] = await Promise.all([
      search(`^\\s*"?(${names.join('|')})"?\\s*=`, '*.tfvars'),
      search(`"(${names.join('|')})"\\s*:`, '*.tfvars.json'),
    ])
    secrets.add(assigned.flatMap((text) => findAssignedSecrets(text, names)))
    secrets.add(assignedJson.flatMap((text) => findAssignedSecretsInJson(text, names)))
  })
}

/** Reads every file in which a line matches. */
async function readMatchingFiles(
  files: FileAccess,
  query: string,
  includePattern: string,
  signal: AbortSignal,
): Promise<string[]> {
  const lines = await files.grep({ query, include_pattern: includePattern, case_sensitive: true }, signal)
  const paths = new Set(lines.map((line) => line.replace(/:\d+:.*$/, '')))
  return await Promise.all([...paths].map((path) => files.read(path)))
}
