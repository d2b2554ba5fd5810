import type { Db as QueueDatabase } from 'pg-boss'
import type { ParameterOrJSON } from 'postgres'
import type { Db, Sql } from '../db/types.ts'

const TIMESTAMPTZ = 1184

type Row = Record<string, unknown>
type Result = Row[] & { columns?: { name: string; type: number }[] }

/** Lets the queue run its statements on our pool. */
export function queueDatabase(sql: Sql): QueueDatabase {
  return {
    executeSql: (text, values) => (/^\s*begin\b/i.test(text) ? onOneConnection(sql, text) : execute(sql, text, values)),
    listen: async (channel, on_notification, on_listening) => {
      const { unlisten } = await sql.listen(channel, on_notification, on_listening)
      return { close: unlisten }
    },
  }
}

/** For statements inside of a caller's transaction. */
export const transactionDatabase = (tx: Db): QueueDatabase => ({ executeSql: (text, values) => execute(tx, text, values) })

/** A text that brings its own transaction must not leave a failed one behind in the pool. */
async function onOneConnection(sql: Sql, text: string): Promise<{ rows: Row[] }> {
  const connection = await sql.reserve()
  try {
    return await execute(connection, text)
  } catch (error) {
    await connection`ROLLBACK`.catch(() => {})
    throw error
  } finally {
    connection.release()
  }
}

/** Several statements answer as one list of rows. */
async function execute(db: Db, text: string, values: unknown[] = []): Promise<{ rows: Row[] }> {
  const parameters = values.map((value) => value ?? null) as ParameterOrJSON<never>[]
  const answer: unknown = await db.unsafe(text, parameters)
  const results = isList(answer) ? answer : isResult(answer) ? [answer] : []
  return { rows: results.flatMap(withDates) }
}

const isResult = (answer: unknown): answer is Result => Array.isArray(answer)
const isList = (answer: unknown): answer is Result[] => Array.isArray(answer) && Array.isArray(answer[0])

/** The queue expects dates where our pool reads texts. */
function withDates(result: Result): Row[] {
  const dates = (result.columns ?? []).filter((column) => column.type === TIMESTAMPTZ).map((column) => column.name)
  if (dates.length === 0) return [...result]
  return result.map((row) => ({
    ...row,
    ...Object.fromEntries(dates.map((name) => [name, typeof row[name] === 'string' ? new Date(row[name]) : row[name]])),
  }))
}
