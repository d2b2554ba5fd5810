import { type ReadFile, systemCode } from './document.ts'
import type { Environment } from './source.ts'

/** Values of variables by their names, read from files, and what is wrong with the files. */
export interface VariableFiles {
  values: ReadonlyMap<string, string>
  /** Texts for the operator, without paths and contents. */
  problems: readonly string[]
}

/**
 * Reads the variables that come from files: `<name>_FILE` names a file with the value of `<name>`, as Docker, Podman
 * and Kubernetes mount secrets. White space around the value, such as the last line break, does not belong to it. A
 * variable that is set in both ways is a problem, and so is a file that is missing, cannot be read or is empty.
 * @param names the variables that may come from a file
 */
export async function readVariableFiles(
  env: Environment,
  names: Iterable<string>,
  readFile: ReadFile,
): Promise<VariableFiles> {
  const values = new Map<string, string>()
  const problems: string[] = []
  for (const name of names) {
    const path = pathFor(env, name)
    if (path === '') continue
    const value = isSet(env, name) ? { problem: `${name} and ${name}_FILE are both set` } : await read(path, readFile)
    if ('problem' in value) problems.push(value.problem.replace(/^it /, `${name}_FILE `))
    else values.set(name, value.text)
  }
  return { values, problems }
}

/** True for a variable whose value a file has. */
export const comesFromFile = (env: Environment, name: string): boolean => pathFor(env, name) !== ''

const own = (env: Environment, name: string): string => (Object.hasOwn(env, name) ? (env[name]?.trim() ?? '') : '')
const pathFor = (env: Environment, name: string): string => (name === '' ? '' : own(env, `${name}_FILE`))
const isSet = (env: Environment, name: string): boolean => own(env, name) !== ''

async function read(path: string, readFile: ReadFile): Promise<{ text: string } | { problem: string }> {
  try {
    const text = await readFile(path)
    if (text === null) return { problem: 'it names a file that does not exist' }
    return text.trim() === '' ? { problem: 'it names a file that is empty' } : { text: text.trim() }
  } catch (error) {
    return { problem: `it names a file that cannot be read${systemCode(error)}` }
  }
}
