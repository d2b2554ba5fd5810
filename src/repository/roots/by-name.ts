import { createSlices, type Slices } from '../../base/slices.ts'

/** Code files; OpenTofu also reads `.tofu` files. */
const CODE = /\.(?:tf|tofu)$/
const MARKER = /^(?:main|providers?|backend|terraform|versions)\.(?:tf|tofu)$/
const NEVER_ROOTS = new Set(['modules', 'examples', 'example', '.terraform'])
const VARIABLE_SUFFIXES = ['.tfvars', '.tfvars.json']

/** Limits of the answer: directories, and characters of their paths together. */
const MAX_DIRECTORIES = 20_000
const MAX_CHARACTERS = 2 * 1024 * 1024

/**
 * Selects the directories with root modules by file names. A directory with code is a root when it has a marker file
 * like `main.tf`, or when no directory above it is a root and none below it has code.
 * @param files POSIX paths relative to the repository root
 * @returns sorted by code point, the repository root as `.`
 * Errors: a plain one when too many directories have code; the reason of the slices' signal.
 */
export async function selectRootModules(files: readonly string[], slices = createSlices()): Promise<string[]> {
  const found = await findDirectories(files, slices)
  const candidates = [...found.candidates]
  const characters = candidates.reduce((sum, { length }) => sum + length, 0)
  if (candidates.length > MAX_DIRECTORIES || characters > MAX_CHARACTERS)
    throw new Error(`more than ${MAX_DIRECTORIES} directories of the repository hold engine files`)
  const marked = new Set(candidates.filter((directory) => found.marked.has(directory)))
  const above = await findAbove(candidates, marked, slices)
  const roots = candidates.filter(
    (directory) => marked.has(directory) || !(above.parents.has(directory) || above.insideRoot.get(directory)),
  )
  return await sortByCodePoint(roots, slices)
}

/** Returns the directories with code, which are candidates, and the directories with a marker. */
async function findDirectories(files: readonly string[], slices: Slices) {
  const [engine, candidates, marked] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const [index, file] of files.entries()) {
    const slash = file.lastIndexOf('/')
    const directory = slash < 0 ? '.' : file.slice(0, slash)
    const name = file.slice(slash + 1)
    if (CODE.test(name) && !engine.has(directory)) {
      engine.add(directory)
      if (!directory.split('/').some((segment) => NEVER_ROOTS.has(segment))) candidates.add(directory)
    }
    if (MARKER.test(name) || VARIABLE_SUFFIXES.some((suffix) => name.endsWith(suffix))) marked.add(directory)
    if (index % 1_024 === 0 && slices.due()) await slices.pause()
  }
  return { candidates, marked }
}

/** Returns directories above candidates and candidates below a marked directory, except for the repository root. */
async function findAbove(candidates: readonly string[], marked: ReadonlySet<string>, slices: Slices) {
  const parents = new Set<string>()
  const insideRoot = new Map<string, boolean>()
  for (const candidate of candidates) {
    const path = [candidate]
    for (let next = parentOf(candidate); next !== null && !insideRoot.has(next); next = parentOf(next)) path.push(next)
    for (let directory = path.pop(); directory !== undefined; directory = path.pop()) {
      const parent = parentOf(directory)
      insideRoot.set(directory, parent !== null && (marked.has(parent) || insideRoot.get(parent) === true))
      if (parent !== null) parents.add(parent)
    }
    if (slices.due()) await slices.pause()
  }
  return { parents, insideRoot }
}

function parentOf(directory: string): string | null {
  const slash = directory.lastIndexOf('/')
  return slash < 0 ? null : directory.slice(0, slash)
}

/** Sorts by code point; the default order of UTF-16 units differs above U+FFFF. */
export async function sortByCodePoint(texts: readonly string[], slices: Slices): Promise<string[]> {
  const keyed: { text: string; key: string }[] = []
  for (const text of texts) {
    keyed.push({ text, key: text.replaceAll(/[\ud800-\uffff]/g, shiftUnit) })
    if (slices.due()) await slices.pause()
  }
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ text }) => text)
}

/** Moves surrogates after all other units, and the others into their place. */
function shiftUnit(unit: string): string {
  const code = unit.charCodeAt(0)
  return String.fromCharCode(code < 0xe000 ? code + 0x2000 : code - 0x800)
}
