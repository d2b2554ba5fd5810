import { Document, isScalar } from 'yaml'
import type { ReadFile } from './document.ts'
import { ConfigError, loadConfig } from './load.ts'
import { maskedConfig } from './mask.ts'
import type { Environment } from './source.ts'
import { configWarnings } from './warnings.ts'

/**
 * Writes the effective configuration as YAML with secrets masked, or each error on its own line.
 * @returns the exit code: 0, or 1 when the platform would not start with this configuration
 */
export async function runCheckConfig(
  env: Environment,
  readFile: ReadFile,
  write: (text: string) => void,
): Promise<number> {
  let hasFile = false
  const readAndNote: ReadFile = async (path) => {
    const text = await readFile(path)
    hasFile ||= text !== null
    return text
  }
  try {
    const config = await loadConfig(env, readAndNote)
    write(`# ${hasFile ? 'configuration file found' : 'no configuration file: built-in defaults'}\n`)
    for (const warning of configWarnings(config)) write(`# warning: ${warning}\n`)
    write(render(maskedConfig(config)))
    return 0
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const problem of error.problems) write(`${problem}\n`)
    return 1
  }
}

/** Fields that have no effect. They are accepted so that older files stay valid. */
const IGNORED = [
  [['services', 'mapping', 'timeout'], 'ignored: mapping calls have a fixed budget of 10 s'],
  [['services', 'authz', 'timeout'], 'ignored: authorization calls have a fixed budget of 15 s'],
] as const

function render(config: unknown): string {
  const document = new Document(config)
  for (const [path, reason] of IGNORED) {
    const value = document.getIn(path, true)
    if (isScalar(value)) value.comment = ` ${reason}`
  }
  return document.toString({ lineWidth: 0 })
}
