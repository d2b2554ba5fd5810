import { describe, expect, it } from 'vitest'
import { connect } from '../../src/data/db/pool.ts'
import {
  insertCodeChange,
  insertComplianceCheck,
  insertPlan,
  insertReport,
  setPlanDocument,
} from '../../src/reports/artifacts.ts'
import { acceptRound } from '../../src/rounds/accept.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import { sessionAggregateKey } from '../../src/rounds/round.ts'
import { emptyResult } from '../../src/rounds/round-result.ts'
import { appendStatus, setLock } from '../../src/rounds/transitions.ts'
import { loadAggregate, sessionAggregateTtl } from '../../src/sessions/aggregate.ts'
import { findSession } from '../../src/sessions/find.ts'
import { findLatestPullRequest, recordPullRequest } from '../../src/sessions/pull-requests.ts'
import { claimedSession, createSession, END, nextRound, useVerbs } from './fixtures.ts'

const { db, context } = useVerbs()

const object = { content_type: 'application/json', file_size_bytes: 34 }
const end = { ...END, history: [{ user: 'a', assistant: 'b' }] }
const pull_request = { provider: 'GITHUB', number: 12, url: 'https://github.com/acme/network/pull/12' } as const
const load = (uuid: string, include_history = false) =>
  loadAggregate(context, uuid, { includeHistory: include_history })
const NOWHERE = '00000000-0000-4000-8000-000000000000'

async function finishedSession(): Promise<string> {
  const { uuid, claim } = await claimedSession(context)
  await appendStatus(db.sql, claim, 'report', 'x')
  await insertReport(db.sql, claim, { ...object, uri: 'r/1.json', type: 'generate' })
  await insertReport(db.sql, claim, { ...object, uri: 'r/2.json', type: 'drift' })
  await insertComplianceCheck(db.sql, claim, { ...object, uri: 'c.json', passed: false })
  await insertPlan(db.sql, claim, { ...object, uri: 'p.txt', targets: ['a.b', 'c["d,e"]'] })
  await insertCodeChange(db.sql, claim, { ...object, uri: 'k', file_name: `${'é'.repeat(300)}.tf` })
  await finishRound(context, claim, end)
  return uuid
}

/** Makes a change outside of the platform. */
const changeBehind = (uuid: string) =>
  db.sql`UPDATE rounds SET query = 'changed' WHERE session_id = (SELECT id FROM sessions WHERE uuid = ${uuid})`

describe('loadAggregate', () => {
  it('answers the session with its rounds and presigned addresses', async () => {
    const uuid = await finishedSession()
    const session = await load(uuid, true)
    const time = expect.stringMatching(/\.\d{6}Z$/)
    const entry = (uri: string) => ({
      ...object,
      id: expect.any(Number),
      url: `https://files.example/${uri}?signature=1`,
      created_at: time,
    })
    expect(session).toEqual({
      uuid,
      username: expect.stringMatching(/^user-\d+$/),
      operation: 'generate',
      provider: 'gcp',
      scope_id: 'project-1',
      first_query: 'create a network',
      workspace: { uri: 'https://github.com/acme/network', branch: expect.any(String), root_path: null },
      current_status: 'completed',
      in_flight: false,
      is_blocked: false,
      lock: null,
      created_at: time,
      updated_at: time,
      history: [{ user: 'a', assistant: 'b' }],
      last_lock_change: null,
      saved_plan: null,
      rounds: [
        {
          id: expect.any(Number),
          number: 1,
          query: 'create a network',
          preview: false,
          statuses: [
            { status: 'started', message: null, created_at: time },
            { status: 'report', message: 'x', created_at: time },
            { status: 'completed', message: 'GENERATE', created_at: time },
          ],
          reports: [
            { ...entry('r/1.json'), type: 'generate' },
            { ...entry('r/2.json'), type: 'drift' },
          ],
          compliance_checks: [{ ...entry('c.json'), passed: false }],
          plans: [{ ...entry('p.txt'), targets: ['a.b', 'c["d,e"]'], document_url: null }],
          code_changes: [{ ...entry('k'), file_name: 'é'.repeat(254) }],
          previews: [],
          outputs: [],
          pull_requests: [],
          state_question: null,
          attempts: [],
          usage: null,
          spent: { tokens: 0, dollars: 0 },
          created_at: time,
        },
      ],
    })
  })

  it('keeps rounds apart and in order', async () => {
    const uuid = await finishedSession()
    const claim = await nextRound(context, uuid)
    const plan = await insertPlan(db.sql, claim, { ...object, uri: 'p2.txt', targets: [] })
    await setPlanDocument(db.sql, claim, plan, { ...object, uri: 'p2.json' })
    const session = await load(uuid)
    expect(session?.rounds[1]?.plans[0]?.document_url).toBe('https://files.example/p2.json?signature=1')
    expect(session?.history).toBeNull()
    expect(
      session?.rounds.map((round) => [round.number, round.plans.length, round.reports.length, round.statuses.length]),
    ).toEqual([
      [1, 1, 2, 3],
      [2, 1, 0, 1],
    ])
  })

  it('takes the same number of queries for many rounds', async () => {
    const uuid = await finishedSession()
    const statements: string[] = []
    const sql = connect(db.url, { onstatement: (text) => statements.push(text) })
    const counted = async () => {
      statements.splice(0)
      await loadAggregate({ ...context, sql }, uuid, { includeHistory: true })
      return statements.length
    }
    const one = await counted()
    for (let round = 0; round < 3; round++) await finishRound(context, await nextRound(context, uuid), end)
    expect(one).toBeGreaterThan(0)
    expect(await counted()).toBe(one)
    await sql.end()
  })

  it.each([NOWHERE, 'not-a-uuid', ''])('knows no session %j', async (uuid) => {
    expect(await load(uuid)).toBeNull()
    expect(await findSession(db.sql, uuid)).toBeNull()
    expect(await setLock(context, uuid, true)).toBeNull()
  })
})

it('shows the published figures of a round, 0 or null for those that are not known', async () => {
  const { uuid, claim } = await claimedSession(context)
  const known = {
    engine_s: 1.5,
    model_s: 2.5,
    input_tokens: 3,
    cached_tokens: 4,
    output_tokens: 5,
    cost_usd: 0.6,
    validation_attempts: 7,
  }
  await finishRound(context, claim, { ...end, usage: { ...known, steps: [] } })
  await finishRound(context, await nextRound(context, uuid), { ...end, usage: { model_s: 1 } })
  const zeros = Object.fromEntries(Object.keys(known).map((name) => [name, 0]))
  expect((await load(uuid))?.rounds.map(({ usage }) => usage)).toEqual([
    known,
    { ...zeros, model_s: 1, cost_usd: null },
  ])
})

it('asks what to do with a state that is kept elsewhere, for the round that stopped because of it', async () => {
  const { uuid, claim } = await claimedSession(context)
  const state_question = {
    ...{ mode: 'generate' as const, is_partial: false, backend: 's3', serial: 7, resources: 1 },
    choices: ['adopt' as const, 'keep' as const],
  }
  await finishRound(context, claim, { ...end, result: { ...emptyResult(), state_question } })
  await finishRound(context, await nextRound(context, uuid), { ...end, result: emptyResult() })
  expect((await load(uuid))?.rounds.map((round) => round.state_question)).toEqual([state_question, null])
})

describe('the cache of finished sessions', () => {
  it('answers a finished session for a day, and not the history', async () => {
    const uuid = await finishedSession()
    const fresh = await load(uuid)
    const entry = context.cache.entries.get(sessionAggregateKey(uuid))
    expect(entry?.ttl).toBeGreaterThanOrEqual(86_400)
    expect(entry?.ttl).toBeLessThanOrEqual(95_040)
    await changeBehind(uuid)
    expect(await load(uuid)).toEqual(fresh)
    expect((await load(uuid, true))?.rounds[0]?.query).toBe('changed')
  })

  it('spreads the lifetimes', () => {
    expect([sessionAggregateTtl(0), sessionAggregateTtl(1)]).toEqual([86_400, 95_040])
  })

  it.each([
    ['for a day when the credentials of its URLs outlive that', 30 * 86_400, [86_400, 95_040]],
    ['for half of what these credentials have left', 3_600, [1_700, 1_800]],
    ['not at all when they have lapsed', -1, [0, 0]],
  ])('answers a finished session %s', async (_, seconds, [least = 0, most = 0]) => {
    const urlsLapse = async () => new Date(Date.now() + seconds * 1000)
    const uuid = await finishedSession()
    await loadAggregate({ ...context, storage: { ...context.storage, urlsLapse } }, uuid, { includeHistory: false })
    const ttl = context.cache.entries.get(sessionAggregateKey(uuid))?.ttl ?? 0
    expect(ttl).toBeGreaterThanOrEqual(least)
    expect(ttl).toBeLessThanOrEqual(most)
  })

  it('holds no session that is in flight', async () => {
    const uuid = await createSession(context)
    await load(uuid)
    expect(context.cache.entries.has(sessionAggregateKey(uuid))).toBe(false)
  })

  it.each([
    [
      'a new round',
      (uuid: string) => acceptRound(context, { session_uuid: uuid, mode: 'generate', query: 'x', is_partial: false }),
    ],
    ['a change of the lock', (uuid: string) => setLock(context, uuid, true)],
    ['a pull request', (uuid: string) => recordPullRequest(context, uuid, pull_request)],
  ] as const)('is dropped by %s', async (_, change) => {
    const uuid = await finishedSession()
    await load(uuid)
    await change(uuid)
    expect(context.cache.entries.has(sessionAggregateKey(uuid))).toBe(false)
  })

  it('does not show what was true before a change that it missed', async () => {
    const uuid = await finishedSession()
    await load(uuid)
    const away = { ...context.cache, delete: async () => {} }
    await acceptRound(
      { ...context, cache: away },
      { session_uuid: uuid, mode: 'generate', query: 'x', is_partial: false },
    )
    expect(await load(uuid)).toMatchObject({ in_flight: true, current_status: 'started' })
  })

  it('shows no entry of a session that the database does not know', async () => {
    await context.cache.set(sessionAggregateKey(NOWHERE), JSON.stringify({ uuid: NOWHERE, updated_at: 'x' }), 60)
    expect(await load(NOWHERE)).toBeNull()
  })

  it('reads the database when the entry is damaged', async () => {
    const uuid = await finishedSession()
    for (const value of ['', '{', 'null', '[]', '{"uuid":1}']) {
      await context.cache.set(sessionAggregateKey(uuid), value, 60)
      expect((await load(uuid))?.uuid).toBe(uuid)
    }
  })
})

describe('setLock', () => {
  it('locks and unlocks from either state', async () => {
    const uuid = await finishedSession()
    for (const locked of [true, true, false, false])
      expect(await setLock(context, uuid, locked)).toEqual({ uuid, is_blocked: locked })
    expect((await findSession(db.sql, uuid))?.is_blocked).toBe(false)
  })
})

describe('pull requests', () => {
  it('belong to the latest round and are recorded once', async () => {
    const uuid = await finishedSession()
    expect(await findLatestPullRequest(db.sql, uuid)).toBeNull()
    await Promise.all([1, 2, 3].map(() => recordPullRequest(context, uuid, pull_request)))
    await acceptRound(context, { session_uuid: uuid, mode: 'generate', query: 'more', is_partial: false })
    await recordPullRequest(context, uuid, pull_request)
    const next = { ...pull_request, number: 13, url: `${pull_request.url}3` }
    await recordPullRequest(context, uuid, next)
    expect((await load(uuid))?.rounds.map((round) => round.pull_requests)).toEqual([[pull_request], [next]])
    expect(await findLatestPullRequest(db.sql, uuid)).toEqual(next)
  })

  it('need a session', async () => {
    await expect(recordPullRequest(context, NOWHERE, pull_request)).rejects.toMatchObject({
      status: 404,
      message: `Session ${NOWHERE} not found.`,
    })
  })
})
