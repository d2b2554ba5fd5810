import { LineCounter, parseDocument } from 'yaml'
import type { Environment } from './source.ts'

/** All errors of the configuration file and the environment, in the order of the sections, without secrets. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** Returns a system error code as a suffix for a message, for example ` (EACCES)`; empty when there is none. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''

/** Returns the text of a file, or null when there is no regular file at the path. Throws when it cannot be read. */
export type ReadFile = (path: string) => Promise<string | null>

/**
 * Reads the mapping in the file that `PLATFORM_CONFIG` names; empty for a missing or empty file and for a directory.
 * Throws `ConfigError` when the file cannot be read or is no YAML mapping. The message shows neither path nor content.
 */
export async function readDocument(env: Environment, readFile: ReadFile): Promise<Record<string, unknown>> {
  let text: string | null
  try {
    text = await readFile(env.PLATFORM_CONFIG?.trim() || '/etc/platform/config.yaml')
  } catch (error) {
    throw new ConfigError([`configuration file exists but cannot be read${systemCode(error)}`])
  }
  return text === null ? {} : parseMapping(text)
}

function parseMapping(text: string): Record<string, unknown> {
  const { value, error } = parseYaml(text, { merge: true })
  if (error) throw new ConfigError([`configuration file is not valid YAML: ${error}`])
  if (value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw new ConfigError(['configuration file must hold a mapping at its top level'])
  return Object.fromEntries(Object.entries(value))
}

/** Parses YAML to plain data, null for an empty text, or to the reason why that is not possible, without content. */
export function parseYaml(
  text: string,
  options: { merge?: boolean } = {},
): { value: object | string | number | boolean | null; error: null } | { value: null; error: string } {
  const lines = new LineCounter()
  const document = parseDocument(text, { ...options, lineCounter: lines })
  const [error] = document.errors
  if (error) {
    const { line, col } = lines.linePos(error.pos[0])
    return { value: null, error: `${error.code} at line ${line}, column ${col}` }
  }
  try {
    return { value: document.toJS({ maxAliasCount: 100 }) ?? null, error: null }
  } catch {
    return { value: null, error: 'its aliases cannot be resolved' }
  }
}
