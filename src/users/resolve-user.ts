import { PlatformError } from '../base/errors.ts'
import type { Db } from '../data/db/types.ts'
import { storable } from '../data/db/values.ts'
import type { User } from './types.ts'

export interface Identity {
  issuer: string
  subject: string
  email: string | null
  display_name: string | null
  /** Grants devops and panel admin; never takes anything away. */
  elevated: boolean
}

/**
 * The user of a checked identity, created on first sight. Known claims that changed are written;
 * absent ones leave what is stored.
 * Errors: 401 when issuer or subject cannot be stored.
 */
export async function resolveUser(sql: Db, identity: Identity): Promise<User> {
  const { issuer, subject } = identity
  if (issuer.length > 512 || subject.length > 254 || storable(issuer + subject) !== issuer + subject)
    throw new PlatformError('InvalidToken', 401, 'Token validation failed: issuer or subject is not acceptable')
  const email = fitting(identity.email)
  const display_name = fitting(identity.display_name)
  const [known] = await sql<User[]>`SELECT * FROM users WHERE issuer = ${issuer} AND subject = ${subject}`
  const current =
    known &&
    (email === null || email === known.email) &&
    (display_name === null || display_name === known.display_name) &&
    (!identity.elevated || (known.operation_role === 'devops' && known.panel_role === 'admin'))
  if (current) return known
  const roles = identity.elevated ? ({ operation_role: 'devops', panel_role: 'admin' } as const) : null
  const [user] = await sql<User[]>`
    INSERT INTO users (issuer, subject, email, display_name, operation_role, panel_role)
    VALUES (${issuer}, ${subject}, ${email}, ${display_name}, ${roles?.operation_role ?? 'developer'}, ${roles?.panel_role ?? null})
    ON CONFLICT (issuer, subject) DO UPDATE SET
      email = coalesce(excluded.email, users.email),
      display_name = coalesce(excluded.display_name, users.display_name),
      operation_role = CASE WHEN ${identity.elevated} THEN 'devops' ELSE users.operation_role END,
      panel_role = CASE WHEN ${identity.elevated} THEN 'admin' ELSE users.panel_role END
    RETURNING *`
  if (!user) throw new Error('the user was not written')
  return user
}

/** What the column holds of a claim; a blank claim says nothing. */
function fitting(claim: string | null): string | null {
  const text = storable(claim)
  return text?.trim() ? [...text].slice(0, 254).join('') : null
}
