/** The engine by which files are chosen; null when it is not known, so that every file counts that one of them reads. */
export type EngineKind = 'terraform' | 'opentofu' | null

/** Returns the kind of an engine from the name that the iac service tells. */
export function engineKindOf(name: string | undefined): EngineKind {
  if (name === undefined) return null
  return /tofu/i.test(name) ? 'opentofu' : 'terraform'
}

const CODE = /\.(?:tf|tofu)(\.json)?$/
const OPENTOFU_ONLY = /\.tofu(?:\.json)?$/

/** Reports whether a name is one of code for either engine. */
export const isEngineCode = (name: string): boolean => CODE.test(name)

/** Reports whether OpenTofu alone reads a file of this name. */
export const isForOpenTofu = (name: string): boolean => OPENTOFU_ONLY.test(name)

/**
 * Selects the files of a folder that an engine loads. Source: `IsIgnoredFile` and `dirFiles` of Terraform and OpenTofu;
 * OpenTofu leaves out `a.tf` beside `a.tofu`.
 * @param names of the folder's files and links
 */
export function loadedNames(names: readonly string[], engine: EngineKind): string[] {
  const present = new Set(names)
  return names.filter((name) => {
    if (!isEngineCode(name) || name.startsWith('.') || (name.startsWith('#') && name.endsWith('#'))) return false
    if (engine === 'terraform') return !isForOpenTofu(name)
    return engine === null || isForOpenTofu(name) || !present.has(name.replace(/\.tf(\.json)?$/, '.tofu$1'))
  })
}
