import { describe, expect, it } from 'vitest'
import { LeaseLost } from '../../src/base/errors.ts'
import {
  insertCodeChange,
  insertComplianceCheck,
  insertPlan,
  insertReport,
  setPlanDocument,
} from '../../src/reports/artifacts.ts'
import { claimForRun } from '../../src/rounds/claim.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { recordJob } from '../../src/rounds/run-records.ts'
import { appendStatus, releaseRound, STATUS_CHANNEL } from '../../src/rounds/transitions.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { findSession } from '../../src/sessions/find.ts'
import { eventually } from '../helpers/eventually.ts'
import { claimedSession, claimOf, createSession, END, lapseLease, useVerbs } from '../sessions/fixtures.ts'

const { db, context } = useVerbs()

const object = { uri: 'sessions/x/plans/1.txt', content_type: 'text/plain', file_size_bytes: 12 }
const detail = (uuid: string) => loadAggregate(context, uuid, { includeHistory: true })

const writes: [string, (round: ClaimedRound) => Promise<unknown>][] = [
  ['a plan', (round) => insertPlan(db.sql, round, { ...object, targets: [] })],
  ['the document of a plan', (round) => setPlanDocument(db.sql, round, 1, object)],
  ['a report', (round) => insertReport(db.sql, round, { ...object, type: 'generate' })],
  ['a compliance check', (round) => insertComplianceCheck(db.sql, round, { ...object, passed: true })],
  ['a code change', (round) => insertCodeChange(db.sql, round, { ...object, file_name: 'main.tf' })],
  ['a job', (round) => recordJob(db.sql, round, 'plan', 'job-1')],
]

async function everything(uuid: string) {
  const [session] = await db.sql`SELECT * FROM sessions WHERE uuid = ${uuid}`
  const rounds =
    await db.sql`SELECT id, attempts, handed_back, jobs, finished_at FROM rounds WHERE session_id = ${session?.id}`
  const artifacts = await db.sql`SELECT count(*) FROM artifacts`
  return { session, rounds, artifacts, aggregate: await detail(uuid) }
}

describe('claimForRun', () => {
  it('gives a round to one of many', async () => {
    const uuid = await createSession(context)
    const id = (await detail(uuid))?.rounds[0]?.id ?? 0
    const claims = await Promise.all(Array.from({ length: 8 }, () => claimForRun(db.sql, id)))
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1)
  })

  it('removes what the interrupted attempt recorded, counts the interruption and keeps its jobs', async () => {
    const { uuid, claim: first } = await claimedSession(context)
    await insertPlan(db.sql, first, { ...object, targets: ['a'] })
    await insertReport(db.sql, first, { ...object, type: 'generate' })
    await recordJob(db.sql, first, 'apply', 'job-7')
    await lapseLease(db.sql, first.id)
    const second = await claimOf(db.sql, uuid)
    expect(second).toMatchObject({ attempt: 2, interruptions: 1, jobs: { apply: 'job-7' } })
    await insertPlan(db.sql, second, { ...object, targets: ['b'] })
    const [round] = (await detail(uuid))?.rounds ?? []
    expect(round?.plans.map((plan) => plan.targets)).toEqual([['b']])
    expect(round?.reports).toEqual([])
    expect(round?.statuses.map((row) => [row.status, row.message])).toEqual([
      ['started', null],
      ['started', 'The round was interrupted and starts again.'],
    ])
  })
})

describe('a run that lost its lease', () => {
  it.each(writes)('does not write %s', async (_, write) => {
    const { uuid, claim: stale } = await claimedSession(context)
    await lapseLease(db.sql, stale.id)
    await claimOf(db.sql, uuid)
    const before = await everything(uuid)
    await expect(write(stale)).rejects.toBeInstanceOf(LeaseLost)
    expect(await everything(uuid)).toEqual(before)
  })

  it.each(writes)('does not write %s after the end of its round', async (_, write) => {
    const { uuid, claim } = await claimedSession(context)
    await finishRound(context, claim, END)
    const before = await everything(uuid)
    await expect(write(claim)).rejects.toBeInstanceOf(LeaseLost)
    expect(await everything(uuid)).toEqual(before)
  })

  it('leaves no artifact behind when the claim comes while it writes', async () => {
    const { uuid, claim: stale } = await claimedSession(context)
    await lapseLease(db.sql, stale.id)
    const outcomes = Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        insertCodeChange(db.sql, stale, { ...object, file_name: `${index}.tf` }),
      ),
    )
    const [claim] = await Promise.all([claimOf(db.sql, uuid), outcomes])
    expect((await detail(uuid))?.rounds[0]?.code_changes).toEqual([])
    await insertCodeChange(db.sql, claim, { ...object, file_name: 'kept.tf' })
    expect((await detail(uuid))?.rounds[0]?.code_changes.map((change) => change.file_name)).toEqual(['kept.tf'])
  })
})

describe('releaseRound', () => {
  it('offers the round again without counting an interruption', async () => {
    const { uuid, claim: first } = await claimedSession(context)
    const sent = context.sent.length
    await releaseRound(context, first)
    expect(context.sent.slice(sent)).toEqual([first.id])
    expect(await claimOf(db.sql, uuid)).toMatchObject({ attempt: 2, interruptions: 0 })
  })
})

describe('appendStatus', () => {
  it('keeps long and awkward messages', async () => {
    const { uuid, claim } = await claimedSession(context)
    await appendStatus(db.sql, claim, 'generating', `a\0b\udc00${'x'.repeat(100_000)}`)
    const session = await findSession(db.sql, uuid)
    expect(session?.current_status).toBe('generating')
    const [row] = await db.sql`SELECT last_message FROM sessions WHERE uuid = ${uuid}`
    expect(row?.last_message).toBe(`ab\ufffd${'x'.repeat(100_000)}`)
    expect((await detail(uuid))?.rounds[0]?.statuses.at(-1)?.message).toBe(row?.last_message)
  })

  it('rings for every change of status, once', async () => {
    const heard: string[] = []
    await db.sql.listen(STATUS_CHANNEL, (payload) => void heard.push(payload))
    const until = (count: number) => eventually(() => expect(heard.length).toBeGreaterThanOrEqual(count))
    const uuid = await createSession(context)
    await until(1)
    const claim = await claimOf(db.sql, uuid)
    await appendStatus(db.sql, claim, 'filtering', 'x')
    await until(2)
    await finishRound(context, claim, END)
    await until(3)
    expect(heard).toEqual([uuid, uuid, uuid])
  })
})

describe('finishRound', () => {
  it('shows the terminal status and the released mark together', async () => {
    const { uuid, claim } = await claimedSession(context)
    await appendStatus(db.sql, claim, 'generating', 'x')
    const history = [{ user: 'q\0', assistant: 'a \ud800 b' }]
    const end = { status: 'uncompleted', message: 'no', history, commit: 'c1', usage: { model_s: 1.5 } } as const
    await finishRound(context, claim, end)
    const session = await detail(uuid)
    expect(session).toMatchObject({
      in_flight: false,
      current_status: 'uncompleted',
      history: [{ user: 'q', assistant: 'a \ufffd b' }],
    })
    expect(session?.rounds[0]?.statuses.map((row) => [row.status, row.message])).toEqual([
      ['started', null],
      ['generating', 'x'],
      ['uncompleted', 'no'],
    ])
    const [round] = await db.sql`SELECT usage, finished_at, lease_until FROM rounds WHERE id = ${claim.id}`
    expect(round).toMatchObject({ usage: { model_s: 1.5 }, lease_until: null })
    expect(round?.finished_at).not.toBeNull()
  })

  it('writes everything or nothing', async () => {
    const { uuid, claim } = await claimedSession(context)
    const before = await everything(uuid)
    await expect(finishRound(context, claim, { ...END, commit: 'x'.repeat(65) })).rejects.toThrow()
    expect(await everything(uuid)).toEqual(before)
    await finishRound(context, claim, END)
    expect((await detail(uuid))?.current_status).toBe('completed')
  })

  it('keeps the commit of the round before when it has none', async () => {
    const { uuid, claim } = await claimedSession(context)
    await finishRound(context, claim, { ...END, commit: 'c1' })
    await db.sql`UPDATE sessions SET in_flight = true WHERE uuid = ${uuid}`
    await db.sql`INSERT INTO rounds (session_id, number, query, mode) SELECT id, 2, 'q', 'generate' FROM sessions WHERE uuid = ${uuid}`
    await finishRound(context, await claimOf(db.sql, uuid), { ...END, commit: null })
    expect(await db.sql`SELECT last_commit FROM sessions WHERE uuid = ${uuid}`).toEqual([{ last_commit: 'c1' }])
  })
})
