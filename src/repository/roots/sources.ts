import { joinPath } from '../../base/text.ts'

/** The repository in which sources are resolved. */
interface SourceContext {
  /** Last part of its address, without `.git`, in lower case. */
  name: string
  /** Paths of its folders with code, `.` for the root of the repository. */
  folders: ReadonlyMap<string, unknown>
}

/**
 * Resolves the source of a called module to a folder of the same repository.
 * @param source as written; an expression with its quotes
 * @param folder where the call stands
 * @returns the path of the folder; null for a module elsewhere and a folder without code
 */
export function resolveSource(source: string, folder: string, context: SourceContext): string | null {
  // Terragrunt reads a relative path after `git::` too.
  const plain = source.replace(/^git::(?=\.)/, '').replace(/\?.*$/s, '')
  if (plain.includes('${')) return resolveRest(plain, context)
  // Before version 0.12, a local path needed no `./`.
  const within = /^\.\.?(?:\/|$)/.test(plain) ? null : pathWithin(plain, context.name)
  const found = within ?? joinPath(folder, plain)
  const path = found === '' ? '.' : found
  return path !== null && context.folders.has(path) ? path : null
}

/** Resolves what follows the last template of an expression: to that folder, or to the only one that ends so. */
function resolveRest(source: string, { folders }: SourceContext): string | null {
  const rest = joinPath('', source.slice(source.lastIndexOf('}') + 1).replace(/^(?:\.|\/)+|"$/g, ''))
  if (!rest) return null
  if (folders.has(rest)) return rest
  let only: string | null = null
  for (const folder of folders.keys()) {
    if (!folder.endsWith(`/${rest}`)) continue
    if (only !== null) return null
    only = folder
  }
  return only
}

/** Returns the path that a git or registry source names within the repository of this name; null for another one. */
function pathWithin(source: string, name: string): string | null {
  const start = source.indexOf('://') + 1
  const split = source.indexOf('//', start === 0 ? 0 : start + 2)
  const address = split < 0 ? source : source.slice(0, split)
  const parts = address
    .toLowerCase()
    .replace(/\.git$/, '')
    .split(/[/:]/)
  const [module, provider] = parts.slice(-2)
  const isOwn = parts.length > 2 && (provider === name || `terraform-${provider}-${module}` === name)
  return isOwn ? joinPath('', split < 0 ? '' : source.slice(split)) : null
}
