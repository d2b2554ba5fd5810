/**
 * Everything that is wrong with the configuration file and the environment, in the order of the sections. The texts
 * hold no secret.
 */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** The code of an error of the system as it is appended to a text, for example ` (EACCES)`; empty without one. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : ''
