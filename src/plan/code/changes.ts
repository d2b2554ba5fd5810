import { NAME } from '../../hcl/scanner.ts'
import { withoutIndexes } from '../addresses.ts'
import { type CodeBlock, type CodeFile, callOf, folderOf, modulePaths, readCodeBlocks, within } from './modules.ts'
import { type FilePatch, parseDiff, textBefore } from './patch.ts'

/** The code changes of a session as engine addresses. */
export interface CodeChanges {
  /** Targets of a plan: changed blocks of the root and modules with changes. */
  blocks: ChangedBlock[]
  /** Both sides of each `moved` block that the session added. */
  moved: string[]
  /** Addresses in `moved`, `removed` and `import` blocks, which no block has to declare. */
  mentioned: string[]
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
 * Compares the code with its state before the diff, block by block; comments, layout and the file do not count.
 * @param diff of the whole session
 * @param files the current code
 */
export function readCodeChanges(diff: string, files: readonly CodeFile[]): CodeChanges {
  const patches = parseDiff(diff)
  const now = blocksByFolder(files)
  const calls = [...now].flatMap(([folder, blocks]) =>
    blocks.filter(({ kind }) => kind === 'module').map((block) => callOf(folder, block)),
  )
  const paths = modulePaths(calls)
  const changed = changedBlocks(patches, files)
  const addressed = changed.flatMap((block) => addressesOf(block, paths))
  const others = changedModuleFiles(patches, paths)
  const added = changed.filter(({ kind, isPresent }) => kind === 'moved' && isPresent)
  const mentioned = [...now].flatMap(([folder, blocks]) => blocks.flatMap((block) => sidesOf(block, folder, paths)))
  return {
    blocks: [...new Map([...addressed, ...others].map((block) => [block.exact, block])).values()],
    moved: [...new Set(added.flatMap((block) => sidesOf(block, block.folder, paths)))],
    mentioned: [...new Set(mentioned)],
    fingerprint: [
      ...changed.map(({ folder, name }) => `${folder}:${name}`),
      ...others.map(({ address }) => address),
      ...calls.map((call) => JSON.stringify(call)),
      ...patches.flatMap(({ from, to }) => (/\.tfvars$/.test(to ?? from ?? '') ? [`${to ?? from}`] : [])),
    ]
      .sort()
      .join('\n'),
  }
}

/** Returns the blocks that a diff adds, changes or removes, comments and layout apart. */
export const findChangedBlocks = (diff: string, files: readonly CodeFile[]): Changed[] =>
  changedBlocks(parseDiff(diff), files)

/** A block that differs from its state before a diff. */
export interface Changed extends CodeBlock {
  folder: string
  /** Kind and labels; the text for blocks without labels. */
  name: string
  isPresent: boolean
}

type Blocks = Map<string, CodeBlock[]>

function blocksByFolder(files: readonly CodeFile[]): Blocks {
  const folders: Blocks = new Map()
  for (const { path, text } of files)
    folders.set(folderOf(path), [...(folders.get(folderOf(path)) ?? []), ...readCodeBlocks(text)])
  return folders
}

const isCode = (path: string | null): path is string => /\.(?:tf|tofu)$/.test(path ?? '')

/** Returns the added, changed and removed blocks in the files of the diff, by folder. */
function changedBlocks(patches: readonly FilePatch[], files: readonly CodeFile[]): Changed[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const known = patches.filter(({ to }) => !isCode(to) || texts.has(to))
  const present = (patch: FilePatch) => (isCode(patch.to) ? (texts.get(patch.to) ?? '') : '').replaceAll('\r\n', '\n')
  const before = blocksByFolder(
    known.flatMap((patch) =>
      isCode(patch.from) ? [{ path: patch.from, text: textBefore(patch, present(patch)) }] : [],
    ),
  )
  const after = blocksByFolder(
    known.flatMap((patch) => (isCode(patch.to) ? [{ path: patch.to, text: present(patch) }] : [])),
  )
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((folder) => {
    const [old, fresh] = [nameBlocks(before.get(folder) ?? []), nameBlocks(after.get(folder) ?? [])]
    return [...new Set([...old.keys(), ...fresh.keys()])].flatMap((name) => {
      const [was, is] = [old.get(name), fresh.get(name)]
      const block = is ?? was
      if (!block || was?.text === is?.text) return []
      return [{ ...block.block, folder, name, isPresent: is !== undefined }]
    })
  })
}

/**
 * Indexes blocks by name, with their text without comments and layout. Texts of the same name, such as overrides, are
 * joined; each local is an entry of its own.
 */
function nameBlocks(blocks: readonly CodeBlock[]): Map<string, { block: CodeBlock; text: string }> {
  const named = new Map<string, { block: CodeBlock; text: string }>()
  const add = (name: string, block: CodeBlock, text: string) =>
    named.set(name, { block, text: `${named.get(name)?.text ?? ''}${text}\n` })
  for (const block of blocks) {
    const { kind, labels, body, attributes } = block
    if (kind === 'locals') for (const [name, value] of attributes) add(`local ${name}`, block, value)
    else add([kind, ...(labels.length > 0 ? labels : [body])].join(' '), block, body)
  }
  return named
}

/** Kinds whose changes affect only their own module. */
const INSIDE = new Set(['locals', 'variable', 'data'])

/** Returns the addresses to plan for a changed block; uses of the root's values are not traced. */
function addressesOf(block: Changed, paths: ReadonlyMap<string, string[]>): ChangedBlock[] {
  const local = localAddress(block)
  return (paths.get(block.folder) ?? []).flatMap((module): ChangedBlock[] => {
    if (local !== null && module === '') return [{ address: local, exact: local }]
    if (local !== null) return [{ address: module, exact: within(module, local) }]
    return module !== '' && INSIDE.has(block.kind) ? [{ address: module, exact: module }] : []
  })
}

function localAddress({ kind, labels: [first = '', second = ''], attributes, isPresent }: Changed): string | null {
  if (kind === 'resource') return `${first}.${second}`
  if (kind === 'module') return `module.${first}`
  const refers = isPresent && (kind === 'removed' || kind === 'import')
  return refers ? readReference(attributes.get(kind === 'removed' ? 'from' : 'to')) : null
}

/** Returns the addresses in a `moved`, `removed` or `import` block, as seen from the root. */
function sidesOf({ kind, attributes }: CodeBlock, folder: string, paths: ReadonlyMap<string, string[]>): string[] {
  if (kind !== 'moved' && kind !== 'removed' && kind !== 'import') return []
  const sides = [readReference(attributes.get('from')), readReference(attributes.get('to'))].filter(
    (side) => side !== null,
  )
  return (paths.get(folder) ?? []).flatMap((module) => sides.map((side) => within(module, side)))
}

const ADDRESS = new RegExp(String.raw`^${NAME}(\.${NAME}|\[("(\\.|[^"\\])*"|\d+)\])+$`, 'u')

/** Returns an address in the code without its non-constant indexes, as in the `to` of an import with `for_each`. */
function readReference(expression = ''): string | null {
  const written = expression.replaceAll(/\s+(?=(?:[^"]*"[^"]*")*[^"]*$)/g, '')
  const address = ADDRESS.test(written) ? written : withoutIndexes(written).replaceAll(/\[[^[\]]*\]/g, '')
  return ADDRESS.test(address) ? address : null
}

/** Returns the modules with a changed file that is not code, such as a template; documentation does not count. */
function changedModuleFiles(patches: readonly FilePatch[], paths: ReadonlyMap<string, string[]>): ChangedBlock[] {
  const changed = patches.flatMap(({ from, to }) => [from, to]).filter((path) => path !== null)
  return changed
    .filter((path) => !/\.(tf|tfvars|md)$/i.test(path))
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
