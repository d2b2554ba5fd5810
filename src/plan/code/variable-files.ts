/** Files with values of variables, which stand for environments, and what a diff changes about variables. */

const NAME = '[A-Za-z_][\\w-]*'
const DECLARATION = new RegExp(`^variable\\s+"(${NAME})"`)
const ASSIGNMENT = new RegExp(`^\\s*"?(${NAME})"?\\s*[=:]`)

export const isVariableFile = (path: string): boolean => /\.tfvars(?:\.json)?$/.test(path)

/** Whether the engine reads a file of values by itself: `terraform.tfvars` and `*.auto.tfvars` of the root. */
export const isLoadedByItself = (path: string): boolean =>
  !path.includes('/') && /^(?:terraform|.*\.auto)\.tfvars(?:\.json)?$/.test(path)

/** What a diff changes. */
export interface VariableChanges {
  /** Paths of the files of values that it changes. */
  files: ReadonlySet<string>
  /** Names of the variables whose declaration changes, or whose value in any file of values. */
  names: ReadonlySet<string>
  /** What a file of values said before, as it was written there, by path and name; values of one line alone. */
  before: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** Reads from a diff, in the form that git writes without prefixes, which variables it changes. */
export function readVariableChanges(diff: string): VariableChanges {
  const files = new Set<string>()
  const names = new Set<string>()
  const before = new Map<string, Map<string, string>>()
  let path = ''
  let declared: string | null = null
  for (const line of diff.split('\n')) {
    const header = /^(?:\+\+\+|---) (.+)$/.exec(line)?.[1]
    if (header !== undefined) {
      if (header !== '/dev/null') path = header
      declared = null
      continue
    }
    const hunk = /^@@ [^@]*@@ ?(.*)$/.exec(line)?.[1]
    if (hunk !== undefined) {
      declared = DECLARATION.exec(hunk)?.[1] ?? null
      continue
    }
    const isChange = /^[+-]/.test(line)
    const text = line.slice(1)
    if (isVariableFile(path)) {
      if (isChange) files.add(path)
      const assigned = isChange ? ASSIGNMENT.exec(text)?.[1] : undefined
      if (assigned !== undefined) names.add(assigned)
      if (assigned !== undefined && line.startsWith('-')) {
        const values = before.get(path) ?? new Map<string, string>()
        before.set(path, values.set(assigned, text.replace(ASSIGNMENT, '').trim().replace(/,$/, '')))
      }
      continue
    }
    declared = DECLARATION.exec(text)?.[1] ?? declared
    if (isChange && declared !== null) names.add(declared)
    if (text.startsWith('}')) declared = null
  }
  return { files, names, before }
}

/** The variables among `names` that a file of values sets. */
export const variablesSetIn = (text: string, names: ReadonlySet<string>): string[] =>
  [...new Set(text.split('\n').flatMap((line) => ASSIGNMENT.exec(line)?.[1] ?? []))].filter((name) => names.has(name))

/** The engine reads such files in the order of their names, and `~` comes after every letter. */
const MAX_MARKS = 9

/** Name under which the engine reads a copy of a file of values by itself, after the other ones of its folder. */
export function lastLoadedName(path: string, present: readonly string[]): string {
  const base = `environment.auto.tfvars${path.endsWith('.json') ? '.json' : ''}`
  const names = Array.from({ length: MAX_MARKS }, (_, index) => '~'.repeat(index + 1) + base)
  return names.find((name) => present.every((other) => other < name)) ?? `${'~'.repeat(MAX_MARKS)}${base}`
}
