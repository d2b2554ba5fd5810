import type { Folder } from './folders.ts'

export const ROOT_KINDS = ['root', 'example', 'test'] as const
export type RootKind = (typeof ROOT_KINDS)[number]

/** A folder in which the engine is run; examples and tests show or check a module. */
export interface RootModule {
  /** POSIX path from the root of the repository, which itself is `.`. */
  path: string
  kind: RootKind
}

/** Blocks that read, make or call something. */
const OBJECTS = ['resource', 'data', 'module', 'ephemeral'] as const

/** Segments that name examples and tests. */
const EXAMPLE = /^(?:examples?|samples?|recipes?|codelabs?)(?:[-_]|$)|[-_](?:examples|samples)(?:[-_]|$)/
const TEST = /^(?:tests?|testing|testdata|fixtures)(?:_|$)/
/** The subset that is not the name of an environment too; with a backend, only these count. */
const NO_ENVIRONMENT =
  /^(?:examples|samples|recipes|codelabs|tests|testdata|fixtures|test_.*)$|[-_](?:examples|samples)(?:[-_]|$)/
/** Segments that name code for others to call; `wrappers` call a module in a loop, for Terragrunt. */
const FOR_CALLERS = /^(?:modules?|wrappers)$/
/** The name that a registry requires of a repository with a module. */
const MODULE_REPOSITORY = /^terraform-[^-]+-./

/**
 * Selects the root modules among folders with code, by these rules:
 * - A folder with a backend or a `cloud` block is one. Any other needs a resource, a data source or a module call.
 * - It is one if nobody calls it, and it has a provider block, lock file, values or a `terragrunt.hcl` beside. Below
 *   `modules`, a lock file or values are not enough.
 * - Below `examples`, `tests` and their like, and in a repository of such a name, it needs no sign; the calls of a test
 *   are no calls of an example.
 * - Without a sign, it is one if it is in no other root and either calls a module elsewhere in the repository or has
 *   resources and no variables, or if it has all code of a repository that is not named as a module for a registry.
 * @param name last part of the repository's address
 * @returns in the order of the folders
 */
export function classifyRoots(folders: ReadonlyMap<string, Folder>, name: string): RootModule[] {
  const roots = new Map<string, RootModule>()
  const undecided: Folder[] = []
  const above = NO_ENVIRONMENT.test(name) ? `${name}/` : ''
  for (const folder of folders.values()) {
    const kind = kindOf(`${above}${folder.path}`, folder.hasBackend || folder.isUnit)
    const verdict = folder.hasBackend || judge(folder, kind)
    if (verdict === null) undecided.push(folder)
    if (verdict) roots.set(folder.path, { path: folder.path, kind })
  }
  const isAlone = folders.size === 1 && !MODULE_REPOSITORY.test(name)
  const weak = undecided.filter(
    (folder) => isAlone || (!isInRoot(folder.path, roots) && (callsElsewhere(folder) || isClosed(folder))),
  )
  return [...roots.values(), ...weak.map(({ path }): RootModule => ({ path, kind: 'root' }))]
}

/** Decides on a folder without backend; null when its own files do not tell. */
function judge(folder: Folder, kind: RootKind): boolean | null {
  if (!OBJECTS.some((type) => folder.types.has(type)) || isCalled(folder, kind)) return false
  if (folder.isUnit || folder.types.has('provider')) return true
  const segments = folder.path.split('/')
  if (segments.findLastIndex((segment) => FOR_CALLERS.test(segment)) > segments.findLastIndex(isShown)) return false
  return kind !== 'root' || folder.hasLockFile || folder.hasValues || null
}

function isCalled({ callers, isTested }: Folder, kind: RootKind): boolean {
  if (kind === 'root' && isTested) return true
  return [...callers].some((caller) => kind !== 'example' || kindOf(caller, false) !== 'test')
}

function kindOf(path: string, isDeployed: boolean): RootKind {
  for (const segment of path.split('/')) {
    if (isDeployed && !NO_ENVIRONMENT.test(segment)) continue
    if (TEST.test(segment)) return 'test'
    if (EXAMPLE.test(segment)) return 'example'
  }
  return 'root'
}

const isShown = (segment: string): boolean => TEST.test(segment) || EXAMPLE.test(segment)

const isWithin = (path: string, folder: string): boolean => folder === '.' || path.startsWith(`${folder}/`)

/** Reports whether a folder has resources that no caller could adapt. */
const isClosed = ({ types }: Folder): boolean => types.has('resource') && !types.has('variable')

/** Reports whether a folder calls one that is neither above nor below it. */
const callsElsewhere = ({ path, calls }: Folder): boolean =>
  [...calls].some((called) => !isWithin(called, path) && !isWithin(path, called))

function isInRoot(path: string, roots: ReadonlyMap<string, RootModule>): boolean {
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1))
    if (roots.has(path.slice(0, slash))) return true
  return path !== '.' && roots.has('.')
}
