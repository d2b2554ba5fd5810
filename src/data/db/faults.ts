/**
 * What is done about an error of the database: `connect_anew`, because the server is the wrong one or the connection is
 * gone; `wait`, because the same may work in a moment; `give_up`, because the statement or the settings are wrong.
 */
export type Remedy = 'connect_anew' | 'wait' | 'give_up'

/**
 * Remedies by SQLSTATE, or by class where two characters stand. Meanings: appendix "PostgreSQL Error Codes" of the
 * PostgreSQL documentation. What is not listed is given up: also 28 (refused credentials), 3D000 (no such database),
 * 42501 (no right to do that).
 */
const REMEDIES: Readonly<Record<string, Remedy>> = {
  // Connection exception. Poolers answer so while they find no server.
  '08': 'connect_anew',
  // Read-only transaction: this server was the primary.
  '25006': 'connect_anew',
  // Admin shutdown, crash shutdown, cannot connect now (it starts, stops or recovers), idle session timeout.
  '57P01': 'connect_anew',
  '57P02': 'connect_anew',
  '57P03': 'connect_anew',
  '57P05': 'connect_anew',
  // Too many connections, disk full, out of memory.
  '53': 'wait',
  // Serialization failure (also on a standby that catches up), deadlock detected, lock not available.
  '40001': 'wait',
  '40P01': 'wait',
  '55P03': 'wait',
}

/** Codes of the driver and of this pool. */
const CONNECTION_CODES = /^(?:CONNECT(?:ION)?_|WRONG_SERVER$)/
const SOCKET_CODES = /^(?:ECONN|EPIPE$|ETIMEDOUT$|ENOTFOUND$|EAI_AGAIN$|EHOST|ENET|ENOENT$)/

/** Says what to do about any error. Errors that are none of the database are given up. */
export function remedyOf(error: unknown): Remedy {
  if (!(error instanceof Error) || !('code' in error)) return 'give_up'
  const code = String(error.code)
  if (isOfServer(error)) return REMEDIES[code] ?? REMEDIES[code.slice(0, 2)] ?? 'give_up'
  // Sockets of other clients have the same codes. The driver adds the statement to its errors.
  const isOfDatabase = CONNECTION_CODES.test(code) || ('query' in error && SOCKET_CODES.test(code))
  return isOfDatabase ? 'connect_anew' : 'give_up'
}

/** True for an error that the server reports. */
export const isOfServer = (error: unknown): error is Error & { severity: string; code: string } =>
  error instanceof Error && 'severity' in error && 'code' in error

/** True if the same statement may be repeated because the server has undone it. FATAL may come after its end. */
export const isUndone = (error: unknown): boolean =>
  isOfServer(error) && error.severity === 'ERROR' && remedyOf(error) !== 'give_up'

/** Code of a connection that does not answer any more, although nobody has ended it. */
export const DEAD = 'CONNECTION_DEAD'

/** True if other connections to the server are of no use either: it takes no writes any more, or is out of reach. */
export const concernsServer = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (isOfServer(error) ? error.code === '25006' : error.code === DEAD)
