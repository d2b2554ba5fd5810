/** What a process is configured by. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A trimmed value; a blank one counts as unset and is empty. */
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

/** Wrong settings, all at once; the message is for the operator. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}
