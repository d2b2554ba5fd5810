import type { Db as QueueDatabase } from 'pg-boss'
import type { Db, Sql } from '../db/types.ts'

/** Lets the queue run its statements on our pool, with the values that its own driver would give it. */
export function queueDatabase(sql: Sql): QueueDatabase {
  return {
    ...transactionDatabase(sql),
    listen: async (channel, on_notification, on_listening) => {
      const { unlisten } = await sql.listen(channel, on_notification, on_listening)
      return { close: unlisten }
    },
  }
}

/** For statements inside of a caller's transaction. */
export const transactionDatabase = (db: Db): QueueDatabase => ({
  executeSql: async (text, values) => ({ rows: await db.unsafe(text, values, { types: 'driver' }) }),
})
