import { describe, expect, it } from 'vitest'
import type { Mode } from '../../src/base/vocabulary.ts'
import { acceptRound } from '../../src/rounds/accept.ts'
import { finishRound, type RoundEnd } from '../../src/rounds/finish.ts'
import { emptyResult } from '../../src/rounds/round-result.ts'
import { readSessionRequests } from '../../src/sessions/session-requests.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { startOnce } from '../helpers/start-once.ts'
import { createSteps } from '../pipeline/steps/support.ts'
import { claimOf, END } from './fixtures.ts'

const steps = startOnce(createSteps)

/** Runs rounds with these ends, then reads the requests as one more round sees them. */
async function requestsAfter(rounds: [query: string, mode: Mode, end: RoundEnd['status']][], present = 'now') {
  const { context } = (await steps.world()).run
  const { sql } = context
  const [first] = rounds
  const user = await createUser(sql, crypto.randomUUID())
  const uuid = await openSession(context, user.id, { query: first?.[0] ?? present })
  for (const [index, [query, mode, end]] of rounds.entries()) {
    if (index > 0) await acceptRound(context, { session_uuid: uuid, mode, query, is_partial: false })
    await (await runRound(context, uuid)).finish(end)
  }
  if (first) await acceptRound(context, { session_uuid: uuid, mode: 'generate', query: present, is_partial: false })
  const { round } = await runRound(context, uuid)
  return (await readSessionRequests(sql, round)).map(({ number, text, fate }) => `${number} ${fate}: ${text}`)
}

it('requests that are built, and not applied yet, have the assumptions that were shown', async () => {
  const { context } = (await steps.world()).run
  const { sql } = context
  const uuid = await openSession(context, (await createUser(sql, crypto.randomUUID())).id, { query: 'one' })
  const end = async (status: RoundEnd['status'], assumptions: string[]) => {
    const result = { ...emptyResult(), summary: 'x', assumptions }
    await finishRound(context, await claimOf(sql, uuid), { ...END, status, result })
  }
  const next = (query: string, mode: Mode = 'generate') =>
    acceptRound(context, { session_uuid: uuid, mode, query, is_partial: false })
  await end('completed', ['of one'])
  await next('Applying', 'apply')
  await end('completed', [])
  for (const [query, assumptions] of [
    ['two', ['a', 'b']],
    ['three', []],
  ] as const) {
    await next(query)
    await end('completed', [...assumptions])
  }
  await next('declined')
  await end('uncompleted', ['of none'])
  await next('now')
  expect(await readSessionRequests(sql, await claimOf(sql, uuid))).toEqual([
    { number: 1, text: 'one', fate: 'applied' },
    { number: 3, text: 'two', fate: 'built', assumptions: ['a', 'b'] },
    { number: 4, text: 'three', fate: 'built' },
    { number: 6, text: 'now', fate: 'present' },
  ])
})

describe('readSessionRequests', () => {
  it('has the only request as the present one', async () => {
    expect(await requestsAfter([])).toEqual(['1 present: now'])
  })

  it('lists carried out requests in their order and leaves declined ones out', async () => {
    expect(
      await requestsAfter([
        ['keep 35 days', 'generate', 'completed'],
        ['tell a joke', 'generate', 'uncompleted'],
        ['add an alarm', 'generate', 'completed'],
      ]),
    ).toEqual(['1 built: keep 35 days', '3 built: add an alarm', '4 present: now'])
  })

  it('keeps the first request although it was declined', async () => {
    expect(await requestsAfter([['everything', 'generate', 'uncompleted']])).toEqual([
      '1 declined: everything',
      '2 present: now',
    ])
  })

  it('knows which requests an apply has carried into the infrastructure', async () => {
    expect(
      await requestsAfter([
        ['one', 'generate', 'completed'],
        ['Applying', 'apply', 'completed'],
        ['two', 'generate', 'completed'],
        ['Applying', 'apply', 'uncompleted'],
      ]),
    ).toEqual(['1 applied: one', '3 built: two', '5 present: now'])
  })
})
