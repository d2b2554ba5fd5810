export type Environment = Readonly<Record<string, string | undefined>>

/** Returns the trimmed value of a variable; empty when it is not set. */
export const textOf = (env: Environment, name: string): string => env[name]?.trim() ?? ''

/** Returns the entries of a variable, which commas separate; trimmed, without empty ones. */
export const listOf = (env: Environment, name: string): string[] =>
  textOf(env, name)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

export interface ServerSettings {
  host: string
  port: number
  /** The bearer token; blank accepts every request. */
  token: string
}

/**
 * Reads address, port (0 for any free one) and token of a service.
 * @param problems receives a wrong port
 */
export function serverSettings(
  env: Environment,
  fallbackPort: number,
  tokenVariable: string,
  problems: string[],
): ServerSettings {
  const port = textOf(env, 'PLATFORM_PORT') || String(fallbackPort)
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    problems.push(`PLATFORM_PORT must be a whole number from 0 to 65535, got '${port}'`)
  const token = textOf(env, tokenVariable)
  return { host: hostOf(env, token), port: Number(port), token }
}

/** Returns the address to listen on: without a token only this machine, unless `PLATFORM_HOST` names an address. */
export const hostOf = (env: Environment, token: string): string =>
  textOf(env, 'PLATFORM_HOST') || (token === '' ? LOOPBACK : '0.0.0.0')

const LOOPBACK = '127.0.0.1'

/** Reports whether only this machine reaches an address to listen on. */
export const isLoopback = (host: string): boolean => [LOOPBACK, '::1', 'localhost'].includes(host)

/** Reads settings. Errors: `SettingsError` when `read` has added problems. */
export function checkSettings<Settings>(read: (problems: string[]) => Settings): Settings {
  const problems: string[] = []
  const settings = read(problems)
  if (problems.length > 0) throw new SettingsError(problems.join('\n'))
  return settings
}

/** Thrown when settings are wrong. The message names all of them and is meant for the operator. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** Returns the message of an error for the operator. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown error')
