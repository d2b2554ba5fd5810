import type { Context } from '../context.ts'
import { sessionAggregateKey } from './cache-keys.ts'
import { isUuid } from './is-uuid.ts'

/** Locks or unlocks a session from either state; null when there is none. */
export async function setLock(
  context: Pick<Context, 'sql' | 'cache'>,
  uuid: string,
  locked: boolean,
): Promise<{ uuid: string; is_blocked: boolean } | null> {
  if (!isUuid(uuid)) return null
  const [row] = await context.sql<{ uuid: string; is_blocked: boolean }[]>`
    UPDATE sessions SET is_blocked = ${locked} WHERE uuid = ${uuid} RETURNING uuid, is_blocked`
  if (!row) return null
  await context.cache.delete(sessionAggregateKey(uuid))
  return { uuid: row.uuid, is_blocked: row.is_blocked }
}
