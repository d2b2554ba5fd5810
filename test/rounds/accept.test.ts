import { describe, expect, it } from 'vitest'
import { createSendingQueue } from '../../src/data/queue.ts'
import { acceptRound } from '../../src/rounds/accept.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import { setLock } from '../../src/rounds/transitions.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { findSession } from '../../src/sessions/find.ts'
import { claimOf, createSession, createUser, useVerbs } from '../sessions/fixtures.ts'

const { db, context } = useVerbs()

const next = (session_uuid: string, query = 'and a subnet') =>
  acceptRound(context, { session_uuid, mode: 'generate', query, is_partial: false })
const end = { message: 'GENERATE', history: [{ user: 'a', assistant: 'b' }], commit: 'abc', usage: { tokens: 3 } }
const detail = (uuid: string) => loadAggregate(context, uuid, { includeHistory: true })

describe('acceptFirstRound', () => {
  it('creates the session with its first round, status and message', async () => {
    const user = await createUser(db.sql, 'ann@example.com')
    const uuid = await createSession(context, {
      user_id: user.id,
      iac_path: 'infra',
      scope_id: 'p-1',
      is_partial: true,
    })
    const session = await findSession(db.sql, uuid)
    expect(session).toMatchObject({
      uuid,
      user_id: user.id,
      username: 'ann@example.com',
      operation: 'generate',
      provider: 'gcp',
      scope_id: 'p-1',
      first_query: 'create a network',
      workspace: { uri: 'https://github.com/acme/network', root_path: 'infra' },
      in_flight: true,
      is_blocked: false,
      current_status: 'started',
    })
    expect(session?.workspace.branch).toMatch(/^Platform\/2025-03-04_050607-[0-9a-f]{4}$/)
    const aggregate = await detail(uuid)
    expect(aggregate?.history).toEqual([])
    expect(aggregate?.rounds).toHaveLength(1)
    expect(aggregate?.rounds[0]).toMatchObject({ number: 1, query: 'create a network' })
    expect(aggregate?.rounds[0]?.statuses.map((row) => row.status)).toEqual(['started'])
    expect(context.sent).toContain(aggregate?.rounds[0]?.id)
  })

  it('leaves nothing behind when the queue refuses', async () => {
    const user = await createUser(db.sql)
    const enqueue = () => Promise.reject(new Error('no queue'))
    const before = await db.sql`SELECT count(*) FROM sessions`
    await expect(
      createSession({ ...context, queue: { ...context.queue, enqueue } }, { user_id: user.id }),
    ).rejects.toThrow('no queue')
    expect(await db.sql`SELECT count(*) FROM sessions`).toEqual(before)
  })

  it('stores text that the database cannot hold as it is', async () => {
    const uuid = await createSession(context, { query: 'a\0b \ud800 c', iac_path: 'x\0y' })
    const session = await findSession(db.sql, uuid)
    expect(session?.first_query).toBe('ab \ufffd c')
    expect(session?.workspace.root_path).toBe('xy')
  })

  it('commits the message of the real queue with the session', async () => {
    const queue = createSendingQueue(db.sql)
    const uuid = await createSession({ ...context, queue }, { mode: 'drift' })
    const round_id = (await detail(uuid))?.rounds[0]?.id
    expect(await db.sql`SELECT taken_at FROM queued_rounds WHERE round_id = ${round_id ?? 0}`).toEqual([
      { taken_at: null },
    ])
  })
})

describe('with the real queue', () => {
  it('accepts more requests at once than there are connections, from the first moment on', async () => {
    const queue = createSendingQueue(db.sql)
    const real = { ...context, queue }
    const uuids = await Promise.all(Array.from({ length: 50 }, () => createSession(real)))
    const [uuid = ''] = uuids
    await finishRound(context, await claimOf(db.sql, uuid), { ...end, status: 'completed' })
    const request = { session_uuid: uuid, mode: 'generate', query: 'again', is_partial: false } as const
    await Promise.all(Array.from({ length: 50 }, () => acceptRound(real, request)))
    expect((await detail(uuid))?.rounds.map((round) => round.number)).toEqual([1, 2])
  })
})

describe('acceptRound', () => {
  it('changes nothing while a round is running, and says so in the log only', async () => {
    const uuid = await createSession(context)
    const before = await detail(uuid)
    await next(uuid)
    expect(await detail(uuid)).toEqual(before)
    expect(context.lines.at(-1)?.message).toBe(
      `runner not started: Session ${uuid} already has an operation in flight. (session ${uuid})`,
    )
  })

  it.each(['completed', 'uncompleted'] as const)('opens the next round after %s', async (status) => {
    const uuid = await createSession(context)
    await finishRound(context, await claimOf(db.sql, uuid), { ...end, status })
    await next(uuid)
    const session = await detail(uuid)
    expect(session).toMatchObject({ in_flight: true, current_status: 'started', first_query: 'create a network' })
    expect(session?.rounds.map((round) => [round.number, round.query])).toEqual([
      [1, 'create a network'],
      [2, 'and a subnet'],
    ])
    const audited = await db.sql`SELECT action FROM audit_records WHERE session_uuid = ${uuid} ORDER BY id`
    expect(audited.map(({ action }) => action)).toEqual(['round_accepted', 'round_accepted'])
    const claim = await claimOf(db.sql, uuid)
    expect(claim).toMatchObject({ number: 2, base_commit: 'abc', history: end.history, attempt: 1, interruptions: 0 })
  })

  it('never resumes a failed session', async () => {
    const uuid = await createSession(context)
    await finishRound(context, await claimOf(db.sql, uuid), { ...end, status: 'failed', message: 'runner failed: x' })
    const before = await detail(uuid)
    const sent = context.sent.length
    await next(uuid)
    expect(await detail(uuid)).toEqual(before)
    expect(context.sent).toHaveLength(sent)
    expect(context.lines.at(-1)?.message).toBe(
      `runner not started: Session ${uuid} is finished and cannot be resumed. (session ${uuid})`,
    )
  })

  it('opens one round for fifty requests at once', async () => {
    const uuid = await createSession(context)
    await finishRound(context, await claimOf(db.sql, uuid), { ...end, status: 'completed' })
    const sent = context.sent.length
    await Promise.all(Array.from({ length: 50 }, (_, index) => next(uuid, `request ${index}`)))
    const session = await detail(uuid)
    expect(session?.rounds.map((round) => round.number)).toEqual([1, 2])
    expect(session?.rounds[1]?.statuses.map((row) => row.status)).toEqual(['started'])
    expect(context.sent).toHaveLength(sent + 1)
  })

  it('refuses an apply on a locked session inside of the statement, and nothing else there', async () => {
    const uuid = await createSession(context)
    await finishRound(context, await claimOf(db.sql, uuid), { ...end, status: 'completed' })
    await setLock(context, uuid, true)
    const before = await detail(uuid)
    const apply = { session_uuid: uuid, mode: 'apply', query: 'Engine apply.', is_partial: false } as const
    await expect(acceptRound(context, apply)).rejects.toMatchObject({
      status: 409,
      message: `Session ${uuid} is blocked; apply is not allowed.`,
    })
    expect(await detail(uuid)).toEqual(before)
    await next(uuid)
    expect((await detail(uuid))?.rounds).toHaveLength(2)
  })

  it('takes the mark back when the queue refuses', async () => {
    const uuid = await createSession(context)
    await finishRound(context, await claimOf(db.sql, uuid), { ...end, status: 'completed' })
    const before = await detail(uuid)
    const queue = { ...context.queue, enqueue: () => Promise.reject(new Error('no queue')) }
    const request = { session_uuid: uuid, mode: 'generate', query: 'x', is_partial: false } as const
    await expect(acceptRound({ ...context, queue }, request)).rejects.toThrow('no queue')
    expect(await detail(uuid)).toEqual(before)
  })
})
