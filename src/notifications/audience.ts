import { staffEmails } from '../access/users.ts'
import type { Logger } from '../base/log.ts'
import type { Db } from '../data/db/types.ts'

const MAX_AUDIENCE = 256

/**
 * E-mails of the staff (panel role editor or higher) in store order, then the owner's; no duplicates.
 * When the staff cannot be read only the owner is left. The contract's limit never cuts off the owner.
 */
export async function notificationAudience(sql: Db, log: Logger, owner_email: string | null): Promise<string[]> {
  const staff = await staffEmails(sql).catch((error) => {
    log.warn('notification staff not read', { error })
    return []
  })
  const others = [...new Set(staff)].filter((email) => email !== owner_email)
  return owner_email ? [...others.slice(0, MAX_AUDIENCE - 1), owner_email] : others.slice(0, MAX_AUDIENCE)
}
