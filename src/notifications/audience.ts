import type { Db } from '../db/types.ts'
import type { Logger } from '../log/logger.ts'
import { staffEmails } from '../users/staff-emails.ts'

/**
 * E-mails of the staff (panel role editor or higher) in store order, then the owner's; no duplicates.
 * When the staff cannot be read only the owner is left.
 */
export async function notificationAudience(sql: Db, log: Logger, owner_email: string | null): Promise<string[]> {
  const staff = await staffEmails(sql).catch((error) => {
    log.warn('notification staff not read', { error })
    return []
  })
  const others = staff.filter((email) => email !== owner_email)
  return [...new Set(owner_email ? [...others, owner_email] : others)]
}
