import { describe, expect, it } from 'vitest'
import { LeaseLost } from '../../src/base/errors.ts'
import { insertPlan } from '../../src/reports/artifacts.ts'
import {
  type AttemptDiagnostic,
  type AttemptEnd,
  recordAttemptBegin,
  recordAttemptEnd,
  recordFindings,
} from '../../src/rounds/attempts.ts'
import { finishRound } from '../../src/rounds/finish.ts'
import type { ClaimedRound } from '../../src/rounds/round.ts'
import { releaseRound } from '../../src/rounds/transitions.ts'
import { loadAggregate } from '../../src/sessions/aggregate.ts'
import { claimedSession, claimOf, END, lapseLease, nextRound, useVerbs } from '../sessions/fixtures.ts'

const { db, context } = useVerbs()

const diagnostic: AttemptDiagnostic = {
  severity: 'error',
  step: 'plan',
  summary: 'Invalid index',
  detail: '',
  file: 'main.tf',
  line: 3,
  snippet: '>    3: a[1]',
  address: 'a.b',
  rule: null,
}
const steps: AttemptEnd['steps'] = [{ name: 'generate', outcome: 'ok', seconds: 1.25, runs: 1 }]
const refused: AttemptEnd = {
  outcome: 'refused',
  commit: 'c1',
  steps,
  diagnostics: [diagnostic],
  diagnostics_total: 1,
  input_tokens: 5_000_000_000,
  cached_tokens: 2,
  output_tokens: 3,
  cost_usd: 0.0625,
}
const first = { task: 'generate', reason: null } as const
const time = expect.stringMatching(/\.\d{6}Z$/)

const attemptsOf = async (uuid: string, number = 1) =>
  (await loadAggregate(context, uuid, { includeHistory: true }))?.rounds.find((round) => round.number === number)
    ?.attempts
async function takenOver(uuid: string, round: ClaimedRound): Promise<ClaimedRound> {
  await lapseLease(db.sql, round.id)
  return await claimOf(db.sql, uuid)
}

describe('the attempts of a round', () => {
  it('are seen from their begin, with an end of their own and why the next one began', async () => {
    const { uuid, claim: round } = await claimedSession(context)
    expect(await recordAttemptBegin(db.sql, round, first)).toBe(1)
    const running = {
      number: 1,
      restart: 0,
      task: 'generate',
      started_at: time,
      ended_at: null,
      outcome: null,
      steps: [],
      diagnostics: [],
      diagnostics_total: 0,
      commit: null,
      input_tokens: null,
      cached_tokens: null,
      output_tokens: null,
      cost_usd: null,
      next_reason: null,
    }
    expect(await attemptsOf(uuid)).toEqual([running])
    await recordAttemptEnd(db.sql, round, 1, refused)
    expect(await attemptsOf(uuid)).toEqual([{ ...running, ...refused, ended_at: time }])
    expect(await recordAttemptBegin(db.sql, round, { task: 'drift', reason: 'a\0 \ud800 reason' })).toBe(2)
    const [one, two] = (await attemptsOf(uuid)) ?? []
    expect(one).toEqual({ ...running, ...refused, ended_at: time, next_reason: 'a \ufffd reason' })
    expect(two).toEqual({ ...running, number: 2, task: 'drift' })
  })

  it('take texts that a database takes not, and an unknown price', async () => {
    const { uuid, claim: round } = await claimedSession(context)
    await recordAttemptBegin(db.sql, round, first)
    const odd = { ...diagnostic, summary: 'a\0b \ud800', snippet: '"\\u0000' }
    await recordAttemptEnd(db.sql, round, 1, { ...refused, cost_usd: null, commit: null, diagnostics: [odd] })
    expect(await attemptsOf(uuid)).toMatchObject([
      { cost_usd: null, commit: null, diagnostics: [{ summary: 'ab \ufffd', snippet: '"\\u0000' }] },
    ])
  })

  it('get the findings of a later review', async () => {
    const { uuid, claim: round } = await claimedSession(context)
    await recordAttemptBegin(db.sql, round, first)
    await recordAttemptEnd(db.sql, round, 1, { ...refused, outcome: 'accepted' })
    const rule = { ...diagnostic, step: 'check', rule: 'aws.s3.public' } as const
    await recordFindings(db.sql, round, 1, { diagnostics: [diagnostic, rule], total: 7, outcome: 'accepted' })
    expect(await attemptsOf(uuid)).toMatchObject([
      { outcome: 'accepted', diagnostics: [diagnostic, rule], diagnostics_total: 7 },
    ])
  })

  it('are counted in each round, and only those of that round are listed in it', async () => {
    const { uuid, claim: round } = await claimedSession(context)
    await recordAttemptBegin(db.sql, round, first)
    await recordAttemptEnd(db.sql, round, 1, { ...refused, outcome: 'accepted' })
    await finishRound(context, round, END)
    const second = await nextRound(context, uuid)
    expect(await recordAttemptBegin(db.sql, second, { ...first, reason: 'of round 2' })).toBe(1)
    expect(await attemptsOf(uuid, 1)).toMatchObject([{ number: 1, outcome: 'accepted', next_reason: null }])
    expect(await attemptsOf(uuid, 2)).toMatchObject([{ number: 1, outcome: null }])
  })

  it('are not written by a run that lost its round, nor after its end', async () => {
    const { uuid, claim: round } = await claimedSession(context)
    await recordAttemptBegin(db.sql, round, first)
    const current = await takenOver(uuid, round)
    const before = await attemptsOf(uuid)
    const writes = (stale: ClaimedRound) => [
      () => recordAttemptBegin(db.sql, stale, first),
      () => recordAttemptEnd(db.sql, stale, 1, refused),
      () => recordFindings(db.sql, stale, 1, { diagnostics: [diagnostic], total: 1, outcome: 'accepted' }),
    ]
    for (const write of writes(round)) await expect(write()).rejects.toBeInstanceOf(LeaseLost)
    expect(await attemptsOf(uuid)).toEqual(before)
    await finishRound(context, current, END)
    for (const write of writes(current)) await expect(write()).rejects.toBeInstanceOf(LeaseLost)
    expect(await attemptsOf(uuid)).toEqual(before)
  })
})

describe('an interrupted round', () => {
  it('keeps its attempts, marks the one without an end, and counts on', async () => {
    const { uuid, claim: round } = await claimedSession(context)
    await recordAttemptBegin(db.sql, round, first)
    await recordAttemptEnd(db.sql, round, 1, refused)
    await recordAttemptBegin(db.sql, round, { ...first, reason: 'Invalid index' })
    await insertPlan(db.sql, round, { uri: 'p', content_type: 'text/plain', file_size_bytes: 1, targets: [] })
    const second = await takenOver(uuid, round)
    expect(await recordAttemptBegin(db.sql, second, { ...first, reason: 'It starts again.' })).toBe(3)
    expect(await attemptsOf(uuid)).toMatchObject([
      { number: 1, restart: 0, outcome: 'refused', next_reason: 'Invalid index' },
      { number: 2, restart: 0, outcome: 'interrupted', ended_at: time, steps: [], input_tokens: null },
      { number: 3, restart: 1, outcome: null, ended_at: null, next_reason: null },
    ])
    const plans = await db.sql`SELECT id FROM engine_plans WHERE round_id = ${round.id}`
    expect(plans).toHaveLength(0)
  })

  it('that was handed back is no different', async () => {
    const { uuid, claim: round } = await claimedSession(context)
    await recordAttemptBegin(db.sql, round, first)
    await releaseRound(context, round)
    await claimOf(db.sql, uuid)
    expect(await attemptsOf(uuid)).toMatchObject([{ outcome: 'interrupted' }])
  })
})

describe('an attempt whose end could not be written', () => {
  it('counts as interrupted once its round has ended', async () => {
    const { uuid, claim: round } = await claimedSession(context)
    await recordAttemptBegin(db.sql, round, first)
    await finishRound(context, round, END)
    expect(await attemptsOf(uuid)).toMatchObject([{ outcome: 'interrupted', ended_at: time }])
  })
})
