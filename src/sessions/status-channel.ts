import type { Db } from '../data/db/types.ts'

/** NOTIFY channel; the payload is the uuid of a session whose status changed. */
export const STATUS_CHANNEL = 'platform_status'

/** Rings for a session; inside a transaction the bell rings at its commit. */
export async function notifyStatus(db: Db, uuid: string): Promise<void> {
  await db`SELECT pg_notify(${STATUS_CHANNEL}, ${uuid})`
}
