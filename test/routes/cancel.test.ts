import { beforeAll, describe, expect, it } from 'vitest'
import { recordSavedPlan } from '../../src/rounds/transitions.ts'
import { answerOf, refusalOf } from '../helpers/core.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { provideSignedInCore } from '../helpers/signed-in-core.ts'

const core = provideSignedInCore()
let ada: number

beforeAll(async () => {
  const { sql } = core.database
  ada = (await createUser(sql, 'ada')).id
  await createUser(sql, 'grace', { panel_role: 'editor', email: null })
  await sql`UPDATE users SET display_name = 'Grace H.' WHERE subject = 'grace'`
  await createUser(sql, 'eve', { panel_role: 'viewer' })
  await createUser(sql, 'nameless', { panel_role: 'admin', email: null })
})

const as = (subject: string, method: string, path: string, json?: unknown) =>
  core.as(subject, method, `/api/v1${path}`, json)
const cancel = (session_id: unknown, subject = 'ada') => as(subject, 'POST', '/iac/cancel', { session_id })
const last = async (uuid: string) => {
  const session = await (await as('ada', 'GET', `/sessions?id=${uuid}`)).json()
  const { status, message } = session.rounds.at(-1).statuses.at(-1)
  return { in_flight: session.in_flight, status, message }
}

describe('POST /api/v1/iac/cancel', () => {
  it('ends a round that waits, also in a locked session, and the session takes another one', async () => {
    const uuid = await openSession(core.context, ada)
    await core.database.sql`UPDATE sessions SET is_blocked = true WHERE uuid = ${uuid}`
    expect(await answerOf(cancel(uuid.toUpperCase()))).toEqual([202, { session_id: uuid }])
    expect(await last(uuid)).toEqual({
      in_flight: false,
      status: 'uncompleted',
      message: 'Cancelled by ada@example.org.',
    })
    expect(await refusalOf(cancel(uuid))).toEqual([409, `Session ${uuid} has no round that could be cancelled.`])
    expect((await as('ada', 'POST', '/iac/generate', { session_id: uuid, q: 'More' })).status).toBe(202)
    expect(await last(uuid)).toMatchObject({ in_flight: true, status: 'started' })
  })

  it('leaves a round that runs to its worker, and is no error twice', async () => {
    const uuid = await openSession(core.context, ada)
    const run = await runRound(core.context, uuid)
    expect((await cancel(uuid, 'grace')).status).toBe(202)
    expect((await cancel(uuid)).status).toBe(202)
    expect(await last(uuid)).toMatchObject({ in_flight: true, status: 'started' })
    await run.finish('completed')
    expect(await last(uuid)).toMatchObject({ status: 'uncompleted', message: 'Cancelled by Grace H..' })
    expect((await cancel(uuid)).status).toBe(409)
  })

  it('names a user without e-mail and name by the number', async () => {
    const uuid = await openSession(core.context, ada)
    expect((await cancel(uuid, 'nameless')).status).toBe(202)
    expect((await last(uuid)).message).toMatch(/^Cancelled by user-\d+\.$/)
  })

  it('is refused while the round saves its plan', async () => {
    const uuid = await openSession(core.context, ada)
    const run = await runRound(core.context, uuid)
    await recordSavedPlan(core.database.sql, run.round, null)
    expect(await refusalOf(cancel(uuid))).toEqual([
      409,
      `The round of session ${uuid} seals its plan and ends now; it cannot be cancelled any more.`,
    ])
    await run.finish('completed', 'GENERATE')
    expect(await last(uuid)).toMatchObject({ status: 'completed' })
  })

  it('is refused to others, and changes nothing', async () => {
    const uuid = await openSession(core.context, ada)
    for (const subject of ['eve', 'stranger']) {
      expect(await refusalOf(cancel(uuid, subject))).toEqual([403, 'Not the session owner'])
    }
    expect((await core.call('POST', '/api/v1/iac/cancel', { json: { session_id: uuid }, token: 'none' })).status).toBe(
      401,
    )
    expect(await last(uuid)).toMatchObject({ in_flight: true })
  })

  it.each([null, 7, '', 'x', [], {}, '%00'])('422 for the session %j', async (session_id) => {
    expect((await cancel(session_id)).status).toBe(422)
  })
})
