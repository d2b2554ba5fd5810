import { conflict, notFound, PlatformError } from '../base/errors.ts'
import type { Db, Sql } from '../data/db/types.ts'
import { containing, storable } from '../data/db/values.ts'

export const OPERATION_ROLES = ['developer', 'devops'] as const
export type OperationRole = (typeof OPERATION_ROLES)[number]
export const PANEL_ROLES = ['viewer', 'editor', 'admin'] as const
export type PanelRole = (typeof PANEL_ROLES)[number]

/** One row for each pair of issuer and subject. */
export interface User {
  id: number
  issuer: string
  subject: string
  email: string | null
  display_name: string | null
  operation_role: OperationRole
  panel_role: PanelRole | null
  created_at: string
  updated_at: string
}

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
  const displayName = fitting(identity.display_name)
  const [known] = await sql<User[]>`SELECT * FROM users WHERE issuer = ${issuer} AND subject = ${subject}`
  const current =
    known &&
    (email === null || email === known.email) &&
    (displayName === null || displayName === known.display_name) &&
    (!identity.elevated || (known.operation_role === 'devops' && known.panel_role === 'admin'))
  if (current) return known
  const roles = identity.elevated ? ({ operation_role: 'devops', panel_role: 'admin' } as const) : null
  const [user] = await sql<User[]>`
    INSERT INTO users (issuer, subject, email, display_name, operation_role, panel_role)
    VALUES (${issuer}, ${subject}, ${email}, ${displayName}, ${roles?.operation_role ?? 'developer'}, ${roles?.panel_role ?? null})
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

export interface UserFilter {
  /** From 1. */
  page: number
  page_size: number
  /** Literal, any case: part of the e-mail or of the display name. Blank is ignored. */
  search?: string
}

/** Oldest first. A page beyond the end is empty; `total` counts what the filter finds. */
export async function listUsers(sql: Sql, filter: UserFilter): Promise<{ items: User[]; total: number }> {
  const search = filter.search?.trim() ? filter.search : null
  // No stored text holds a NUL character, and the server refuses it in a parameter.
  if (search?.includes('\0')) return { items: [], total: 0 }
  const where = matching(sql, search)
  const [items, total] = await Promise.all([page(sql, where, filter), count(sql, where)])
  return { items, total }
}

const matching = (sql: Sql, search: string | null) =>
  search === null ? sql`true` : sql`(email ILIKE ${containing(search)} OR display_name ILIKE ${containing(search)})`

type Condition = ReturnType<typeof matching>

async function page(sql: Sql, where: Condition, filter: UserFilter): Promise<User[]> {
  const offset = Math.min((filter.page - 1) * filter.page_size, Number.MAX_SAFE_INTEGER)
  return [
    ...(await sql<User[]>`SELECT * FROM users WHERE ${where} ORDER BY id LIMIT ${filter.page_size} OFFSET ${offset}`),
  ]
}

async function count(sql: Sql, where: Condition): Promise<number> {
  const [row] = await sql<{ total: number }[]>`SELECT count(*) AS total FROM users WHERE ${where}`
  return row?.total ?? 0
}

const MAX_ID = 2_147_483_647

/**
 * Sets both roles of a user; nothing of the former ones is kept. In force from that user's next
 * request, because every request reads the row.
 * @param adminId the panel admin who asks
 * Errors: 404 `User <id> not found.`; 409 when admins would take the panel role admin from themselves.
 */
export async function assignRoles(
  sql: Sql,
  adminId: number,
  userId: number,
  roles: { operation_role: OperationRole; panel_role: PanelRole | null },
): Promise<User> {
  if (userId === adminId && roles.panel_role !== 'admin')
    throw conflict('A panel admin cannot remove their own admin role')
  const [user] = Math.abs(userId) > MAX_ID ? [] : await update(sql, userId, roles)
  if (!user) throw notFound(`User ${userId} not found.`)
  return user
}

const update = (
  sql: Sql,
  userId: number,
  roles: { operation_role: OperationRole; panel_role: PanelRole | null },
) => sql<User[]>`
  UPDATE users SET operation_role = ${roles.operation_role}, panel_role = ${roles.panel_role}
  WHERE id = ${userId} RETURNING *`

/** E-mails of all users with panel role editor or higher, oldest user first. */
export async function staffEmails(sql: Db): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    SELECT email FROM users WHERE panel_role >= 'editor' AND email <> '' ORDER BY id`
  return rows.map((row) => row.email)
}
