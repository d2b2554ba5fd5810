import { addressIn } from '../../hcl/read.ts'
import { type CodeBlock, type CodeValue, isCodePath } from './blocks.ts'
import {
  type Changed,
  type FileVersions,
  findChangedBlocks,
  isSound,
  type PlacedBlock,
  pathOf,
  presentBlocks,
} from './compare.ts'
import { type CodeFile, callOf, folderOf, modulePaths, within } from './modules.ts'
import { traceUsers } from './traced.ts'
import { isLoadedByItself, isVariableFile, readVariableChanges } from './variable-files.ts'

/** The code changes of a session as engine addresses. */
export interface CodeChanges {
  /** Targets of a plan: changed blocks of the root and modules with changes. */
  blocks: ChangedBlock[]
  /** Both sides of each `moved` block that the session added. */
  moved: string[]
  /** Addresses in `moved`, `removed` and `import` blocks, which no block has to declare. */
  mentioned: string[]
  /** Changed files of code that were not read, so that any block may have changed. */
  unread: string[]
  /** Unchanged blocks, in the form of `address` below, that use a changed value; empty unless `isComplete`. */
  users: string[]
  /** True if `blocks`, `moved` and `users` are all that the changes affect, what depends on them apart. */
  isComplete: boolean
  /** True if the session wrote every resource, module call and output of the root. */
  isNew: boolean
  /** Equal for two states of the code with the same changed addresses. */
  fingerprint: string
}

export interface ChangedBlock {
  /** `type.name` or `module.name` in the root, `module.name` for anything inside a module. */
  address: string
  /** Address of the block itself when it is in a module. */
  exact: string
}

/**
 * Compares the code with its state before the changes, block by block; comments, layout and the file do not count.
 * @param files the present code, also of unchanged files
 */
export function readCodeChanges(versions: readonly FileVersions[], files: readonly CodeFile[]): CodeChanges {
  const present = presentBlocks(versions, files)
  const now = Map.groupBy(present, ({ folder }) => folder)
  const calls = [...now].flatMap(([folder, blocks]) =>
    blocks.filter(({ kind }) => kind === 'module').map((block) => callOf(folder, block)),
  )
  const paths = modulePaths(calls)
  const changed = findChangedBlocks(versions)
  const addressed = changed.flatMap((block) => addressesOf(block, paths))
  const others = changedModuleFiles(versions, paths)
  const added = changed.filter(({ kind, isPresent }) => kind === 'moved' && isPresent)
  const mentioned = [...now].flatMap(([folder, blocks]) => blocks.flatMap((block) => sidesOf(block, folder, paths)))
  const unread = versions.filter((one) => one.unread !== null && isCodePath(pathOf(one))).map(pathOf)
  const blocks = [...new Map([...addressed, ...others].map((block) => [block.exact, block])).values()]
  const moved = [...new Set(added.flatMap((block) => sidesOf(block, block.folder, paths)))]
  const isRead = versions.every((version) => isReadable(version, paths))
  const known = [...blocks.map(({ address }) => address), ...moved]
  const variables = readVariableChanges(versions.filter((one) => isLoadedByItself(pathOf(one)))).names
  const users = isRead ? traceUsers({ changed, present, calls, paths, known, variables }) : null
  return {
    blocks,
    moved,
    users: users ?? [],
    mentioned: [...new Set(mentioned)],
    unread,
    isComplete: users !== null,
    isNew: isRead && isNewRoot(changed, now.get('') ?? []),
    fingerprint: [
      ...changed.map(({ folder, name }) => `${folder}:${name}`),
      ...others.map(({ address }) => address),
      ...calls.map((call) => JSON.stringify(call)),
      ...[...versions.map(pathOf).filter(isVariableFile), ...unread],
    ]
      .sort()
      .join('\n'),
  }
}

/** Files that affect no object by themselves; the lock file is written by the engine. */
const WITHOUT_EFFECT = /(?:\.md|(?:^|\/)\.terraform\.lock\.hcl)$/i

/** Reports whether the blocks say all that differs between two versions of a file. */
function isReadable(version: FileVersions, paths: ReadonlyMap<string, string[]>): boolean {
  const path = pathOf(version)
  if (WITHOUT_EFFECT.test(path)) return true
  if (version.unread !== null) return false
  // One engine takes such a file in place of another one.
  if (/\.tofu(?:\.json)?$/.test(path)) return false
  if (isCodePath(path)) return isSound(version)
  // A file in a called module stands for the module.
  return isVariableFile(path) || moduleFolder(folderOf(path), paths) !== ''
}

/** Kinds of blocks of a root that say what there is; others configure it or compute values. */
const OBJECTS: ReadonlySet<string> = new Set(['resource', 'module', 'output', 'moved', 'removed', 'import'])

function isNewRoot(changed: readonly Changed[], root: readonly PlacedBlock[]): boolean {
  const inRoot = changed.filter(({ folder, kind }) => folder === '' && OBJECTS.has(kind))
  const added = new Set(inRoot.filter(({ before }) => before === null).map(nameOf))
  const objects = root.filter(({ kind }) => OBJECTS.has(kind))
  const isAdded = (block: PlacedBlock) => added.has(nameOf(block)) && DECLARING.has(block.kind)
  return objects.length > 0 && inRoot.every(({ before }) => before === null) && objects.every(isAdded)
}

const DECLARING: ReadonlySet<string> = new Set(['resource', 'module', 'output'])

const nameOf = ({ kind, labels }: CodeBlock): string => [kind, ...labels].join(' ')

/** Kinds whose changes affect only their own module. */
const INSIDE = new Set(['local', 'variable', 'data'])

/** Returns the addresses to plan for a changed block; uses of the root's values are not traced. */
function addressesOf(block: Changed, paths: ReadonlyMap<string, string[]>): ChangedBlock[] {
  const local = localAddress(block)
  return (paths.get(block.folder) ?? []).flatMap((module): ChangedBlock[] => {
    if (local !== null && module === '') return [{ address: local, exact: local }]
    if (local !== null) return [{ address: module, exact: within(module, local) }]
    return module !== '' && INSIDE.has(block.kind) ? [{ address: module, exact: module }] : []
  })
}

const addressOf = (value: CodeValue | undefined): string | null => addressIn(value?.code ?? '')

function localAddress({ kind, labels: [first = '', second = ''], arguments: given, isPresent }: Changed) {
  if (kind === 'resource') return `${first}.${second}`
  if (kind === 'module') return `module.${first}`
  const refers = isPresent && (kind === 'removed' || kind === 'import')
  return refers ? addressOf(given.get(kind === 'removed' ? 'from' : 'to')) : null
}

/** Returns the addresses in a `moved`, `removed` or `import` block, as seen from the root. */
function sidesOf({ kind, arguments: given }: CodeBlock, folder: string, paths: ReadonlyMap<string, string[]>) {
  if (kind !== 'moved' && kind !== 'removed' && kind !== 'import') return []
  const sides = ['from', 'to'].flatMap((name) => addressOf(given.get(name)) ?? [])
  return (paths.get(folder) ?? []).flatMap((module) => sides.map((side) => within(module, side)))
}

/** Returns the modules with a changed file that is not code, such as a template; documentation does not count. */
function changedModuleFiles(versions: readonly FileVersions[], paths: ReadonlyMap<string, string[]>): ChangedBlock[] {
  const changed = versions.flatMap(({ from, to }) => [from, to]).filter((path) => path !== null)
  return [...new Set(changed)]
    .filter((path) => !isCodePath(path) && !/\.(tfvars|md)$/i.test(path))
    .flatMap((path) => paths.get(moduleFolder(folderOf(path), paths)) ?? [])
    .filter((module) => module !== '')
    .map((module) => ({ address: module, exact: module }))
}

/** Returns the folder of the nearest called module that contains a folder. */
function moduleFolder(folder: string, paths: ReadonlyMap<string, string[]>): string {
  const parts = folder.split('/')
  while (parts.length > 0 && !paths.has(parts.join('/'))) parts.pop()
  return parts.join('/')
}
