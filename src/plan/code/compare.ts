import { type CodeBlock, isCodePath, readBlocks } from './blocks.ts'
import { type CodeFile, folderOf } from './modules.ts'

/** A changed file before and after a change. Paths are relative to the engine root, with slashes. */
export interface FileVersions {
  /** Earlier path; null for a new file. */
  from: string | null
  /** Present path; null for a removed file. */
  to: string | null
  /** Whole texts; null where there is no file, and both null when they were not read. */
  before: string | null
  after: string | null
  /** Why the texts were not read, so that anything in them may have changed; null when they were. */
  unread: string | null
}

/** A changed file as text for a model or a person. Nothing is decided from it, because it may be cut. */
export interface FileDiff {
  /** Relative to the engine root, with slashes. */
  path: string
  change: 'new' | 'changed' | 'renamed' | 'deleted'
  /** Text of a new file, else the hunks of the diff, or why they are not shown; empty when only the name changed. */
  text: string
}

export const pathOf = ({ from, to }: Pick<FileVersions, 'from' | 'to'>): string => to ?? from ?? ''

/** A block, and the folder of its file. */
export interface PlacedBlock extends CodeBlock {
  folder: string
}

/** Returns the blocks of the present code: of changed files as the versions have them, of others as given. */
export function presentBlocks(versions: readonly FileVersions[], files: readonly CodeFile[]): PlacedBlock[] {
  const changed = new Map(versions.flatMap(({ to, after }) => (to === null || after === null ? [] : [[to, after]])))
  const paths = [...new Set([...files.map(({ path }) => path), ...changed.keys()])].filter(isCodePath).sort()
  const given = new Map(files.map(({ path, text }) => [path, text]))
  return paths.flatMap((path) => placedBlocks(path, changed.get(path) ?? given.get(path) ?? ''))
}

const placedBlocks = (path: string, text: string): PlacedBlock[] =>
  readBlocks(path, text).blocks.map((block) => ({ ...block, folder: folderOf(path) }))

/** Returns the blocks of the code before the changes. */
export function earlierBlocks(versions: readonly FileVersions[], files: readonly CodeFile[]): PlacedBlock[] {
  const changed = new Set(versions.flatMap(({ from, to }) => [from, to]))
  const kept = files.filter(({ path }) => !changed.has(path) && isCodePath(path))
  const before = versions.flatMap(({ from, before }) =>
    from !== null && before !== null && isCodePath(from) ? [{ path: from, text: before }] : [],
  )
  return [...kept, ...before].flatMap(({ path, text }) => placedBlocks(path, text))
}

/** A block that was added, changed or removed; a removed one as it was. */
export interface Changed extends PlacedBlock {
  path: string
  /** Kind and labels; the meaning for blocks without labels. */
  name: string
  isPresent: boolean
  /** The block before the change; null for an added one. */
  before: CodeBlock | null
}

/**
 * Returns the blocks that differ from their state before the changes, comments, layout and the file apart. Every block
 * of a file with syntax errors counts as changed.
 */
export function findChangedBlocks(versions: readonly FileVersions[]): Changed[] {
  const before = nameBlocks(versions.map(({ from, before }) => ({ path: from, text: before })))
  const after = nameBlocks(versions.map(({ to, after }) => ({ path: to, text: after })))
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [was, is] = [before.get(key), after.get(key)]
    const known = is ?? was
    const isEqual = was && is && was.isSound && is.isSound && was.meaning === is.meaning
    if (!known || isEqual) return []
    const { block, path, name } = known
    return [{ ...block, folder: folderOf(path), path, name, isPresent: is !== undefined, before: was?.block ?? null }]
  })
}

/** Reports whether both versions of a file of code have no syntax errors, so that all of their blocks are known. */
export const isSound = ({ from, before, to, after }: FileVersions): boolean =>
  [
    [from, before],
    [to, after],
  ].every(([path, text]) => path === null || text === null || readBlocks(path as string, text as string).isSound)

interface Named {
  block: CodeBlock
  name: string
  path: string
  /** That of all blocks of the name, such as overrides. */
  meaning: string
  isSound: boolean
}

/** Indexes the blocks of files by folder and name. */
function nameBlocks(files: readonly { path: string | null; text: string | null }[]): Map<string, Named> {
  const named = new Map<string, Named>()
  for (const { path, text } of files.toSorted((a, b) => ((a.path ?? '') < (b.path ?? '') ? -1 : 1))) {
    if (path === null || text === null || !isCodePath(path)) continue
    const { blocks, isSound } = readBlocks(path, text)
    for (const block of blocks) {
      const { kind, labels } = block
      const meaning = block.meaning()
      const name = [kind, ...(labels.length > 0 ? labels : [meaning])].join(' ')
      const key = `${folderOf(path)}\0${name}`
      const known = named.get(key)
      named.set(key, {
        block,
        name,
        path,
        meaning: `${known?.meaning ?? ''}${meaning}\0`,
        isSound: isSound && (known?.isSound ?? true),
      })
    }
  }
  return named
}
