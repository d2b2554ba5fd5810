import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { type RetentionContext, removeOldSessions } from '../../pipeline/retention.ts'
import { recordAudit } from '../../src/access/audit/record.ts'
import { createLogger } from '../../src/base/log.ts'
import { storeCodeChange, storeEngineOutput, storePlanDocument, storePlanText } from '../../src/reports/artifacts.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import { recordSavedPlan, setLock } from '../../src/rounds/transitions.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { readStandings } from '../../src/sessions/find.ts'
import { listSessions } from '../../src/sessions/list.ts'
import { countTotals } from '../../src/sessions/lists/totals.ts'
import { recordPullRequest } from '../../src/sessions/pull-requests.ts'
import { configOf } from '../helpers/core.ts'
import { SAVED_PLAN } from '../helpers/sessions.ts'
import { claimOf, createSession, END, nextRound, useVerbs } from '../sessions/fixtures.ts'

const { db, context: verbs } = useVerbs()
const never = new AbortController().signal
const DAYS = 30

type PullRequestState = 'open' | 'closed' | 'merged' | 'merged here' | 'unknown'

/** A world with an object store in memory and a git host that knows the states of pull requests. */
async function world(yaml = `retention: { days: ${DAYS} }`) {
  const objects = new Set<string>()
  const states = new Map<number, PullRequestState>()
  const lines: Record<string, unknown>[] = []
  const asked: number[] = []
  const fetch: RetentionContext['fetch'] = async (input) => {
    const number = Number(/\/pulls\/(\d+)$/.exec(String(input instanceof Request ? input.url : input))?.[1])
    if (Number.isNaN(number)) return Response.json({}, { status: 404 })
    asked.push(number)
    const state = states.get(number)
    if (state === 'unknown' || state === undefined) return Response.json({ message: 'Not Found' }, { status: 404 })
    const head = { sha: 'a'.repeat(40) }
    return Response.json({
      mergeable: true,
      state: state === 'open' ? 'open' : 'closed',
      merged: state === 'merged',
      head,
    })
  }
  const storage = {
    ...verbs.storage,
    put: async (key: string, body: string | Uint8Array) => {
      objects.add(key)
      return body.length
    },
    list: async (prefix: string) => [...objects].filter((key) => key.startsWith(prefix)).slice(0, 3),
    delete: async (key: string) => void objects.delete(key),
  }
  const context: RetentionContext = {
    config: await configOf(yaml),
    sql: db.sql,
    cache: verbs.cache,
    storage,
    fetch,
    log: createLogger({ write: (line) => lines.push(JSON.parse(line)) }),
    now: () => new Date(),
  }
  const run = (batch = 4) => removeOldSessions(context, never, { batch, pause: false })
  return { context, objects, states, lines, asked, run }
}
type World = Awaited<ReturnType<typeof world>>

let numbers = 0
// What an earlier test has left is young again.
beforeEach(async () => {
  await db.sql`UPDATE sessions SET updated_at = DEFAULT`
})

interface Traits {
  days: number
  /** `failed` accepts no further round. */
  end: 'completed' | 'failed' | 'open'
  locked?: boolean
  plan?: boolean
  pull_request?: PullRequestState | null
  /** Project in which the session has applied. */
  applied?: string | null
}

/** Creates a session of one round with artifacts, whose last activity lies some days back. */
async function create({ context, objects, states }: World, traits: Traits): Promise<string> {
  const { sql } = db
  const uuid = await createSession(verbs, { repo_uri: 'https://github.com/acme/network' })
  const round = await claimOf(sql, uuid)
  const plan = await storePlanText(context, round, { text: 'plan', targets: [] })
  await storePlanDocument(context, round, plan, '{}')
  await storeEngineOutput(context, round, { step: 'plan', exit_code: 0, text: 'out' })
  await storeCodeChange(context, round, { path: 'main.tf', new_file: true, content: '' })
  // What a killed worker had uploaded and not recorded.
  objects.add(`sessions/${uuid}/rounds/${round.id}/plans/unrecorded.txt`)
  if (traits.plan) await recordSavedPlan(sql, round, SAVED_PLAN)
  if (traits.pull_request) {
    const number = ++numbers
    states.set(number, traits.pull_request)
    const pull = { provider: 'GITHUB', number, url: `https://github.com/acme/network/pull/${number}` } as const
    await recordPullRequest(verbs, uuid, pull)
    if (traits.pull_request === 'merged here')
      await recordAudit(sql, {
        ...{ action: 'merge_completed', actor: { user_id: null, name: 'platform', address: null } },
        ...{ session_id: uuid, detail: pull },
      })
  }
  if (traits.applied)
    await sql`INSERT INTO applies (round_id, project_id, intended_at)
      VALUES (${round.id}, ${traits.applied}, clock_timestamp())`
  if (traits.locked) await setLock(verbs, uuid, true)
  if (traits.end !== 'open') await finishRound(verbs, round, { ...END, status: traits.end })
  await setAge(uuid, traits.days)
  return uuid
}

const setAge = (uuid: string, days: number) =>
  db.sql.begin(async (tx) => {
    // Without the trigger that refreshes the time.
    await tx`SET LOCAL session_replication_role = replica`
    await tx`UPDATE sessions SET updated_at = now() - make_interval(days => ${days}) WHERE uuid = ${uuid}`
  })

const exists = async (uuid: string) => (await db.sql`SELECT 1 FROM sessions WHERE uuid = ${uuid}`).length > 0
const OLD = { days: DAYS + 1, end: 'completed' } as const

/** Counts the rows of all tables that have something of sessions, by table. */
async function countRows(): Promise<Record<string, number>> {
  const tables = await db.sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
      AND relname NOT IN ('users', 'audit_records', 'removed_sessions', 'searched_repositories', 'schema_steps',
                          'session_counts', 'user_spend', 'kept_sessions')`
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await db.sql<{ n: number }[]>`SELECT count(*) AS n FROM ${db.sql(name)}`
    counts[name] = row?.n ?? 0
  }
  return counts
}

describe('removal of old sessions', () => {
  it('removes every row and object of a session, and leaves the audit, users and other sessions', async () => {
    const there = await world()
    const young = await create(there, { ...OLD, days: DAYS - 1, plan: true })
    const before = await countRows()
    const kept = there.objects.size
    const totals = await countTotals(db.sql, {})
    const audited = await db.sql`SELECT count(*) AS n FROM audit_records`
    const old = await create(there, { ...OLD, plan: true, pull_request: 'merged' })
    await nextRound(verbs, old).then((round) => finishRound(verbs, round, END))
    await setAge(old, DAYS + 1)
    await loadAggregate({ ...verbs, ...there.context }, old, { includeHistory: false })
    expect(await there.run()).toEqual({ sessions: 1, objects: 5 })
    expect(await countRows()).toEqual(before)
    expect(there.objects.size).toBe(kept)
    expect(await loadAggregate({ ...verbs, ...there.context }, old, { includeHistory: false })).toBeNull()
    expect(await exists(young)).toBe(true)
    expect(await countTotals(db.sql, {})).toEqual(totals)
    expect((await listSessions(db.sql, { page: 1, page_size: 5, search: old })).total).toBe(0)
    const [now] = await db.sql<{ n: number }[]>`SELECT count(*) AS n FROM audit_records`
    expect(now?.n).toBeGreaterThan(audited[0]?.n)
    expect(there.lines).toContainEqual(
      expect.objectContaining({ message: 'old sessions removed', sessions: 1, objects: 5, retention_days: DAYS }),
    )
  })

  it('does nothing unless it is switched on', async () => {
    const there = await world('')
    const old = await create(there, { ...OLD, days: 10_000 })
    expect(await there.run()).toEqual({ sessions: 0, objects: 0 })
    expect(await exists(old)).toBe(true)
    expect(there.lines).toEqual([])
  })

  it('never removes what it must keep, whatever sessions there are', async () => {
    const there = await world()
    const traits = fc.sample(
      fc.record({
        days: fc.constantFrom(0, DAYS - 1, DAYS + 1, 400),
        end: fc.constantFrom('completed', 'failed', 'open' as const),
        locked: fc.boolean(),
        plan: fc.boolean(),
        pull_request: fc.constantFrom(null, null, 'open', 'closed', 'merged', 'merged here', 'unknown' as const),
        applied: fc.constantFrom(null, null, 'project-a', 'project-b', 'project-c'),
      }),
      { numRuns: 60, seed: 2_901 },
    ) as Traits[]
    const created: (Traits & { uuid: string })[] = []
    for (const one of traits) created.push({ ...one, uuid: await create(there, one) })
    const mustStay = (one: Traits, place: number) =>
      one.days < DAYS ||
      one.end === 'open' ||
      one.locked ||
      one.pull_request === 'open' ||
      one.pull_request === 'unknown' ||
      (one.applied && !created.slice(place + 1).some(({ applied }) => applied === one.applied))
    await there.run(7)
    const stay = created.filter(mustStay)
    const there_still = []
    for (const one of created) if (await exists(one.uuid)) there_still.push(one)
    // A host that does not answer is left alone after some questions, so that more may stay; never fewer.
    expect(there_still).toEqual(expect.arrayContaining(stay))
    for (const one of there_still)
      expect(
        mustStay(one, created.indexOf(one)) || (one.pull_request && one.pull_request !== 'merged here'),
      ).toBeTruthy()
    expect(there_still.length).toBeLessThan(created.length)
    const left = new Set([...there.objects].map((key) => key.split('/')[1]))
    for (const { uuid } of created) expect(left.has(uuid)).toBe(await exists(uuid))
  })
})

describe('pull requests', () => {
  it('asks the git host, and again only after a day where one is open', async () => {
    const there = await world()
    const open = await create(there, { ...OLD, pull_request: 'open' })
    const closed = await create(there, { ...OLD, pull_request: 'closed' })
    await there.run()
    expect([await exists(open), await exists(closed)]).toEqual([true, false])
    expect(there.asked).toHaveLength(2)
    await there.run()
    expect(there.asked).toHaveLength(2)
    there.states.set(numbers - 1, 'merged')
    there.context.now = () => new Date(Date.now() + 25 * 3_600_000)
    await there.run()
    expect(await exists(open)).toBe(false)
  })

  it('does not ask about what was merged through the platform', async () => {
    const there = await world()
    const merged = await create(there, { ...OLD, pull_request: 'merged here' })
    await there.run()
    expect([await exists(merged), there.asked]).toEqual([false, []])
  })

  it('leaves a host alone that does not answer, and goes on with the other sessions', async () => {
    const there = await world()
    for (let turn = 0; turn < 5; turn++) await create(there, { ...OLD, pull_request: 'unknown' })
    const none = await create(there, OLD)
    expect((await there.run(2)).sessions).toBe(1)
    expect(await exists(none)).toBe(false)
    expect(there.asked).toHaveLength(3)
  })

  it('keeps them without credentials for the git host', async () => {
    const there = await world()
    there.context.config = await configOf(`retention: { days: ${DAYS} }`, { GIT_USER: '', GIT_TOKEN: '' })
    const merged = await create(there, { ...OLD, pull_request: 'merged' })
    await there.run()
    expect([await exists(merged), there.asked]).toEqual([true, []])
  })
})

describe('faults', () => {
  it('deletes the objects later when the store fails after the rows are gone, also when it is switched off', async () => {
    const there = await world()
    const old = await create(there, OLD)
    const { delete: remove } = there.context.storage
    there.context.storage.delete = async () => {
      throw new Error('the store is away')
    }
    await expect(there.run()).rejects.toThrow('the store is away')
    expect(await exists(old)).toBe(false)
    const own = () => [...there.objects].filter((key) => key.includes(old)).length
    expect(own()).toBe(5)
    there.context.storage.delete = remove
    there.context.config = await configOf()
    expect(await there.run()).toEqual({ sessions: 0, objects: 5 })
    expect(own()).toBe(0)
    expect(await there.run()).toEqual({ sessions: 0, objects: 0 })
  })

  it('leaves a session alone that somebody is changing, and one that has become active since it was found', async () => {
    const there = await world()
    const busy = await create(there, OLD)
    await db.sql.begin(async (tx) => {
      await tx`SELECT 1 FROM sessions WHERE uuid = ${busy} FOR UPDATE`
      expect((await there.run()).sessions).toBe(0)
    })
    // The next round is accepted between the search and the removal.
    const pulled = await create(there, { ...OLD, pull_request: 'merged' })
    const { fetch } = there.context
    there.context.fetch = async (...args) => {
      await nextRound(verbs, pulled)
      return fetch(...args)
    }
    expect((await there.run()).sessions).toBe(1)
    expect([await exists(busy), await exists(pulled)]).toEqual([false, true])
  })

  it('is refused to nobody: two workers remove each session once', async () => {
    const there = await world()
    for (let turn = 0; turn < 12; turn++) await create(there, OLD)
    const both = await Promise.all([there.run(3), there.run(3)])
    expect(both.reduce((sum, { sessions }) => sum + sessions, 0)).toBe(12)
  })

  it('tells workers that the folders of a removed session are not needed, for 30 days', async () => {
    const there = await world()
    const old = await create(there, { ...OLD, plan: true })
    await there.run()
    expect((await readStandings(db.sql, [old])).get(old)).toMatchObject({ in_flight: false, has_saved_plan: false })
    there.context.now = () => new Date(Date.now() + 31 * 24 * 3_600_000)
    there.context.config = await configOf()
    await there.run()
    expect((await readStandings(db.sql, [old])).size).toBe(0)
  })
})
