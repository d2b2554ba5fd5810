import { expect, test } from 'vitest'
import { createUser, openSession } from '../../helpers/sessions.ts'
import { provideSignedInCore } from '../../helpers/signed-in-core.ts'
import { attack } from './attack.ts'

const GROUP = "unlocking one's own session"
const core = provideSignedInCore()

/** Creates a locked session of a new user with the highest role of the panel. */
async function lockedSession() {
  const { context, as } = core
  const owner = crypto.randomUUID()
  const { id } = await createUser(context.sql, owner, { operation_role: 'devops', panel_role: 'admin' })
  const uuid = await openSession(context, id)
  const path = `/admin/sessions/${uuid}/toggle_lock`
  const another = `another-${owner}`
  await createUser(context.sql, another, { panel_role: 'editor' })
  expect((await as(another, 'PATCH', `/api/v1${path}`, { locked: true })).status).toBe(200)
  const set = (subject: string, json: object) => as(subject, 'PATCH', `/api/v1${path}`, json)
  const read = async () => (await as(owner, 'GET', `/api/v1/sessions?id=${uuid}`)).json()
  return { owner, another, uuid, set, read }
}

attack(GROUP, 'the owner, who is an admin, unlocks what the review has locked', async () => {
  const { owner, set, read } = await lockedSession()
  const answer = await set(owner, { locked: false, reason: 'I know what I do' })
  expect([answer.status, (await read()).is_blocked]).toEqual([403, true])
  const { detail } = await answer.json()
  expect(detail).toContain('not unlocked by its owner')
  // Locking again takes nothing from anybody, and does not make the lock the owner's own.
  expect((await set(owner, { locked: true })).status).toBe(200)
  expect((await set(owner, { locked: false, reason: 'It is mine' })).status).toBe(403)
  expect((await read()).is_blocked).toBe(true)
  return `403: ${detail}`
})

attack(GROUP, 'somebody unlocks without saying why', async () => {
  const { another, set, read } = await lockedSession()
  for (const reason of [undefined, null, '', '   '])
    expect([reason, (await set(another, { locked: false, reason })).status]).toEqual([reason, 422])
  expect((await read()).is_blocked).toBe(true)
  return '422, a reason is required'
})

test('another editor unlocks with a reason, which the owner reads', async () => {
  const { another, set, read } = await lockedSession()
  expect((await set(another, { locked: false, reason: 'The bucket is empty.' })).status).toBe(200)
  expect(await read()).toMatchObject({
    is_blocked: false,
    last_lock_change: { locked: false, by: `${another}@example.org`, reason: 'The bucket is empty.' },
  })
})

test('an owner unlocks where the configuration allows it', async () => {
  const { owner, uuid, read } = await lockedSession()
  const oidc = `oidc: { issuer_url: "${core.issuer.url}", client_id: core }`
  const lenient = await core.another({ yaml: `${oidc}\nadmin: { unlock_by_another: never }` })
  const answer = await lenient.request(`/api/v1/admin/sessions/${uuid}/toggle_lock`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${await core.issuer.token(owner)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ locked: false, reason: 'There is nobody else.' }),
  })
  expect([answer.status, (await read()).is_blocked]).toEqual([200, false])
})
