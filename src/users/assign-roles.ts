import { conflict, notFound } from '../base/errors.ts'
import type { Sql } from '../data/db/types.ts'
import type { OperationRole, PanelRole, User } from './types.ts'

const MAX_ID = 2_147_483_647

/**
 * Sets both roles of a user; nothing of the former ones is kept. In force from that user's next
 * request, because every request reads the row.
 * @param admin_id the panel admin who asks
 * Errors: 404 `User <id> not found.`; 409 when admins would take the panel role admin from themselves.
 */
export async function assignRoles(
  sql: Sql,
  admin_id: number,
  user_id: number,
  roles: { operation_role: OperationRole; panel_role: PanelRole | null },
): Promise<User> {
  if (user_id === admin_id && roles.panel_role !== 'admin')
    throw conflict('A panel admin cannot remove their own admin role')
  const [user] = Math.abs(user_id) > MAX_ID ? [] : await update(sql, user_id, roles)
  if (!user) throw notFound(`User ${user_id} not found.`)
  return user
}

const update = (
  sql: Sql,
  user_id: number,
  roles: { operation_role: OperationRole; panel_role: PanelRole | null },
) => sql<User[]>`
  UPDATE users SET operation_role = ${roles.operation_role}, panel_role = ${roles.panel_role}
  WHERE id = ${user_id} RETURNING *`
