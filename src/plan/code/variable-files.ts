import { isJsonObject, parseJson } from '../../base/json.ts'
import { readHcl, readHeader } from '../../hcl/read.ts'
import { NAME } from '../../hcl/scanner.ts'
import { type Hunk, parseDiff } from './patch.ts'

/** Variable files, one for each environment, and the variables that a diff changes. */

const ASSIGNMENT = new RegExp(`^\\s*"?(${NAME})"?\\s*[=:]`, 'u')

export const isVariableFile = (path: string): boolean => /\.tfvars(?:\.json)?$/.test(path)

/** True if the engine loads a variable file without being asked: `terraform.tfvars` and `*.auto.tfvars` of the root. */
export const isLoadedByItself = (path: string): boolean =>
  !path.includes('/') && /^(?:terraform|.*\.auto)\.tfvars(?:\.json)?$/.test(path)

export interface VariableChanges {
  /** Paths of changed variable files. */
  files: ReadonlySet<string>
  /** Variables whose declaration changes, or whose value changes in any variable file. */
  names: ReadonlySet<string>
  /** Previous single-line values in variable files, as written, by path and name. */
  before: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** Reads the variables that a diff without prefixes changes. */
export function readVariableChanges(diff: string): VariableChanges {
  const files = new Set<string>()
  const names = new Set<string>()
  const before = new Map<string, Map<string, string>>()
  for (const { from, to, hunks } of parseDiff(diff)) {
    const path = to ?? from ?? ''
    if (!isVariableFile(path)) for (const name of hunks.flatMap(changedDeclarations)) names.add(name)
    else if (hunks.length > 0) files.add(path)
    if (!isVariableFile(path)) continue
    for (const line of hunks.flatMap(({ lines }) => lines.filter((one) => !one.startsWith(' ')))) {
      const text = line.slice(1)
      const assigned = ASSIGNMENT.exec(text)?.[1]
      if (assigned === undefined) continue
      names.add(assigned)
      if (line.startsWith('+')) continue
      const values = before.get(path) ?? new Map<string, string>()
      before.set(path, values.set(assigned, text.replace(ASSIGNMENT, '').trim().replace(/,$/, '')))
    }
  }
  return { files, names, before }
}

/** Returns the variables in whose declaration a hunk changes a line. */
function changedDeclarations({ context, lines }: Hunk): string[] {
  const names: string[] = []
  let declared = variableIn(context)
  for (const line of lines) {
    const text = line.slice(1)
    declared = variableIn(text) ?? declared
    if (!line.startsWith(' ') && declared !== null) names.push(declared)
    if (text.startsWith('}')) declared = null
  }
  return names
}

function variableIn(line: string): string | null {
  const { type, labels } = readHeader(line) ?? {}
  return type === 'variable' ? (labels?.[0] ?? null) : null
}

/** Returns the variables among `names` that a variable file sets. */
export const variablesSetIn = (text: string, names: ReadonlySet<string>): string[] =>
  assignedNames(text).filter((name) => names.has(name))

/** Returns the variables that the text of a variable file sets, each once. */
export function assignedNames(text: string): string[] {
  const values = parseJson(text)
  if (values === undefined) return [...new Set(readHcl(text).body.attributes.map(({ name }) => name))]
  return isJsonObject(values) ? Object.keys(values) : []
}

/** The engine loads the files in the order of their names; `~` sorts after all letters. */
const MAX_MARKS = 9

/** Returns a name under which the engine loads a copy of a variable file last in its folder. */
export function lastLoadedName(path: string, present: readonly string[]): string {
  const base = `environment.auto.tfvars${path.endsWith('.json') ? '.json' : ''}`
  const names = Array.from({ length: MAX_MARKS }, (_, index) => '~'.repeat(index + 1) + base)
  return names.find((name) => present.every((other) => other < name)) ?? `${'~'.repeat(MAX_MARKS)}${base}`
}
