import postgres from 'postgres'
import { toParameter } from './parameter.ts'
import type { Execute } from './query.ts'
import { connectionOptions, type ServerAddress } from './server-address.ts'
import { TIMESTAMPTZ } from './timestamp.ts'
import type { Result, Row } from './types.ts'

/** One connection to the server. Once it is lost it stays lost: the pool opens another one. */
export interface ServerConnection {
  execute: Execute
  readonly lost: boolean
  readonly opened_at: number
  close(): Promise<void>
}

type Answer = Row[] & { columns?: { name: string; type: number }[]; count?: number; command?: string }

/**
 * A driver instance of exactly one connection. The driver's own pool is not used: a connection that
 * breaks under load leaves it with writes that never leave, and statements on it never settle.
 */
export function openConnection(
  address: ServerAddress,
  options: {
    onnotice: (notice: postgres.Notice) => void
    onnotify?: (channel: string, payload: string) => void
    on_lost?: () => void
  },
): ServerConnection {
  let lost = false
  const driver = postgres(
    address.url,
    connectionOptions({
      onnotice: options.onnotice,
      ...(options.onnotify && { onnotify: options.onnotify }),
      onclose: () => {
        if (lost) return
        lost = true
        options.on_lost?.()
      },
    }),
  )
  const execute: Execute = async ({ text, values }, how) => {
    // A write to a closed socket is thrown where nobody can catch it.
    if (lost) throw new ConnectionLost()
    try {
      const prepare = how?.types !== 'driver' && how?.prepare !== false && values.length > 0
      const answer: unknown = await driver.unsafe(text, values.map(toParameter), { prepare })
      return toResult(answer, how?.types === 'driver')
    } catch (error) {
      lost ||= isConnectionLost(error)
      throw error
    }
  }
  return {
    execute,
    get lost() {
      return lost
    },
    opened_at: performance.now(),
    close: () => driver.end({ timeout: 1 }).catch(() => {}),
  }
}

/** The connection was gone before the statement was sent. */
class ConnectionLost extends Error {
  readonly code = 'CONNECTION_LOST'
  constructor() {
    super('the connection to the database was lost')
  }
}

/** Whether the server closed, or is about to close, the connection on which this happened. */
function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return true
  // Answers of the server carry a severity; refusals of the driver to send a statement carry a code of their own.
  if ('severity_local' in error || 'severity' in error) return 'severity' in error && error.severity !== 'ERROR'
  return !('code' in error) || !KEPT.has(String(error.code))
}
const KEPT = new Set([
  'UNDEFINED_VALUE',
  'MAX_PARAMETERS_EXCEEDED',
  'NOT_TAGGED_CALL',
  'UNSAFE_TRANSACTION',
  'ERR_INVALID_ARG_TYPE',
])

/** The rows stay a plain list to look at; what else is known is beside them. Several statements answer as one list. */
function toResult(answer: unknown, dates: boolean): Result {
  const answers = isList(answer) ? answer : isAnswer(answer) ? [answer] : []
  const rows = answers.flatMap((one) => (dates ? withDates(one) : [...one]))
  const last = answers.at(-1)
  return Object.defineProperties(rows, {
    count: { value: last?.count ?? 0 },
    command: { value: last?.command ?? '' },
  }) as Result
}

const isAnswer = (answer: unknown): answer is Answer => Array.isArray(answer)
const isList = (answer: unknown): answer is Answer[] =>
  Array.isArray(answer) && answer.length > 0 && answer.every((one) => Array.isArray(one))

/** The queue expects dates where we read texts. */
function withDates(answer: Answer): Row[] {
  const names = (answer.columns ?? []).filter((column) => column.type === TIMESTAMPTZ).map((column) => column.name)
  return answer.map((row) => {
    const copy = { ...row }
    for (const name of names) if (typeof copy[name] === 'string') copy[name] = new Date(copy[name])
    return copy
  })
}
