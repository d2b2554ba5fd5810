/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The trimmed value of a variable; empty when it is not set. */
export const textOf = (env: Environment, name: string): string => env[name]?.trim() ?? ''

/** A port from 0 (any free one) to 65535; a wrong one is added to `problems`. */
export function portOf(env: Environment, fallback: number, problems: string[]): number {
  const text = textOf(env, 'PLATFORM_PORT')
  if (text === '') return fallback
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  problems.push(`PLATFORM_PORT must be a whole number from 0 to 65535, got '${text}'`)
  return fallback
}

/** `PLATFORM_HOST`, else every address of the machine. */
export const hostOf = (env: Environment): string => textOf(env, 'PLATFORM_HOST') || '0.0.0.0'

/** Settings are wrong. The message names all of them and is meant for the operator. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}
