import { isJsonObject, parseJson } from '../../base/json.ts'
import { readHcl, withoutLayout } from '../../hcl/read.ts'
import { type FileVersions, findChangedBlocks, pathOf } from './compare.ts'

/** Variable files, one for each environment, and the variables that differ between two versions of the code. */

export const isVariableFile = (path: string): boolean => /\.tfvars(?:\.json)?$/.test(path)

/** True if the engine loads a variable file without being asked: `terraform.tfvars` and `*.auto.tfvars` of the root. */
export const isLoadedByItself = (path: string): boolean =>
  !path.includes('/') && /^(?:terraform|.*\.auto)\.tfvars(?:\.json)?$/.test(path)

export interface VariableChanges {
  /** Paths of changed variable files. */
  files: ReadonlySet<string>
  /** Variables whose declaration changes, or whose value changes in any variable file. */
  names: ReadonlySet<string>
  /** Previous values in variable files, as written, by path and name, where they differ. */
  before: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** Compares the variables of two versions of the code: what is declared, and the values in variable files. */
export function readVariableChanges(versions: readonly FileVersions[]): VariableChanges {
  const declared = findChangedBlocks(versions).filter(({ kind }) => kind === 'variable')
  const names = new Set(declared.flatMap(({ labels: [name] }) => name ?? []))
  const files = new Set<string>()
  const before = new Map<string, Map<string, string>>()
  for (const version of versions) {
    const path = pathOf(version)
    if (!isVariableFile(path)) continue
    const [was, is] = [readValues(version.from, version.before), readValues(version.to, version.after)]
    const isSound = version.unread === null && was.isSound && is.isSound
    const changed = [...new Set([...was.values.keys(), ...is.values.keys()])].filter(
      (name) => !isSound || was.values.get(name)?.meaning !== is.values.get(name)?.meaning,
    )
    if (changed.length > 0 || !isSound) files.add(path)
    for (const name of changed) names.add(name)
    const values = changed.flatMap((name): [string, string][] => {
      const written = was.values.get(name)?.written
      return written === undefined ? [] : [[name, written]]
    })
    if (values.length > 0) before.set(path, new Map(values))
  }
  return { files, names, before }
}

/** The values of a variable file by name; `meaning` is equal for those that differ only in comments and layout. */
interface AssignedValues {
  values: ReadonlyMap<string, { written: string; meaning: string }>
  /** False for a file with syntax errors. */
  isSound: boolean
}

/** Reads the values of a variable file; none for a file that is not there. */
function readValues(path: string | null, text: string | null): AssignedValues {
  if (path === null || text === null) return { values: new Map(), isSound: true }
  if (path.endsWith('.json')) {
    const values = parseJson(text)
    const entries = Object.entries(isJsonObject(values) ? values : {}).map(([name, value]) => {
      const written = JSON.stringify(value)
      return [name, { written, meaning: written }] as const
    })
    return { values: new Map(entries), isSound: isJsonObject(values) }
  }
  const { body, complete, faults } = readHcl(text)
  const entries = body.attributes.map(({ name, valueStart, end }) => {
    const written = text.slice(valueStart, end)
    return [name, { written, meaning: withoutLayout(written) }] as const
  })
  return { values: new Map(entries), isSound: complete && faults.length === 0 }
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
