import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import { ToolError } from '../../../src/agent/agent-request.ts'
import { joinPath } from '../../../src/base/text.ts'
import { assertForm, assertVisible, type Enclosure, isInside, outsideError } from './confine.ts'
import { isHidden, isKeyFile } from './engine-files.ts'
import { findLoadedCode } from './loaded-code.ts'
import { nullIfUnreadable } from './private-files.ts'

/** What a root uses in its clone. All paths are absolute and real. */
export interface Reach {
  /** Folders that the engine loads: the root and the modules. */
  modules: ReadonlySet<string>
  /** Folders outside of the root that may be read with all that is in them. */
  trees: readonly string[]
  /** Folders around the root that are modules, which may be read without what is below them. */
  flat: readonly string[]
  /** Files outside of the root that code names, or that a link in a loaded folder leads to. */
  files: ReadonlySet<string>
  /** False when more may be used than was found. */
  isWhole: boolean
}

/** Finds what the code of the root, as it is now, uses in the clone: modules, named files, targets of links. */
export async function findReach(enclosure: Enclosure): Promise<Reach> {
  const { root } = enclosure
  const clone = await realClone(enclosure)
  const loaded = await findLoadedCode({ clone, iacRoot: root }, null)
  const modules = [...loaded.folders].map((folder) => join(clone, folder))
  const [trees, flat, files] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const add = async (path: string, isModule = false) => {
    const target = await realInClone(enclosure, path)
    if (target === null || isInside(root, target)) return
    if (!isInside(target, root)) ((await isFolder(target)) ? trees : files).add(target)
    else if (isModule) flat.add(target)
  }
  for (const folder of modules) {
    await add(folder, true)
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) if (entry.isSymbolicLink()) await add(join(folder, entry.name))
  }
  for (const path of [...loaded.files, ...loaded.references]) await add(join(clone, path))
  return {
    modules: new Set(modules),
    trees: withoutNested([...trees]),
    flat: [...flat],
    files,
    isWhole: loaded.isWhole,
  }
}

/** Returns the real path of the clone, whose parent folders may be links. */
export const realClone = ({ clone }: Enclosure): Promise<string> => realpath(clone).catch(() => clone)

/** Returns a path with slashes. */
export const slashed = (path: string): string => path.split(sep).join('/')

const withoutNested = (folders: readonly string[]): string[] =>
  folders.filter((folder) => !folders.some((other) => other !== folder && isInside(other, folder)))

/** Returns the real path of an entry of the clone; null when it does not exist, leads out, or is not for models. */
export async function realInClone(enclosure: Enclosure, path: string): Promise<string | null> {
  const { paths } = enclosure
  const clone = await realClone(enclosure)
  const target = await realpath(path).catch(nullIfUnreadable)
  if (target === null || !isInside(clone, target)) return null
  const segments = relative(clone, target).split(sep)
  return segments.some((segment) => isHidden(paths, segment)) || isKeyFile(basename(target)) ? null : target
}

/** True if a file outside of the root is used by it. */
export const isUsed = ({ trees, flat, files }: Reach, file: string): boolean =>
  files.has(file) || flat.includes(dirname(file)) || trees.some((tree) => isInside(tree, file))

/** True if a folder outside of the root is used by it. */
export const isUsedFolder = ({ trees, flat }: Reach, folder: string): boolean =>
  flat.includes(folder) || trees.some((tree) => isInside(tree, folder))

/**
 * Returns the real path of an existing entry that tools may read: in the root, behind a link of the root, or used by
 * the root. Null when there is none.
 * @throws `ToolError` for absolute paths, for hidden files, and for what is not used
 */
export async function resolveReadablePath(enclosure: Enclosure, path: string): Promise<string | null> {
  const { root, paths } = enclosure
  const clone = await realClone(enclosure)
  assertForm(path)
  const within = slashed(relative(clone, root))
  const lexical = joinPath(within, path)
  if (lexical === null) throw outsideError(path)
  assertVisible(paths, path, lexical)
  const isBelow = within === '' || lexical === within || lexical.startsWith(`${within}/`)
  const target = await realpath(join(clone, lexical)).catch(nullIfUnreadable)
  if (target === null && isBelow) return null
  if (target !== null && isInside(root, target)) {
    assertVisible(paths, path, slashed(relative(clone, target)))
    return target
  }
  // What is not used is refused in the same way whether it exists or not.
  const real = target ?? join(clone, lexical)
  if (!isInside(clone, real)) throw outsideError(path)
  assertVisible(paths, path, slashed(relative(clone, real)))
  if (isKeyFile(basename(real))) throw new ToolError(`Path '${path}' is not accessible`)
  if (isBelow && (await isBehindLink(root, join(clone, lexical)))) return target
  const reach = await findReach(enclosure)
  const isUsedHere = target !== null && (await isFolder(target)) ? isUsedFolder : isUsed
  if (!isUsedHere(reach, real)) throw new ToolError(describeUnused(enclosure, path, reach))
  return target
}

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(nullIfUnreadable))?.isDirectory() ?? false

/** True if a path below the root leads out of it by a link, unless the link leads to a folder around the root. */
async function isBehindLink(root: string, path: string): Promise<boolean> {
  let [link, outside] = [path, await realpath(path).catch(() => root)]
  for (let real = outside; !isInside(root, real); real = await realpath(link).catch(() => root)) {
    outside = real
    link = dirname(link)
  }
  return !isInside(outside, root)
}

const MAX_NAMED = 20

function describeUnused({ root }: Enclosure, path: string, { trees, flat, files }: Reach): string {
  const names = [...trees, ...flat].map((folder) => `${slashed(relative(root, folder))}/`)
  const all = [...names, ...[...files].map((file) => slashed(relative(root, file)))]
  const more = all.length > MAX_NAMED ? ` and ${all.length - MAX_NAMED} more` : ''
  const used = all.length > 0 ? ` It uses: ${all.slice(0, MAX_NAMED).join(', ')}${more}.` : ''
  return (
    `Path '${path}' is outside of the workspace and the code of the workspace does not use it. Outside, only ` +
    `modules, files and links that the code refers to can be read.${used}`
  )
}
