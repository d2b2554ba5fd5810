import { expect, it } from 'vitest'
import { recordSpend } from '../../src/budget/spend.ts'
import { provideCore, refusalOf } from '../helpers/core.ts'
import { listedRepository } from '../helpers/git-remote.ts'
import { interceptRequests } from '../helpers/intercept.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'

const server = interceptRequests()
const yaml =
  'llm: {budget: {round: {tokens: 700, dollars: 1}, user_day: {tokens: 1000, dollars: 2}, platform_day: {tokens: 5000}}}'
let now = new Date('2026-03-01T20:00:00Z')
const core = provideCore({ yaml, context: { now: () => now } })

const spend = (user_id: number, tokens: number, dollars: number | null = 0) =>
  recordSpend(core.context.sql, { user_id, round_id: null }, now.toISOString().slice(0, 10), {
    usage: { input_tokens: tokens, cached_tokens: 0, output_tokens: 0 },
    dollars,
  })
const usage = async () => (await core.call('GET', '/api/v1/users/me/usage')).json()

const REPOSITORY = 'https://github.com/acme/network'
const FIRST = { q: 'Add a bucket', repo_uri: REPOSITORY, scope_id: 'acme', engine_providers: 'aws' }
const ask = (body: object = FIRST, route = 'generate') => core.call('POST', `/api/v1/iac/${route}`, { json: body })
const countSessions = async () => (await core.context.sql`SELECT 1 FROM sessions`).length

it('tells what the caller used today and what is left of the budgets of the day', async () => {
  now = new Date('2026-03-01T20:00:00Z')
  const none = { input_tokens: 0, cached_tokens: 0, output_tokens: 0 }
  expect(await usage()).toMatchObject({ ...none, cost_usd: 0, day: '2026-03-01', ends_at: '2026-03-02T00:00:00.000Z' })
  await spend(core.me, 400, 0.5)
  await spend((await createUser(core.context.sql, 'other')).id, 600, 3)
  expect(await usage()).toMatchObject({
    input_tokens: 400,
    cost_usd: 0.5,
    budgets: [
      { budget: 'user_day', unit: 'tokens', limit: 1000, used: 400, left: 600 },
      { budget: 'user_day', unit: 'dollars', limit: 2, used: 0.5, left: 1.5 },
      { budget: 'platform_day', unit: 'tokens', limit: 5000, used: 1000, left: 4000 },
    ],
  })
  await spend(core.me, 1, null)
  expect(await usage()).toMatchObject({ cost_usd: null })
})

it('tells in the detail of a session what is left of the budget of each of its rounds', async () => {
  const uuid = await openSession(core.context, core.me)
  const claim = await runRound(core.context, uuid)
  const detail = async () => (await core.call('GET', `/api/v1/sessions?id=${uuid}`)).json()
  const budgetsOf = async () => (await detail()).rounds.map(({ budgets }: { budgets: object }) => budgets)
  const left = (used: number, dollars: number) => [
    { budget: 'round', unit: 'tokens', limit: 700, used, left: Math.max(0, 700 - used) },
    { budget: 'round', unit: 'dollars', limit: 1, used: dollars, left: 1 - dollars },
  ]
  expect(await budgetsOf()).toEqual([left(0, 0)])
  const usage = { input_tokens: 500, cached_tokens: 400, output_tokens: 250 }
  const [round] = await core.context.sql<{ id: number }[]>`
    SELECT r.id FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid}`
  await recordSpend(core.context.sql, { user_id: core.me, round_id: round?.id ?? 0 }, '2026-03-02', {
    usage,
    dollars: 0.25,
  })
  expect(await budgetsOf()).toEqual([left(750, 0.25)])
  await claim.finish('completed', 'GENERATE', [])
  // The second answer comes from the cache.
  for (const time of [1, 2]) expect(await budgetsOf(), `time ${time}`).toEqual([left(750, 0.25)])
  expect((await detail()).rounds[0]).not.toHaveProperty('spent')
})

it('refuses a round with 429 until the next day when the budget of the day is used up, and nothing is opened', async () => {
  now = new Date('2026-03-05T20:00:00Z')
  server.use(listedRepository(REPOSITORY))
  const uuid = await openSession(core.context, core.me)
  await (await runRound(core.context, uuid)).finish('completed', 'GENERATE', [])
  await spend(core.me, 1_001)
  const before = await countSessions()
  const text =
    'No round was started: the model budget of one user for one day is used up: its limit is 1,000 tokens, and 1,001 ' +
    'were used on 2026-03-05 (UTC). It is whole again at 2026-03-06 00:00 UTC. Who operates the platform can raise it ' +
    '(llm.budget.user_day.tokens).'
  for (const route of ['generate', 'drift', 'import']) expect(await refusalOf(ask(FIRST, route))).toEqual([429, text])
  const answer = await ask({ q: 'More', session_id: uuid })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, String(4 * 60 * 60)])
  expect(await countSessions()).toBe(before)
  // What is wrong with a request is told first, and an apply needs no model.
  expect((await ask({ q: 'More', session_id: crypto.randomUUID() })).status).toBe(404)
  expect((await ask({ session_id: uuid }, 'apply')).status).toBe(202)
  now = new Date('2026-03-06T00:00:00Z')
  expect((await ask()).status).toBe(202)
})

it("refuses a round when all users together used up the platform's day", async () => {
  now = new Date('2026-03-09T20:00:00Z')
  await spend((await createUser(core.context.sql, 'third')).id, 5_000)
  expect(await refusalOf(ask())).toEqual([429, expect.stringContaining('of all users together for one day is used up')])
})
