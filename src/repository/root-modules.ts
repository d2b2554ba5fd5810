const MARKERS = new Set(['main.tf', 'provider.tf', 'providers.tf', 'backend.tf', 'terraform.tf', 'versions.tf'])
const NEVER_ROOTS = new Set(['modules', 'examples', 'example', '.terraform'])

/**
 * Directories that hold engine root modules, judged by file names alone.
 * @param files POSIX paths relative to the repository root
 * @returns sorted by code point, the repository root as `.`
 */
export function rootModules(files: readonly string[]): string[] {
  const names = groupByDirectory(files)
  const candidates = [...names.keys()].filter((directory) => isCandidate(directory, names.get(directory) ?? []))
  const marked = new Set(candidates.filter((directory) => (names.get(directory) ?? []).some(isMarker)))
  const holders = new Set(candidates.flatMap(ancestors))
  const roots = new Set(marked)
  for (const directory of candidates) {
    const inside_root = ancestors(directory).some((ancestor) => marked.has(ancestor))
    if (!holders.has(directory) && !inside_root) roots.add(directory)
  }
  return [...roots].sort(byCodePoint)
}

function groupByDirectory(files: readonly string[]): Map<string, string[]> {
  const directories = new Map<string, string[]>()
  for (const file of files) {
    const slash = file.lastIndexOf('/')
    const directory = slash < 0 ? '.' : file.slice(0, slash)
    const names = directories.get(directory)
    if (names) names.push(file.slice(slash + 1))
    else directories.set(directory, [file.slice(slash + 1)])
  }
  return directories
}

/** Directories above, nearest last; the repository root counts for none. */
function ancestors(directory: string): string[] {
  const segments = directory.split('/')
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'))
}

const isCandidate = (directory: string, names: string[]): boolean =>
  names.some((name) => name.endsWith('.tf')) && !directory.split('/').some((segment) => NEVER_ROOTS.has(segment))

const isMarker = (name: string): boolean =>
  MARKERS.has(name) || name.endsWith('.tfvars') || name.endsWith('.tfvars.json')

/** The default order compares UTF-16 units, which differs above the basic plane. */
function byCodePoint(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)]
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
