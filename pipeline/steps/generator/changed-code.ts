import { joinPath, quoteNames } from '../../../src/base/text.ts'
import { findChangedBlocks } from '../../../src/plan/code/changes.ts'
import { type CodeFile, folderOf } from '../../../src/plan/code/modules.ts'
import { type FilePatch, parseDiff } from '../../../src/plan/code/patch.ts'
import { type ChangedFile, changesValues } from '../../../src/plan/code/unplanned.ts'
import { isLoadedByItself, isVariableFile } from '../../../src/plan/code/variable-files.ts'
import { engineKindOf, isEngineCode } from '../../../src/repository/roots/loaded-names.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { findLoadedCode, isReferred, type LoadedCode } from '../../workspace/files/loaded-code.ts'

/** What a run or a session changed. */
export interface ChangedCode {
  diff: string
  changed: ChangedFile[]
}

/** The code of a root as it is now. */
export interface PresentCode {
  /** The code below the root, relative to it. */
  files: CodeFile[]
  loaded: LoadedCode
  /** Reads what was changed since the run or the session began, and what each file is to the engine. */
  changedSince(since: 'run' | 'session'): Promise<ChangedCode>
}

/** Reads the code of the root once, for comparisons with what was there before. */
export async function readPresentCode({ run, engine, openFiles }: Kit): Promise<PresentCode> {
  const info = await engine.info()
  const loaded = await findLoadedCode(run.workspace, engineKindOf(info?.name))
  const access = openFiles()
  const paths = (await access.survey(run.signal)).files.map(({ path }) => path).filter(isEngineCode)
  const texts = await access.readAll(paths)
  const codeFolders = new Set(paths.map(folderOf))
  return {
    loaded,
    files: [...texts].map(([path, text]) => ({ path, text })).sort((a, b) => (a.path < b.path ? -1 : 1)),
    changedSince: async (since) => {
      const diff = await run.workspace.branchDiff(since === 'run' ? since : undefined)
      const patches = parseDiff(diff)
      const added = new Set(patches.flatMap(({ from, to }) => (from === null && to !== null ? [to] : [])))
      const earlier = [...paths.filter((path) => !added.has(path)), ...patches.flatMap(({ from }) => from ?? [])]
      const known = { loaded, codeFolders, earlier: new Set(codeIn(earlier).map(folderOf)) }
      return { diff, changed: patches.map((patch) => sortFile(patch, known)) }
    },
  }
}

const codeIn = (paths: readonly string[]): string[] => paths.filter(isEngineCode)

interface Known {
  loaded: LoadedCode
  /** Folders with code now, and before. */
  codeFolders: ReadonlySet<string>
  earlier: ReadonlySet<string>
}

function sortFile({ from, to }: FilePatch, { loaded, codeFolders, earlier }: Known): ChangedFile {
  const path = to ?? from ?? ''
  const inClone = joinPath(loaded.root, path) ?? path
  const isInLoaded = loaded.folders.has(folderOf(inClone))
  const isCode = isEngineCode(path)
  if (isVariableFile(path)) {
    if (isLoadedByItself(path)) return { path, kind: 'loaded' }
    const isElsewhere = path.includes('/') && codeFolders.has(folderOf(path)) && !isInLoaded
    return { path, kind: isElsewhere ? 'elsewhere' : 'values' }
  }
  if (isReferred(loaded, inClone)) return { path, kind: 'read' }
  if (!isCode) return { path, kind: path.endsWith('.terraform.lock.hcl') ? 'lock' : 'other' }
  if (to === null ? isInLoaded : loaded.files.has(inClone)) return { path, kind: 'loaded' }
  if (to === null && !codeFolders.has(folderOf(path))) return { path, kind: 'removed' }
  return { path, kind: !isInLoaded && earlier.has(folderOf(path)) ? 'elsewhere' : 'unloaded' }
}

/** A validation without an engine, of code that nothing loads; texts are masked. */
interface Unloaded {
  ok: false
  text: string
  targets: string[]
  /** For the author of the code. */
  feedback: string
  /** The message of the round when no attempt mends it. */
  unloaded: string
}

/** Returns a refusal of code that this run wrote and no engine loads; null when there is none, or it cannot be told. */
export const findUnloaded = (kit: Kit): Promise<Unloaded | null> =>
  withFallback(kit.run, 'it could not be checked whether the changed code is loaded', null, async () => {
    const { loaded, files, changedSince } = await readPresentCode(kit)
    const { diff, changed } = await changedSince('run')
    // An unreadable root, as after an engine run that replaced it, is the engine's to refuse.
    if (!loaded.isWhole || loaded.files.size === 0) return null
    const of = (kind: ChangedFile['kind']) => codeIn(changed.filter((one) => one.kind === kind).map(({ path }) => path))
    const unloaded = of('unloaded')
    const isPlanned = changesValues(changed, findChangedBlocks(diff, files))
    const elsewhere = isPlanned ? [] : of('elsewhere')
    if (unloaded.length + elsewhere.length === 0) return null
    const place = loaded.root === '' ? "the repository's root" : `\`${loaded.root}\``
    return {
      ok: false,
      text: '',
      targets: [],
      feedback: kit.secrets.text(adviceOn(unloaded, elsewhere)),
      unloaded: kit.secrets.text(endingOf({ unloaded, elsewhere, place, root: loaded.root })),
    }
  })

const MAX_NAMED = 10

const listOf = (paths: readonly string[]): string => quoteNames(paths, MAX_NAMED)

/** Writes what the author of the code is told; the first line stands for all of it in a list of attempts. */
function adviceOn(unloaded: readonly string[], elsewhere: readonly string[]): string {
  const [first = ''] = unloaded
  const folder = folderOf(first)
  return [
    `Nothing loads ${listOf([...unloaded, ...elsewhere])}, so that no engine checks or plans it.`,
    'The engine loads the files directly in the root and those of modules that a `module` block calls by a local `source`.',
    unloaded.length > 0 &&
      `Move the code of ${listOf(unloaded)} into files of the root${folder === '' ? '' : `, or call its folder as a module (\`source = "./${folder}"\`)`}, and delete files that are not needed.`,
    elsewhere.length > 0 &&
      `${listOf(elsewhere)} belongs to code that another root loads, and that root is not planned here: write the change into the code of this root, and undo it there.`,
  ]
    .filter((line) => line !== false)
    .join('\n')
}

interface Ending {
  unloaded: readonly string[]
  elsewhere: readonly string[]
  place: string
  root: string
}

/** Writes the message with which the round ends when no attempt mends it; its paths are those of the repository. */
function endingOf({ unloaded, elsewhere, place, root }: Ending): string {
  const inRepository = (path: string) => joinPath(root, path) ?? path
  const folders = [...new Set(elsewhere.map((path) => inRepository(folderOf(path))))]
  const paths = [...unloaded, ...elsewhere].map(inRepository)
  return [
    `Nothing was planned: the engine loads ${place} and the modules that it calls, and none of them`,
    `loads the changed ${listOf(paths)}.`,
    folders.length > 0 &&
      `For code of another root, begin a session with that root as \`iac_path\`: ${listOf(folders)}.`,
  ]
    .filter((line) => line !== false)
    .join(' ')
}
