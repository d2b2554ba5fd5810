import { allInOrder } from '../../../src/base/gate.ts'
import { joinPath, quoteNames } from '../../../src/base/text.ts'
import { isCodePath } from '../../../src/plan/code/blocks.ts'
import {
  type Changed,
  type FileVersions,
  findChangedBlocks,
  type PlacedBlock,
  pathOf,
  presentBlocks,
} from '../../../src/plan/code/compare.ts'
import { type CodeFile, folderOf } from '../../../src/plan/code/modules.ts'
import { type ChangedFile, changesValues } from '../../../src/plan/code/unplanned.ts'
import { isLoadedByItself, isVariableFile } from '../../../src/plan/code/variable-files.ts'
import { engineKindOf } from '../../../src/repository/roots/loaded-names.ts'
import type { Kit } from '../../kit/kit.ts'
import { withFallback } from '../../kit/run.ts'
import { findLoadedCode, isReferred, type LoadedCode } from '../../workspace/files/loaded-code.ts'

/** What a run or a session changed. */
export interface ChangedCode {
  changed: ChangedFile[]
  /** The changed blocks. */
  blocks: Changed[]
  /** The blocks of the present code. */
  present: PlacedBlock[]
}

/** The code of a root as it is now. */
export interface PresentCode {
  loaded: LoadedCode
  /** Reads what was changed since the run or the session began, and what each file is to the engine. */
  changedSince(since: 'run' | 'session'): Promise<ChangedCode>
}

/** Reads the files of code of the root and those outside of it that it uses. */
export async function readCode({ run, openFiles }: Kit): Promise<CodeFile[]> {
  const access = openFiles()
  const paths = (await access.survey(run.signal)).files.map(({ path }) => path).filter(isCodePath)
  return [...(await access.readAll(paths))].map(([path, text]) => ({ path, text }))
}

/** Reads the code of the root once, for comparisons with what was there before. */
export async function readPresentCode(kit: Kit): Promise<PresentCode> {
  const { run, engine } = kit
  const info = await engine.info()
  const [loaded, files] = await allInOrder([findLoadedCode(run.workspace, engineKindOf(info?.name)), readCode(kit)])
  const paths = files.map(({ path }) => path)
  const codeFolders = new Set(paths.map(folderOf))
  return {
    loaded,
    changedSince: async (since) => {
      const versions = await run.workspace.versions(since === 'run' ? since : undefined)
      const added = new Set(versions.flatMap(({ from, to }) => (from === null && to !== null ? [to] : [])))
      const earlier = [...paths.filter((path) => !added.has(path)), ...versions.flatMap(({ from }) => from ?? [])]
      const known = { loaded, codeFolders, earlier: new Set(codeIn(earlier).map(folderOf)) }
      return {
        changed: versions.map((one) => ({ ...sortFile(one, known), isUnread: one.unread !== null })),
        blocks: findChangedBlocks(versions),
        present: presentBlocks(versions, files),
      }
    },
  }
}

const codeIn = (paths: readonly string[]): string[] => paths.filter(isCodePath)

interface Known {
  loaded: LoadedCode
  /** Folders with code now, and before. */
  codeFolders: ReadonlySet<string>
  earlier: ReadonlySet<string>
}

function sortFile({ from, to }: FileVersions, { loaded, codeFolders, earlier }: Known): ChangedFile {
  const path = pathOf({ from, to })
  const inClone = joinPath(loaded.root, path) ?? path
  const isInLoaded = loaded.folders.has(folderOf(inClone))
  const isCode = isCodePath(path)
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
    const { loaded, changedSince } = await readPresentCode(kit)
    const { changed, blocks } = await changedSince('run')
    // An unreadable root, as after an engine run that replaced it, is the engine's to refuse.
    if (!loaded.isWhole || loaded.files.size === 0) return null
    const of = (kind: ChangedFile['kind']) => codeIn(changed.filter((one) => one.kind === kind).map(({ path }) => path))
    const unloaded = of('unloaded')
    const isPlanned = changesValues(changed, blocks)
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
