/** The arguments are wrong. The text says which. */
export class UsageError extends Error {}

/** Reads a whole number from 1 to `max`. Errors: `UsageError` that names the option. */
export function whole(name: string, given: string | undefined, otherwise: number, max: number): number {
  if (given === undefined) return otherwise
  const value = Number(given)
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new UsageError(`--${name} must be a whole number from 1 to ${max}, got '${given}'`)
  return value
}
