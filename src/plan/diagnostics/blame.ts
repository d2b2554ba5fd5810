import { type CodeBlock, isCodePath, providersOf } from '../code/blocks.ts'
import {
  earlierBlocks,
  type FileVersions,
  findChangedBlocks,
  type PlacedBlock,
  pathOf,
  presentBlocks,
} from '../code/compare.ts'
import type { CodeFile } from '../code/modules.ts'
import { readVariableChanges } from '../code/variable-files.ts'

/** A module that could not be fetched. */
export interface FailedModule {
  /** The module call in the repository through which it is needed. */
  name: string
  /** Where it is called, such as `main.tf:3`. */
  place: string
  /** Its address; that of the registry for a module of one. */
  address: string
}

/** The failures that the session's changes of the code may have caused. */
export interface Blame {
  /** True if settings of a provider or backend changed, or what they refer to. */
  settings: boolean
  /** True if the code before had a resource, data source or module. */
  hadObjects: boolean
  /** Reports whether the session introduced the call of a module or its source, and has not merely moved it. */
  introducesModule(module: FailedModule): boolean
  /** Reports whether the session introduced this provider, for example `hashicorp/random`. */
  introduces(provider: string): boolean
}

/**
 * Reads what the changes may have caused. A file of code that was not read may have changed anything.
 * @param files the present code, also of unchanged files
 */
export function blameOf(versions: readonly FileVersions[], files: readonly CodeFile[]): Blame {
  const changed = findChangedBlocks(versions)
  const before = earlierBlocks(versions, files)
  const isUnread = versions.some((one) => one.unread !== null && isCodePath(pathOf(one)))
  const written = changed.filter(({ isPresent }) => isPresent)
  const sourcesBefore = new Set(before.flatMap((block) => sourceOf(block) ?? []))
  return {
    settings:
      isUnread ||
      changed.some((block) => SETTINGS.has(block.kind) || providerOf(block) !== providerOf(block.before)) ||
      refersTo(presentBlocks(versions, files), [
        ...changed.map(({ folder, ...block }) => `${folder}:${referenceTo(block)}`),
        ...[...readVariableChanges(versions).names].map((name) => `:var.${name}`),
      ]),
    hadObjects: before.some(({ kind }) => OBJECTS.has(kind)),
    introducesModule: ({ name, address }) => {
      const source = bareSource(address)
      return written.some(
        (block) =>
          (block.kind === 'module' && block.labels[0] === name && block.before === null) ||
          (sourceOf(block) === source && !sourcesBefore.has(source)),
      )
    },
    introduces: (provider) => {
      const name = provider.split('/').at(-1) ?? ''
      const has = (block: CodeBlock) => providersOf(block).includes(name)
      return (isUnread || written.some(has)) && !before.some(has)
    },
  }
}

const SETTINGS = new Set(['provider', 'terraform'])
const OBJECTS = new Set(['resource', 'data', 'module', 'ephemeral'])

/** Returns the configuration of a provider that a block names, or those that it passes to a module. */
function providerOf(block: CodeBlock | null): string {
  const named = block?.arguments.get('provider') ?? block?.arguments.get('providers')
  return named?.code.trim() ?? ''
}

/** Returns a block's name in references, such as `var.size`. */
function referenceTo({ kind, labels }: Pick<CodeBlock, 'kind' | 'labels'>): string {
  if (kind === 'resource') return labels.join('.')
  return [kind === 'variable' ? 'var' : kind, ...labels].join('.')
}

/** Reports whether settings refer to one of these blocks, given as `folder:name`, directly or through others. */
function refersTo(present: readonly PlacedBlock[], names: readonly string[]): boolean {
  const wanted = new Set(names)
  const byName = Map.groupBy(present, (block) => `${block.folder}:${referenceTo(block)}`)
  const seen = new Set<string>()
  const pending = present.filter(({ kind }) => SETTINGS.has(kind))
  for (let next = pending.pop(); next !== undefined; next = pending.pop())
    for (const parts of next.references()) {
      const name = `${next.folder}:${parts.slice(0, parts[0] === 'data' || parts[0] === 'ephemeral' ? 3 : 2).join('.')}`
      if (wanted.has(name)) return true
      if (seen.has(name)) continue
      seen.add(name)
      pending.push(...(byName.get(name) ?? []))
    }
  return false
}

/** Returns the source of a module that a block calls; null for none. */
function sourceOf({ kind, arguments: given }: CodeBlock): string | null {
  const source = kind === 'module' ? given.get('source')?.text : null
  return source == null ? null : bareSource(source)
}

/** Reduces the spellings of one source to one: `git@host:a/b.git` and `git::https://host/a/b//sub` are the same. */
const bareSource = (source: string): string =>
  source
    .toLowerCase()
    .replace(/^(?:\w+::)?(?:[a-z+]+:\/\/)?(?:[^@/]*@)?/, '')
    .replace(':', '/')
    .replace(/\/\/[^?]*/, '')
    .replace(/\.git(?=\?|$)/, '')
