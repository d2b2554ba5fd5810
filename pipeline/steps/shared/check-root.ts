import { PlatformError } from '../../../src/base/errors.ts'
import { joinNames, quoteNames } from '../../../src/base/text.ts'
import { engineKindOf } from '../../../src/repository/roots/loaded-names.ts'
import { findToolFiles, type Tool } from '../../../src/repository/roots/tools.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { findCloneRoots } from '../../workspace/files/clone-roots.ts'
import { readRootFolder } from '../../workspace/files/loaded-code.ts'

const NAMES: Record<Tool, string> = {
  terragrunt: 'Terragrunt',
  pulumi: 'Pulumi',
  helm: 'Helm',
  cdktf: 'CDK for Terraform',
  stack: 'Terraform Stacks',
}

/** Tools by which infrastructure is described, so that their files below an empty root are meant by a request. */
const DESCRIBES_INFRASTRUCTURE: ReadonlySet<Tool> = new Set(['terragrunt', 'pulumi', 'cdktf', 'stack'])

const MAX_NAMED = 12

/**
 * Refuses a root that the engine cannot work on, before any model is asked: with code of another tool or engine in it
 * and none that this engine loads, or, when no `iac_path` was given, without code while there is some elsewhere. A root
 * without any code is accepted. Failures to look are logged.
 * @throws 422 `RootNotSupported` with what was seen where, and what can be asked instead
 */
export async function assertRootIsSupported(kit: Kit): Promise<void> {
  const refusal = await withFallback(kit.run, 'the root could not be looked at', null, () => findRefusal(kit))
  if (refusal !== null) throw new PlatformError('RootNotSupported', 422, kit.secrets.text(refusal))
}

async function findRefusal({ run, engine }: Kit): Promise<string | null> {
  const info = await engine.info()
  const name = info?.name ?? 'the engine'
  const folder = await readRootFolder(run.workspace, engineKindOf(info?.name))
  if (folder === null) return null
  const path = run.round.session.workspace.root_path
  const root = path === null || path === '.' ? "The repository's root" : `The folder \`${path}\``
  const { names, loaded, forOpenTofu } = folder
  if (forOpenTofu.length > 0)
    return (
      `${root} holds code for OpenTofu (${listOf(forOpenTofu)}), which ${name} does not load: it would be planned as ` +
      'if that code were not there. Let the iac service run OpenTofu for this repository, or keep the code in `.tf` ' +
      'files.'
    )
  // The override file is the platform's own and may have been written already.
  if (loaded.some((one) => one !== run.context.config.paths.backend_override_filename)) return null
  const nothing = `and no code that ${name} loads`
  const [tool] = findToolFiles(names)
  if (!tool && path !== null) return null
  const { uri } = run.round.session.workspace
  const found = await findCloneRoots(run.context.config, run.workspace, uri, run.signal)
  const roots = (found?.roots ?? []).filter(({ path: other, kind }) => kind === 'root' && other !== (path ?? '.'))
  const others = roots.map((other) => other.path)
  if (tool)
    return `${root} holds code of ${NAMES[tool.tool]} (\`${tool.path}\`) ${nothing}; ${NAMES[tool.tool]} is not run here. ${alternative(others)}`
  const below = (found?.tools ?? []).filter(({ tool: one }) => DESCRIBES_INFRASTRUCTURE.has(one))
  const proper = others.filter((other) => !other.split('/').some((segment) => /^modules?$/.test(segment)))
  if (proper.length > 0) return `${root} holds no code that ${name} loads. ${alternative(proper)} ${AS_IT_IS}`
  if (below.length === 0) return null
  const seen = below.map((one) => `${NAMES[one.tool]} (\`${one.path}\`)`)
  return `${root} holds no code that ${name} loads; the repository holds code of ${joinNames(seen, MAX_NAMED)}, which is not run here. ${alternative([])} ${AS_IT_IS}`
}

const AS_IT_IS = "To build in the repository's root itself, give `.` as `iac_path`."

const listOf = (paths: readonly string[]): string => quoteNames(paths, MAX_NAMED)

const alternative = (roots: readonly string[]): string =>
  roots.length > 0
    ? `Begin a session with a root module of this repository as \`iac_path\`: ${listOf(roots)}.`
    : 'Begin a session with a folder for the new code as `iac_path`.'
