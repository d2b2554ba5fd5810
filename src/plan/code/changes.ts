import { addressIn } from '../../hcl/read.ts'
import { type CodeBlock, type CodeValue, isCodePath } from './blocks.ts'
import { type Changed, type FileVersions, findChangedBlocks, pathOf, presentBlocks } from './compare.ts'
import { type CodeFile, callOf, folderOf, modulePaths, within } from './modules.ts'
import { isVariableFile } from './variable-files.ts'

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
  const now = Map.groupBy(presentBlocks(versions, files), ({ folder }) => folder)
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
  return {
    blocks: [...new Map([...addressed, ...others].map((block) => [block.exact, block])).values()],
    moved: [...new Set(added.flatMap((block) => sidesOf(block, block.folder, paths)))],
    mentioned: [...new Set(mentioned)],
    unread,
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
