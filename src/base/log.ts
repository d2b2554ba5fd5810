/** Structured logging: each call writes one JSON object on one line. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Returns a logger that adds these fields, for example `request_id`, to each line. */
  with(fields: LogFields): Logger
  /** Returns a logger that passes every text of a line through `mask`, those of errors included. */
  masked(mask: (text: string) => string): Logger
}
export type LogFields = Record<string, unknown>
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

const LEVEL_ORDER: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40 }

/** Converts an error to its name, message and stack, because JSON would show an error as `{}`. */
const toLoggable = (value: unknown): unknown =>
  value instanceof Error
    ? {
        name: value.name,
        message: value.message,
        stack: value.stack,
        cause: value.cause instanceof Error ? value.cause.message : value.cause,
      }
    : value

/**
 * @param options.level lines below it are dropped; default `info`
 * @param options.write receives one line without its line feed; default `console.log`
 * @param options.secrets values that are replaced by `***` anywhere in a line; those under six characters are skipped,
 * because they would match ordinary words
 */
export function createLogger(options: {
  level?: LogLevel
  write?: (line: string) => void
  secrets?: readonly string[]
  fields?: LogFields
  mask?: (text: string) => string
}): Logger {
  const { level = 'info', write = (line: string) => console.log(line), fields = {}, mask } = options
  const parts = { minimum: LEVEL_ORDER[level], write, secrets: secretForms(options.secrets ?? []), mask }
  return new LineLogger(parts, fields)
}

interface LoggerParts {
  minimum: number
  write: (line: string) => void
  /** All forms of the secrets. */
  secrets: readonly string[]
  mask: ((text: string) => string) | undefined
}

/** A class, because every request makes two of them: methods of an object would be made anew each time. */
class LineLogger implements Logger {
  readonly #parts: LoggerParts
  readonly #fields: LogFields

  constructor(parts: LoggerParts, fields: LogFields) {
    this.#parts = parts
    this.#fields = fields
  }

  debug(message: string, fields?: LogFields): void {
    this.#emit('debug', message, fields)
  }
  info(message: string, fields?: LogFields): void {
    this.#emit('info', message, fields)
  }
  warn(message: string, fields?: LogFields): void {
    this.#emit('warn', message, fields)
  }
  error(message: string, fields?: LogFields): void {
    this.#emit('error', message, fields)
  }
  with(fields: LogFields): Logger {
    return new LineLogger(this.#parts, { ...this.#fields, ...fields })
  }
  masked(next: (text: string) => string): Logger {
    const { mask } = this.#parts
    return new LineLogger({ ...this.#parts, mask: mask ? (text) => next(mask(text)) : next }, this.#fields)
  }

  #emit(level: LogLevel, message: string, fields: LogFields = {}): void {
    const { minimum, write, secrets, mask } = this.#parts
    if (LEVEL_ORDER[level] < minimum) return
    const entry: LogFields = { time: new Date().toISOString(), level, message, ...this.#fields }
    for (const key of Object.keys(fields)) entry[key] = toLoggable(fields[key])
    let line = JSON.stringify(entry, mask && ((_, value: unknown) => (typeof value === 'string' ? mask(value) : value)))
    for (const secret of secrets) if (line.includes(secret)) line = line.replaceAll(secret, '***')
    write(line)
  }
}

/**
 * Returns the forms of each secret in a line: as is, escaped as a JSON string, and escaped twice for JSON inside a JSON
 * string. The longest come first, because one secret may be the beginning of another.
 */
function secretForms(secrets: readonly string[]): string[] {
  const quoted = (text: string) => JSON.stringify(text).slice(1, -1)
  const forms = secrets
    .filter(({ length }) => length >= 6)
    .flatMap((secret) => [secret, quoted(secret), quoted(quoted(secret))])
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

/** A logger that writes nothing, for tests and for callers without a log. */
export const silentLogger: Logger = createLogger({ write: () => {} })
