import { endsWithin } from '../../base/time.ts'
import { DEAD, remedyOf } from './faults.ts'
import { type ConnectionCallbacks, type OpenServer, openServer, type ServerRoute } from './server.ts'
import type { Execute, Result, Row } from './sql.ts'
import { TIMESTAMPTZ, toParameter } from './values.ts'

/** One connection to the server. A lost connection never recovers; the pool replaces it. */
export type ServerConnection = ReturnType<typeof openConnection>

type Answer = Row[] & { columns?: { name: string; type: number }[]; count?: number; command?: string }

const CLOSE_MS = 1_500

/**
 * Opens one connection with its own driver instance. The driver's pool is not used: when one of its connections breaks
 * under load, statements queued for it are never sent, and awaiting them never ends.
 */
export function openConnection(
  route: ServerRoute,
  { onLost, doubtMs, ...callbacks }: ConnectionCallbacks & { doubtMs: number },
) {
  let lost = false
  const lose = () => {
    if (lost) return
    lost = true
    onLost?.()
  }
  const onDemotion = () => {
    lose()
    callbacks.onDemotion?.()
  }
  const opening = openServer(route, { ...callbacks, onLost: lose, onDemotion })
  opening.catch(lose)
  const execute: Execute = async ({ text, values }, how) => {
    const { driver, prepares, is_read_only, isAtWork } = await opening
    // The driver would write to the closed socket, and no caller could catch that error.
    if (lost) throw Object.assign(new Error('the connection to the database was lost'), { code: 'CONNECTION_LOST' })
    try {
      const prepare = prepares && how?.types !== 'driver' && how?.prepare !== false && values.length > 0
      const answer: unknown = await whileAtWork(
        driver.unsafe(text, values.map(toParameter), { prepare }),
        isAtWork,
        doubtMs,
      )
      return toResult(answer, how?.types === 'driver')
    } catch (error) {
      lost ||= isConnectionLost(error, is_read_only)
      throw error
    }
  }
  return {
    execute,
    /** Throws the error of the opening. */
    opened: async (): Promise<void> => void (await opening),
    get lost() {
      return lost
    },
    openedAt: performance.now(),
    /** Takes about a second at most; a connection that is being opened is closed as soon as it is open. */
    close: async () => {
      const closed = opening.then(({ driver }) => driver.end({ timeout: 1 }))
      await endsWithin(CLOSE_MS, closed).catch(() => {})
    },
  }
}

/**
 * Waits for an answer as long as the server works on it. A statement may take long, but without an answer TCP takes a
 * quarter of an hour to find that the other side has gone. Throws `DEAD`.
 * @param doubtMs time without an answer after which the server is asked whether it works on the statement, and again
 */
async function whileAtWork<T>(answer: Promise<T>, isAtWork: OpenServer['isAtWork'], doubtMs: number): Promise<T> {
  while (!(await endsWithin(doubtMs, answer)))
    if (!(await isAtWork((doubtMs * 2) / 3)) && !(await endsWithin(0, answer)))
      throw Object.assign(new Error('the database does not answer on this connection any more'), { code: DEAD })
  return await answer
}

/**
 * True if the connection is unusable after this error. It stays usable after a server error of severity `ERROR` that
 * does not ask for another server, and after the driver refused to send a statement (`HARMLESS_CODES`).
 * @param wasReadOnly true if the server took no writes from the start, so that another one would be no better
 */
function isConnectionLost(error: unknown, wasReadOnly: boolean): boolean {
  if (!(error instanceof Error)) return true
  // Only errors that the server reports have a severity; FATAL and PANIC end the connection.
  if ('severity_local' in error || 'severity' in error)
    return ('severity' in error && error.severity !== 'ERROR') || (!wasReadOnly && remedyOf(error) === 'connect_anew')
  return !('code' in error) || !HARMLESS_CODES.has(String(error.code))
}
const HARMLESS_CODES = new Set([
  'UNDEFINED_VALUE',
  'MAX_PARAMETERS_EXCEEDED',
  'NOT_TAGGED_CALL',
  'UNSAFE_TRANSACTION',
  'ERR_INVALID_ARG_TYPE',
])

/**
 * Converts the rows to a plain list, with `count` and `command` as non-enumerable properties. The rows of several
 * statements are joined; count and command are those of the last one.
 */
function toResult(answer: unknown, dates: boolean): Result {
  const answers = isAnswerList(answer) ? answer : isAnswer(answer) ? [answer] : []
  const rows = answers.flatMap((one) => (dates ? withDates(one) : [...one]))
  const last = answers.at(-1)
  return Object.defineProperties(rows, {
    count: { value: last?.count ?? 0 },
    command: { value: last?.command ?? '' },
  }) as Result
}

const isAnswer = (answer: unknown): answer is Answer => Array.isArray(answer)
const isAnswerList = (answer: unknown): answer is Answer[] =>
  Array.isArray(answer) && answer.length > 0 && answer.every((one) => Array.isArray(one))

/** Converts timestamps to `Date`, which the queue library expects. */
function withDates(answer: Answer): Row[] {
  const names = (answer.columns ?? []).filter((column) => column.type === TIMESTAMPTZ).map((column) => column.name)
  return answer.map((row) => {
    const copy = { ...row }
    for (const name of names) if (typeof copy[name] === 'string') copy[name] = new Date(copy[name])
    return copy
  })
}
