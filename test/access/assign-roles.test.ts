import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { assignRoles } from '../../src/access/users.ts'
import { createTestDatabase, type TestDatabase } from '../helpers/postgres.ts'
import { createUser } from '../helpers/sessions.ts'

let db: TestDatabase
let admin: number
beforeAll(async () => {
  db = await createTestDatabase()
  admin = (await createUser(db.sql, 'admin', { panel_role: 'admin' })).id
})
afterAll(() => db.drop())

describe('assignRoles', () => {
  it('sets both roles and answers the row', async () => {
    const user = await createUser(db.sql, 'ann', { operation_role: 'devops', panel_role: 'editor' })
    const changed = await assignRoles(db.sql, admin, user.id, { operation_role: 'developer', panel_role: null })
    expect(changed).toEqual({ ...user, operation_role: 'developer', panel_role: null, updated_at: expect.any(String) })
    expect(await db.sql`SELECT * FROM users WHERE id = ${user.id}`).toEqual([changed])
  })

  it.each([0, -1, 999_999, 2_147_483_648, -1e21])('does not know the user %i', async (id) => {
    const attempt = assignRoles(db.sql, admin, id, { operation_role: 'developer', panel_role: null })
    await expect(attempt).rejects.toMatchObject({ status: 404, message: `User ${id} not found.` })
  })

  it('does not let admins cease to be admins by their own hand', async () => {
    for (const panel_role of [null, 'viewer', 'editor'] as const) {
      const attempt = assignRoles(db.sql, admin, admin, { operation_role: 'devops', panel_role })
      await expect(attempt).rejects.toMatchObject({
        status: 409,
        message: 'A panel admin cannot remove their own admin role',
      })
    }
    expect(await db.sql`SELECT operation_role, panel_role FROM users WHERE id = ${admin}`).toEqual([
      { operation_role: 'developer', panel_role: 'admin' },
    ])
    expect(await assignRoles(db.sql, admin, admin, { operation_role: 'devops', panel_role: 'admin' })).toMatchObject({
      operation_role: 'devops',
    })
  })
})
