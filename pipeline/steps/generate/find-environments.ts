import {
  isLoadedByItself,
  isVariableFile,
  readVariableChanges,
  type VariableChanges,
  variablesSetIn,
} from '../../../src/plan/code/variable-files.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { createFileAccess, type SurveyedFile } from '../../workspace/files/access.ts'

/** A file with the values of one environment, which the engine does not read by default. */
export interface Environment {
  /** Path with slashes, relative to the engine root. */
  path: string
  text: string
  /** Variables that the session changes and that the file sets. */
  names: string[]
  /** Earlier values, by name, of the variables whose value the session changed in the file. */
  before: ReadonlyMap<string, string>
}

/** The value files of a root that the engine does not read by default. */
export interface FoundEnvironments {
  /** Environments that the session's changes concern, up to the limit of a round. */
  concerned: Environment[]
  unconcerned: string[]
  /** Further concerned environments, beyond the limit. */
  beyondLimit: string[]
  /** Files that the session changed in a folder with code of its own. */
  ofOtherRoots: string[]
}

const NONE: FoundEnvironments = { concerned: [], unconcerned: [], beyondLimit: [], ofOtherRoots: [] }

const MAX_PLANNED = 5
const MAX_BYTES = 128 * 1024

/** Finds environments whose file, or a variable in it, the session changes; none, and a log entry, on failure. */
export function findEnvironments({ run }: Kit): Promise<FoundEnvironments> {
  return withFallback(run, 'the files of other environments could not be looked at', NONE, async () => {
    const changes = readVariableChanges(await run.workspace.branchDiff())
    if (changes.names.size + changes.files.size === 0) return NONE
    const access = createFileAccess(run.context.config, run.workspace)
    const surveyed = await access.survey(run.signal)
    const candidates = surveyed.filter(
      ({ path, bytes }) => isVariableFile(path) && !isLoadedByItself(path) && bytes <= MAX_BYTES,
    )
    const own = candidates.filter(({ path }) => !isOfOtherRoot(path, surveyed))
    const read = await Promise.all(own.map(async ({ path }) => concern(path, await access.read(path), changes)))
    const concerned = read.filter((environment) => environment !== null)
    const paths = new Set(concerned.map(({ path }) => path))
    return {
      concerned: concerned.slice(0, MAX_PLANNED),
      unconcerned: own.map(({ path }) => path).filter((path) => !paths.has(path)),
      beyondLimit: concerned.slice(MAX_PLANNED).map(({ path }) => path),
      ofOtherRoots: candidates
        .map(({ path }) => path)
        .filter((path) => changes.files.has(path) && isOfOtherRoot(path, surveyed)),
    }
  })
}

/** Returns the environment of a file; null when the session's changes do not concern it. */
function concern(path: string, text: string, { files, names, before }: VariableChanges): Environment | null {
  const set = variablesSetIn(text, names)
  return set.length > 0 || files.has(path) ? { path, text, names: set, before: before.get(path) ?? new Map() } : null
}

/** True if a folder between root and file has code of its own, such as a module or another root. */
const isOfOtherRoot = (path: string, files: readonly SurveyedFile[]): boolean =>
  path.includes('/') && files.some((file) => /\.(?:tf|tofu)$/.test(file.path) && folderOf(file.path) === folderOf(path))

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1)
