import { conflict, notFound, PlatformError } from '../base/errors.ts'
import type { Db, Query, Sql } from '../data/db/sql.ts'
import { containing, storable } from '../data/db/values.ts'
import { type Actor, auditInsert, NO_PERSON } from './audit/record.ts'

export const OPERATION_ROLES = ['developer', 'devops'] as const
export type OperationRole = (typeof OPERATION_ROLES)[number]
export const PANEL_ROLES = ['viewer', 'editor', 'admin'] as const
export type PanelRole = (typeof PANEL_ROLES)[number]

/** A row of the table `users`, one per issuer and subject. */
export interface User {
  id: number
  issuer: string
  subject: string
  email: string | null
  display_name: string | null
  operation_role: OperationRole
  panel_role: PanelRole | null
  created_at: string
}

export interface Identity {
  issuer: string
  subject: string
  email: string | null
  /** True if the stored e-mail is removed as well, because the user has none that may stand for them. */
  email_withdrawn?: boolean
  display_name: string | null
  /** True if the user gets the roles devops and panel admin. False leaves the user's roles as they are. */
  elevated: boolean
}

/**
 * Returns the user of a verified identity. Writes the row when the user is new or when e-mail, name or roles change; a
 * missing claim leaves the stored value. The statement that creates a user or grants roles adds the audit entry.
 * @param address source address of the request, for the audit record
 * Throws 401 when issuer or subject cannot be stored.
 */
export async function resolveUser(sql: Db, identity: Identity, address: string | null = null): Promise<User> {
  const { issuer, subject } = identity
  if (issuer.length > 512 || subject.length > 254 || storable(issuer + subject) !== issuer + subject)
    throw new PlatformError('InvalidToken', 401, 'Token validation failed: issuer or subject is not acceptable')
  const email = toColumnText(identity.email)
  const displayName = toColumnText(identity.display_name)
  const [existing] = await sql<User[]>`
    SELECT ${USER_COLUMNS(sql)} FROM users WHERE issuer = ${issuer} AND subject = ${subject}`
  const current =
    existing &&
    (email === null || email === existing.email) &&
    (!identity.email_withdrawn || existing.email === null) &&
    (displayName === null || displayName === existing.display_name) &&
    (!identity.elevated || (existing.operation_role === 'devops' && existing.panel_role === 'admin'))
  if (current) return existing
  return writeUser(sql, { ...identity, email, display_name: displayName }, address)
}

const USER_COLUMNS = (sql: Db): Query =>
  sql`id, email, display_name, operation_role, panel_role, issuer, subject, created_at`

async function writeUser(sql: Db, identity: Identity, address: string | null): Promise<User> {
  const { issuer, subject, email, display_name: displayName } = identity
  const roles = identity.elevated ? ({ operation_role: 'devops', panel_role: 'admin' } as const) : null
  const [user] = await sql<User[]>`
    WITH before AS (
      SELECT id, operation_role, panel_role FROM users WHERE issuer = ${issuer} AND subject = ${subject}
    ), written AS (
    INSERT INTO users (issuer, subject, email, display_name, operation_role, panel_role)
    VALUES (${issuer}, ${subject}, ${email}, ${displayName},
            ${roles?.operation_role ?? 'developer'}, ${roles?.panel_role ?? null})
    ON CONFLICT (issuer, subject) DO UPDATE SET
      email = CASE WHEN ${identity.email_withdrawn === true} THEN NULL ELSE coalesce(excluded.email, users.email) END,
      display_name = coalesce(excluded.display_name, users.display_name),
      operation_role = CASE WHEN ${identity.elevated} THEN 'devops' ELSE users.operation_role END,
      panel_role = CASE WHEN ${identity.elevated} THEN 'admin' ELSE users.panel_role END
    RETURNING *, xmax = 0 AS created
    ), audit AS (${auditSignIn(sql, address)})
    SELECT ${USER_COLUMNS(sql)} FROM written`
  if (!user) throw new Error('the user was not written')
  return user
}

/** Returns the audit entries of a sign-in that created a user or granted the root user's roles. */
const auditSignIn = (sql: Db, address: string | null): Query =>
  auditInsert(
    sql,
    {
      action: sql`CASE WHEN w.created THEN 'user_created' ELSE 'roles_changed' END`,
      actor: {
        user_id: sql`w.id`,
        subject: sql`w.subject`,
        name: nameOf(sql),
        address,
      },
      detail: sql`jsonb_build_object(
          'user_id', w.id, 'user', ${nameOf(sql)},
          'to', ${rolesJson(sql, 'w')})
        || CASE WHEN w.created THEN '{}' ELSE jsonb_build_object('from', ${rolesJson(sql, 'b')}) END`,
    },
    sql`FROM written w LEFT JOIN before b ON b.id = w.id
      WHERE w.created OR b.id IS NOT NULL AND ${rolesDiffer(sql)}`,
  )

/** The name of the user in the row `w`, as an actor has it. */
const nameOf = (sql: Db): Query => sql`coalesce(nullif(w.email, ''),
  CASE WHEN w.display_name <> '' AND w.display_name !~* ${NO_PERSON} THEN w.display_name END, 'user-' || w.id)`

/** True if the roles of the rows `b` and `w` differ. */
const rolesDiffer = (sql: Db): Query =>
  sql`(w.operation_role <> b.operation_role OR w.panel_role IS DISTINCT FROM b.panel_role)`

const rolesJson = (sql: Db, row: 'b' | 'w'): Query =>
  sql`jsonb_build_object('operation_role', ${sql(row)}.operation_role, 'panel_role', ${sql(row)}.panel_role)`

/** Returns a claim as stored in its column, at most 254 characters; null for a blank one. */
function toColumnText(claim: string | null): string | null {
  const text = storable(claim)
  if (!text?.trim()) return null
  return text.length <= 254 ? text : [...text].slice(0, 254).join('')
}

/**
 * Lists users, oldest first. A page beyond the end is empty; `total` is the number of all matching users.
 * @param filter.page counted from 1
 * @param filter.search part of the e-mail or the display name, case-insensitive and without wildcards. Not blank
 */
export async function listUsers(
  sql: Sql,
  { page, page_size, search }: { page: number; page_size: number; search?: string },
): Promise<{ items: User[]; total: number }> {
  const where = () =>
    search === undefined
      ? sql`true`
      : sql`(email ILIKE ${containing(search)} OR display_name ILIKE ${containing(search)})`
  const offset = Math.min((page - 1) * page_size, Number.MAX_SAFE_INTEGER)
  const [items, [counted]] = await Promise.all([
    sql<User[]>`
      SELECT ${USER_COLUMNS(sql)} FROM users WHERE ${where()} ORDER BY id LIMIT ${page_size} OFFSET ${offset}`,
    sql<{ total: number }[]>`SELECT count(*) AS total FROM users WHERE ${where()}`,
  ])
  return { items: [...items], total: counted?.total ?? 0 }
}

/**
 * Replaces both roles of a user, effective from the user's next request, because every request reads the row. The same
 * statement adds the audit entry.
 * @param adminId the panel admin who makes the change
 * @param actor the same user, for the audit record
 * Throws 404 `User <id> not found.`; 409 when admins would remove their own panel role admin.
 */
export async function assignRoles(
  sql: Sql,
  adminId: number,
  userId: number,
  roles: { operation_role: OperationRole; panel_role: PanelRole | null },
  actor: Actor = { user_id: adminId, name: `user-${adminId}`, address: null },
): Promise<User> {
  if (userId === adminId && roles.panel_role !== 'admin')
    throw conflict('A panel admin cannot remove their own admin role')
  const audit = {
    action: 'roles_changed' as const,
    actor,
    detail: sql`jsonb_build_object('user_id', w.id, 'user', ${nameOf(sql)},
      'from', ${rolesJson(sql, 'b')}, 'to', ${rolesJson(sql, 'w')})`,
  }
  const [user] = await sql<User[]>`
    WITH b AS (
      SELECT id, operation_role, panel_role FROM users WHERE id = ${userId} FOR NO KEY UPDATE
    ), w AS (
      UPDATE users SET operation_role = ${roles.operation_role}, panel_role = ${roles.panel_role}
      FROM b WHERE users.id = b.id RETURNING users.*
    ), audit AS (${auditInsert(sql, audit, sql`FROM w JOIN b ON b.id = w.id WHERE ${rolesDiffer(sql)}`)})
    SELECT ${USER_COLUMNS(sql)} FROM w`
  if (!user) throw notFound(`User ${userId} not found.`)
  return user
}

/** Reads the e-mails of all users with the panel role editor or admin, oldest user first. */
export async function readStaffEmails(sql: Db): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    SELECT email FROM users WHERE panel_role >= 'editor' AND email <> '' ORDER BY id`
  return rows.map((row) => row.email)
}
