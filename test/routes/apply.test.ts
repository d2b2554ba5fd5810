import { describe, expect, it } from 'vitest'
import { answerOf, provideCore, refusalOf } from '../helpers/core.ts'
import { openSession, runRound } from '../helpers/sessions.ts'

const core = provideCore()

const apply = (json: unknown) => core.call('POST', '/api/v1/iac/apply', { json })
const detail = async (uuid: string) =>
  (await core.call('GET', `/api/v1/sessions?id=${uuid}&include_history=true`)).json()
const lock = (uuid: string, locked: boolean) =>
  core.call('PATCH', `/api/v1/admin/sessions/${uuid}/toggle_lock`, { json: { locked, reason: 'checked' } })
async function ended(status: 'completed' | 'uncompleted' | 'failed'): Promise<string> {
  const uuid = await openSession(core.context, core.me)
  await (await runRound(core.context, uuid)).finish(status, 'over')
  return uuid
}

describe('POST /api/v1/iac/apply', () => {
  it.each(['completed', 'uncompleted'] as const)('queues an apply round on a session that ended %s', async (status) => {
    const uuid = await ended(status)
    expect(await answerOf(apply({ session_id: uuid.toUpperCase(), q: 'ignored', is_partial: 7 }))).toEqual([
      202,
      { session_id: uuid },
    ])
    const session = await detail(uuid)
    expect(session).toMatchObject({
      operation: 'generate',
      first_query: 'Add a bucket',
      current_status: 'started',
      in_flight: true,
    })
    expect(session.rounds).toHaveLength(2)
    expect(session.rounds[1]).toMatchObject({
      number: 2,
      query: 'Engine apply.',
      statuses: [{ status: 'started', message: null }],
    })
    const [round] = await core.database.sql`SELECT mode, is_partial FROM rounds WHERE id = ${session.rounds[1].id}`
    expect(round).toEqual({ mode: 'apply', is_partial: false })
    expect(await core.database.sql`SELECT 1 FROM queued_rounds WHERE round_id = ${session.rounds[1].id}`).toHaveLength(
      1,
    )
  })

  it('is accepted and changes nothing on a session that runs or that failed', async () => {
    for (const uuid of [await openSession(core.context, core.me), await ended('failed')]) {
      const before = await detail(uuid)
      expect(await answerOf(apply({ session_id: uuid }))).toEqual([202, { session_id: uuid }])
      expect(await detail(uuid)).toEqual(before)
    }
  })

  it('is refused on a locked session, whatever its state, and changes nothing', async () => {
    for (const uuid of [await ended('completed'), await openSession(core.context, core.me), await ended('failed')]) {
      await lock(uuid, true)
      const before = await detail(uuid)
      expect(await refusalOf(apply({ session_id: uuid.toUpperCase() }))).toEqual([
        409,
        `Session ${uuid} is blocked; apply is not allowed.`,
      ])
      expect(await detail(uuid)).toEqual(before)
    }
  })

  it('goes on when the lock is taken away', async () => {
    const uuid = await ended('completed')
    await lock(uuid, true)
    expect((await apply({ session_id: uuid })).status).toBe(409)
    await lock(uuid, false)
    expect((await apply({ session_id: uuid })).status).toBe(202)
    expect((await detail(uuid)).rounds).toHaveLength(2)
  })

  it('leaves the way to unlock open: a locked session can generate', async () => {
    const uuid = await ended('completed')
    await lock(uuid, true)
    const answer = await core.call('POST', '/api/v1/iac/generate', {
      json: { session_id: uuid, q: 'Make it private.' },
    })
    expect(answer.status).toBe(202)
    expect(await detail(uuid)).toMatchObject({ in_flight: true, is_blocked: true })
  })
})
