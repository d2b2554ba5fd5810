import type { ConsoleExample } from '../../config/types.ts'
import { EXAMPLES, type Example, type ExampleName } from '../scripted-model/examples.ts'

const OFFERED: readonly ExampleName[] = [
  'generate',
  'blocked',
  'question',
  'drift-preview',
  'partial-drift',
  'full-drift',
  'import-preview',
  'partial-import',
  'full-import',
]

/** The recorded requests as the first screen of the console offers them. */
export function consoleExamples(repositories: readonly string[]): ConsoleExample[] {
  return OFFERED.flatMap((name) => {
    const { route, request, sample, iac_path, is_partial, preview = false }: Example = EXAMPLES[name]
    const repo_uri = repositories.find((address) => address.endsWith(`/${sample}.git`))
    if (!repo_uri) return []
    const where = { repo_uri, iac_path: iac_path ?? '', scope_id: '123456789012', engine_providers: 'aws' as const }
    return [{ mode: route, text: request, ...where, is_partial, preview }]
  })
}
