import type { Config } from '../../../config/types.ts'
import { STATE_KEYS_FILE } from '../../../src/plan/state/managed-state.ts'

/**
 * Empty file in the root of a clone. The iac sidecar takes the nearest folder above the engine root that holds it for
 * the end of the workspace. The sidecar imports nothing of this room and repeats the name: change both together.
 */
export const WORKSPACE_MARKER = '.platform-workspace'

/**
 * The file with the values to mask, in the root of a plan directory. It reveals nothing new: the plan file beside it
 * holds the same values.
 */
export const MASKS_FILE = '.platform-masks.json'

/** The folder in which the engine keeps plugins, modules and what it knows about the state store. */
const ENGINE_FOLDER = '.terraform'

/** Patterns of file names, with `*` for any text, that hold plan, state, secrets or notes of the platform. */
const secretNames = (paths: Config['paths']): string[] => [
  paths.backend_override_filename,
  STATE_KEYS_FILE,
  paths.session_plan_filename,
  '*.plan',
  '*.tfstate',
  '*.tfstate.*',
  'crash.log',
  'crash.*.log',
  MASKS_FILE,
  WORKSPACE_MARKER,
]

const neverPushed = (paths: Config['paths']): string[] => [...secretNames(paths), ENGINE_FOLDER]

/**
 * True if the platform never pushes a path of a repository, in any letter case and at any depth: plan, state, the
 * engine's folder, the override, crash logs, and the platform's own notes. The lock file of the providers is not among
 * them, because it belongs to the change.
 * @param path with slashes
 */
export function isNeverPushed(paths: Config['paths'], path: string): boolean {
  const patterns = neverPushed(paths).map(toPattern)
  return path.split('/').some((segment) => patterns.some((pattern) => pattern.test(segment)))
}

/** Arguments that make git leave out everything that is never pushed, whatever the repository's ignore rules say. */
export const excludeNeverPushed = (paths: Config['paths']): string[] =>
  neverPushed(paths).flatMap((name) => [`:(exclude,glob,icase)**/${name}`, `:(exclude,glob,icase)**/${name}/**`])

/** Patterns of names that no tool of a model may see, `.git` among them; `*` stands for any text. */
export const hiddenNames = (paths: Config['paths']): string[] => ['.git', ...secretNames(paths)]

/**
 * True if a path segment names git's own files, the backend override, a plan, engine state or a crash log. All but the
 * first hold secrets; `.terraform/terraform.tfstate`, for example, repeats the credentials of the override.
 */
export const isHidden = (paths: Config['paths'], segment: string): boolean =>
  hiddenNames(paths).some((name) => toPattern(name).test(segment))

/** True if a path lies in the engine's folder, which tools may read but not change. */
export const isInEngineFolder = (path: string): boolean =>
  path.split('/').some((segment) => segment.toLowerCase() === ENGINE_FOLDER)

const toPattern = (name: string): RegExp =>
  new RegExp(`^${name.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^]*')}$`, 'i')
