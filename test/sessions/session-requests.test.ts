import { describe, expect, it } from 'vitest'
import type { Mode } from '../../src/base/vocabulary.ts'
import { acceptRound } from '../../src/rounds/accept.ts'
import type { RoundEnd } from '../../src/rounds/finish.ts'
import { readSessionRequests } from '../../src/sessions/session-requests.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { startOnce } from '../helpers/start-once.ts'
import { createSteps } from '../pipeline/steps/support.ts'

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
