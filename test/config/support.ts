import { ConfigError, loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'

/** Variables that are required without a configuration file. */
export const MINIMAL: Record<string, string | undefined> = {
  PLATFORM_SQL_DATABASE_URL: 'postgresql://platform:pg-secret@db:5432/platform',
  PLATFORM_IAC_TOKEN: 'iac-token',
  ANTHROPIC_API_KEY: 'anthropic-key',
}

/** A rules file without grades, under the path that examples name. */
const RULES_FILE = '/etc/platform/rules.yaml'

export const load = (file: string | null = null, env: Record<string, string | undefined> = {}): Promise<Config> =>
  loadConfig({ ...MINIMAL, ...env }, async (path) => (path === RULES_FILE ? 'rules: {}' : file))

/** Returns the problems of a configuration that must not load. */
export async function problemsOf(
  file: string | null,
  env: Record<string, string | undefined> = {},
): Promise<readonly string[]> {
  try {
    await load(file, env)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  throw new Error('the configuration was accepted')
}

/** Reads the value at a dotted path of the configuration. */
export function at(value: unknown, path: string): unknown {
  let current = value
  for (const key of path.split('.')) {
    if (typeof current !== 'object' || current === null) return undefined
    current = Object.entries(current).find(([name]) => name === key)?.[1]
  }
  return current
}

/** Writes the YAML of one field, e.g. `yaml('oidc.scope', 'openid')`. The value is inserted as YAML text. */
export function yaml(path: string, value: string): string {
  return path
    .split('.')
    .map((key, depth, keys) => `${'  '.repeat(depth)}${key}:${depth === keys.length - 1 ? ` ${value}` : ''}`)
    .join('\n')
}
