/** Structured logging: one JSON object a line. Bound fields (request_id, session_id) travel along. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A logger that adds these fields to every line. */
  with(fields: LogFields): Logger
}
export type LogFields = Record<string, unknown>
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

const LEVEL_ORDER: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40 }

/** Errors become name, message and stack; their cause is followed once. */
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
 * @param write receives one finished line without its line feed
 * @param secrets literal values replaced by `***` wherever they occur in a line
 */
export function createLogger(options: {
  level?: LogLevel
  write?: (line: string) => void
  secrets?: readonly string[]
  fields?: LogFields
}): Logger {
  const minimum = LEVEL_ORDER[options.level ?? 'info']
  const write = options.write ?? ((line: string) => console.log(line))
  const secrets = secretForms(options.secrets ?? [])
  const emit = (level: LogLevel, message: string, fields?: LogFields) => {
    if (LEVEL_ORDER[level] < minimum) return
    const entry: LogFields = { time: new Date().toISOString(), level, message, ...options.fields }
    for (const [key, value] of Object.entries(fields ?? {})) entry[key] = toLoggable(value)
    let line = JSON.stringify(entry)
    for (const secret of secrets) line = line.replaceAll(secret, '***')
    write(line)
  }
  return {
    debug: (message, fields) => emit('debug', message, fields),
    info: (message, fields) => emit('info', message, fields),
    warn: (message, fields) => emit('warn', message, fields),
    error: (message, fields) => emit('error', message, fields),
    with: (fields) => createLogger({ ...options, fields: { ...options.fields, ...fields } }),
  }
}

/** As they are and as they stand in JSON, and in JSON inside of it; longest first, since one may begin like another. */
function secretForms(secrets: readonly string[]): string[] {
  const quoted = (text: string) => JSON.stringify(text).slice(1, -1)
  const forms = secrets
    .filter(({ length }) => length >= 6)
    .flatMap((secret) => [secret, quoted(secret), quoted(quoted(secret))])
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

/** For tests and for callers that have no log. */
export const silentLogger: Logger = createLogger({ write: () => {} })
