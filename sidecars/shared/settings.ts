export type Environment = Readonly<Record<string, string | undefined>>

/** Returns the trimmed value of a variable; empty when it is not set. */
export const textOf = (env: Environment, name: string): string => env[name]?.trim() ?? ''

/** Returns a port from 0 (any free one) to 65535; adds a wrong one to `problems`. */
export function portOf(env: Environment, fallback: number, problems: string[]): number {
  const text = textOf(env, 'PLATFORM_PORT')
  if (text === '') return fallback
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  problems.push(`PLATFORM_PORT must be a whole number from 0 to 65535, got '${text}'`)
  return fallback
}

/** Returns `PLATFORM_HOST`, else every address of the machine. */
export const hostOf = (env: Environment): string => textOf(env, 'PLATFORM_HOST') || '0.0.0.0'

/** Thrown when settings are wrong. The message names all of them and is meant for the operator. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}
