import type { Config } from '../../../config/types.ts'
import { STATE_KEYS_FILE } from '../../../src/plan/state/managed-state.ts'

/** Marks the root of a clone for the iac sidecar, which repeats the name: change both together. */
export const WORKSPACE_MARKER = '.platform-workspace'

/** The file with the values to mask, next to the plan file, which holds the same values. */
export const MASKS_FILE = '.platform-masks.json'

/** Begins the name of a file of `import` blocks, which the root has only while it is planned with them. */
export const IMPORTS_FILE = 'platform-imports-'

/** The engine's folder of plugins, modules and backend settings. */
const ENGINE_FOLDER = '.terraform'

/** Returns patterns of file names, with `*`, that hold plan, state, secrets or notes of the platform. */
const secretNames = (paths: Config['paths']): string[] => [
  paths.backend_override_filename,
  STATE_KEYS_FILE,
  paths.session_plan_filename,
  `${IMPORTS_FILE}*.tf.json`,
  '*.plan',
  '*.tfstate',
  '*.tfstate.*',
  'crash.log',
  'crash.*.log',
  MASKS_FILE,
  WORKSPACE_MARKER,
]

/** Returns patterns of names, with `*`, of files and folders that are never pushed. */
export const neverPushed = (paths: Config['paths']): string[] => [...secretNames(paths), ENGINE_FOLDER]

/** True for a path, with slashes, that is never pushed; the lock file of the providers belongs to the change. */
export function isNeverPushed(paths: Config['paths'], path: string): boolean {
  const pattern = patternOf(paths, neverPushed)
  return path.split('/').some((segment) => pattern.test(segment))
}

/** Returns git arguments that exclude everything that is never pushed, but `kept`, whatever the ignore rules say. */
export const excludeNeverPushed = (paths: Config['paths'], kept: readonly string[] = []): string[] =>
  neverPushed(paths).flatMap((name) =>
    kept.includes(name) ? [] : [`:(exclude,glob,icase)**/${name}`, `:(exclude,glob,icase)**/${name}/**`],
  )

/** Returns patterns of names, with `*`, that no tool of a model may see, including `.git`. */
export const hiddenNames = (paths: Config['paths']): string[] => ['.git', ...secretNames(paths)]

/** True for names of git's files and of files with secrets, such as `.terraform/terraform.tfstate`. */
export const isHidden = (paths: Config['paths'], segment: string): boolean =>
  patternOf(paths, hiddenNames).test(segment)

/** True for names of private keys and of files with credentials, which code beside the root may refer to. */
export const isKeyFile = (name: string): boolean => KEY_FILE.test(name)

/** Patterns of such names, with `*`. */
export const KEY_FILES = [
  ...['pem', 'key', 'p12', 'pfx', 'jks', 'keystore', 'ppk', 'kubeconfig'].map((ending) => `*.${ending}`),
  ...['id_rsa*', 'id_dsa*', 'id_ecdsa*', 'id_ed25519*', '.env', '.env.*', '*.env', 'kubeconfig', '.netrc', '.pgpass'],
]

/** True if a path lies in the engine's folder, which tools may read but not change. */
export const isInEngineFolder = (path: string): boolean =>
  path.split('/').some((segment) => segment.toLowerCase() === ENGINE_FOLDER)

/** Makes one pattern of names with `*`. */
const anyOf = (names: readonly string[]): RegExp =>
  new RegExp(
    `^(?:${names.map((name) => name.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^]*')).join('|')})$`,
    'i',
  )

const KEY_FILE = anyOf(KEY_FILES)

/** Kept for each configuration, because every segment of every path of a repository is tested. */
const patterns = new WeakMap<Config['paths'], Map<NamesOf, RegExp>>()
type NamesOf = (paths: Config['paths']) => readonly string[]

function patternOf(paths: Config['paths'], namesOf: NamesOf): RegExp {
  const known = patterns.get(paths) ?? new Map<NamesOf, RegExp>()
  patterns.set(paths, known)
  const pattern = known.get(namesOf) ?? anyOf(namesOf(paths))
  known.set(namesOf, pattern)
  return pattern
}
