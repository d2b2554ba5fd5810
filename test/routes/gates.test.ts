import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import type { AppEnv, Platform } from '../../routes/env.ts'
import { onError } from '../../routes/error-handler.ts'
import { requireOperation, requirePanel } from '../../routes/middleware/gates.ts'
import { OPERATION_ROLES, type OperationRole, PANEL_ROLES, type PanelRole, type User } from '../../src/access/users.ts'
import { silentLogger } from '../../src/base/log.ts'

/** What a caller with these roles gets at a route behind each gate. */
async function statuses(
  operation_role: OperationRole,
  panel_role: PanelRole | null,
): Promise<Record<string, [number, string]>> {
  const user: User = {
    id: 1,
    issuer: 'i',
    subject: 's',
    email: null,
    display_name: null,
    operation_role,
    panel_role,
    created_at: '',
    updated_at: '',
  }
  const app = new Hono<AppEnv>()
  app.onError(onError)
  app.use(async (c, next) => {
    c.set('log', silentLogger)
    const platform: Partial<Platform> = { authenticate: async () => user, readAddress: () => null }
    c.set('platform', platform as Platform)
    await next()
  })
  for (const role of OPERATION_ROLES) app.get(`/${role}`, requireOperation(role), (c) => c.json(c.var.user.id))
  for (const role of PANEL_ROLES) app.get(`/${role}`, requirePanel(role), (c) => c.json(c.var.user.id))
  const answers: Record<string, [number, string]> = {}
  for (const role of [...OPERATION_ROLES, ...PANEL_ROLES]) {
    const answer = await app.request(`/${role}`)
    answers[role] = [answer.status, await answer.text()]
  }
  return answers
}

const OK = [200, '1']
const operation = (role: string) => [403, `{"detail":"Requires operation role '${role}' or higher"}`]
const panel = (role: string) => [403, `{"detail":"Requires admin-panel role '${role}' or higher"}`]

describe('gates', () => {
  it('hold the two groups apart', async () => {
    expect(await statuses('developer', 'admin')).toEqual({
      developer: OK,
      devops: operation('devops'),
      viewer: OK,
      editor: OK,
      admin: OK,
    })
    expect(await statuses('devops', null)).toEqual({
      developer: OK,
      devops: OK,
      viewer: panel('viewer'),
      editor: panel('editor'),
      admin: panel('admin'),
    })
  })

  it('let higher levels pass and lower ones not', async () => {
    expect(await statuses('developer', 'viewer')).toMatchObject({
      viewer: OK,
      editor: panel('editor'),
      admin: panel('admin'),
    })
    expect(await statuses('developer', 'editor')).toMatchObject({ viewer: OK, editor: OK, admin: panel('admin') })
  })
})
