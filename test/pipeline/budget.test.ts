import { describe, expect, it } from 'vitest'
import type { ModelBudget } from '../../config/sections/llm.ts'
import type { Config } from '../../config/types.ts'
import { createBareKit } from '../../pipeline/kit/kit.ts'
import type { BareRun, ModeHandler } from '../../pipeline/kit/run.ts'
import { runRound } from '../../pipeline/run-round.ts'
import type { Context } from '../../src/context.ts'
import { InferenceError, type LlmClient, StoppedInference } from '../../src/llm/inference.ts'
import { createSession, createUser, lapseLease, useVerbs } from '../sessions/fixtures.ts'
import { allModes, detailOf, fakeFrame, runContext } from './frame.ts'

const { context: verbs } = useVerbs()

/** 100 tokens a call, 30 of the 80 of input from the cache: 50 × $2 + 30 × $0.5 + 20 × $8 a million, $0.000275. */
const usage = { input_tokens: 80, cached_tokens: 30, output_tokens: 20 }
const MODEL = 'openai/gpt-4.1'
const NOON = new Date('2026-03-01T12:00:00Z')

function fakeModel() {
  const state = { calls: 0, model: MODEL, before: async () => {} }
  const llm: LlmClient = {
    complete: async () => {
      state.calls++
      await state.before()
      return { model: state.model, text: 'a', tool_calls: [], finish: 'end_turn', finish_raw: 'stop', usage }
    },
    search: async (_query, options) => {
      options?.observe?.({ model: MODEL, usage })
      return 'found'
    },
  }
  return { llm, state }
}

interface World {
  llm: LlmClient
  budget: ModelBudget
  now?: () => Date
}

function contextWith({ llm, budget, now = () => NOON }: World): Context {
  const context = runContext(verbs)
  return { ...context, now, llm, config: { ...context.config, llm: { ...context.config.llm, budget } } as Config }
}

/** Makes a mode that calls the model so many times. */
const asking =
  (times: number, more: (run: BareRun) => Promise<void> = async () => {}): ModeHandler =>
  async (run) => {
    const kit = createBareKit(run)
    for (let i = 0; i < times; i++) await kit.llm.complete({ role: 'small', messages: [] })
    await more(run)
    return { status: 'completed' }
  }

async function roundOf(uuid: string) {
  const round = (await detailOf(verbs, uuid)).rounds.at(-1)
  if (!round) throw new Error('no round')
  return round
}

async function play(world: World, uuid: string, mode: ModeHandler) {
  const fake = fakeFrame()
  await runRound(contextWith(world), (await roundOf(uuid)).id, allModes(mode), new AbortController().signal, fake.frame)
  const { statuses, usage: used } = await roundOf(uuid)
  return { ...statuses.at(-1), usage: used, opened: fake.state.opened, told: fake.told }
}

/** Opens a session of a new user, so that its day is empty, or of this one. */
const sessionOf = async (user_id?: number) =>
  createSession(verbs, { user_id: user_id ?? (await createUser(verbs.sql)).id })
const clearDays = () => verbs.sql`DELETE FROM user_spend`

describe('a budget', () => {
  const one = 'runner failed: the model budget of a round is used up: '
  it.each([
    [
      { round: { tokens: 250 } },
      `${one}its limit is 250 tokens, and 300 were used. Every round has its own, so a smaller request in a new session may ` +
        'fit. Who operates the platform can raise it (llm.budget.round.tokens).',
    ],
    [
      { round: { dollars: 0.0006 } },
      `${one}its limit is $0.0006, and $0.0008 were used. Every round has its own, so a smaller request in a new session may ` +
        'fit. Who operates the platform can raise it (llm.budget.round.dollars).',
    ],
    [
      { user_day: { tokens: 300, dollars: 5 } },
      'runner failed: the model budget of one user for one day is used up: its limit is 300 tokens, and 300 were used on ' +
        '2026-03-01 (UTC). It is whole again at 2026-03-02 00:00 UTC. Who operates the platform can raise it ' +
        '(llm.budget.user_day.tokens).',
    ],
    [
      { platform_day: { tokens: 201 } },
      'runner failed: the model budget of all users together for one day is used up: its limit is 201 tokens, and 300 were ' +
        'used on 2026-03-01 (UTC). It is whole again at 2026-03-02 00:00 UTC. Who operates the platform can raise it ' +
        '(llm.budget.platform_day.tokens).',
    ],
  ])('%j that is reached in a round ends it after the third call', async (budget, message) => {
    await clearDays()
    const { llm, state } = fakeModel()
    const end = await play({ llm, budget }, await sessionOf(), asking(9))
    expect(state.calls).toBe(3)
    expect(end).toMatchObject({ status: 'failed', message, usage: { input_tokens: 240, cost_usd: 0.000_825 } })
    expect(end.told).toHaveLength(1)
  })

  it('without a limit is none', async () => {
    const { llm, state } = fakeModel()
    expect(await play({ llm, budget: {} }, await sessionOf(), asking(30))).toMatchObject({ status: 'completed' })
    expect(state.calls).toBe(30)
  })

  it('of a day that is used up ends the next round of the user at once, without a clone, and of no other user', async () => {
    await clearDays()
    const { llm, state } = fakeModel()
    const budget = { user_day: { tokens: 200 } }
    const user = await createUser(verbs.sql)
    expect(await play({ llm, budget }, await sessionOf(user.id), asking(2))).toMatchObject({ status: 'completed' })
    const next = await play({ llm, budget }, await sessionOf(user.id), asking(2))
    expect(next).toMatchObject({ status: 'failed', opened: 0, message: expect.stringContaining('and 200 were used') })
    expect(await play({ llm, budget }, await sessionOf(), asking(2))).toMatchObject({ status: 'completed' })
    expect(state.calls).toBe(4)
  })

  it('of a day is whole again when the next day begins in UTC, in the middle of a round too', async () => {
    const { llm, state } = fakeModel()
    const budget = { user_day: { tokens: 200 } }
    const user = await createUser(verbs.sql)
    let now = new Date('2026-03-01T23:59:59.999Z')
    const world = { llm, budget, now: () => now }
    state.before = async () => {
      if (state.calls === 2) now = new Date('2026-03-02T00:00:00Z')
    }
    // The second call ends on the new day and counts there.
    expect(await play(world, await sessionOf(user.id), asking(3))).toMatchObject({ status: 'completed' })
    expect(await play(world, await sessionOf(user.id), asking(1))).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('on 2026-03-02 (UTC)'),
    })
    const days = await verbs.sql`
      SELECT day::text AS day, input_tokens FROM user_spend WHERE user_id = ${user.id} ORDER BY day`
    expect(days).toEqual([
      { day: '2026-03-01', input_tokens: 80 },
      { day: '2026-03-02', input_tokens: 160 },
    ])
  })

  it('is exceeded by two rounds at once by no more than the calls that were under way', async () => {
    const { llm, state } = fakeModel()
    const user = await createUser(verbs.sql)
    const [first, second] = [await sessionOf(user.id), await sessionOf(user.id)]
    // Each call waits for one of the other round, until one round has ended.
    let waiting: (() => void)[] = []
    const release = () => {
      for (const go of waiting.splice(0)) go()
    }
    let over = false
    state.before = () =>
      new Promise((go) => {
        waiting.push(go)
        if (waiting.length === 2 || over) release()
      })
    const world = { llm, budget: { user_day: { tokens: 501 } } }
    const run = async (uuid: string) => {
      const end = await play(world, uuid, asking(50))
      over = true
      release()
      return end
    }
    const ends = await Promise.all([run(first), run(second)])
    expect(ends.map(({ status }) => status)).toEqual(['failed', 'failed'])
    expect([6, 7]).toContain(state.calls)
    const [row] = await verbs.sql`
      SELECT (input_tokens + output_tokens)::int AS tokens FROM user_spend WHERE user_id = ${user.id}`
    expect(row).toEqual({ tokens: state.calls * 100 })
    waiting = []
  })

  it('counts what an earlier run of the round took before its worker died, once, also in its usage', async () => {
    const { llm, state } = fakeModel()
    const uuid = await sessionOf()
    const { id } = await roundOf(uuid)
    const died = new AbortController()
    const context = contextWith({ llm, budget: { round: { tokens: 350 } } })
    // The worker of this run never writes an end: its lease runs out while it works.
    let stuck = () => {}
    const dead = new Promise<void>((resolve) => {
      stuck = resolve
    })
    const mode = asking(2, async (run) => {
      await lapseLease(verbs.sql, run.round.id)
      stuck()
      await new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason)))
    })
    const earlier = runRound(context, id, allModes(mode), died.signal, fakeFrame().frame)
    await dead
    const end = await play({ llm, budget: { round: { tokens: 350 } } }, uuid, asking(9))
    expect(state.calls).toBe(4)
    expect(end).toMatchObject({ status: 'failed', message: expect.stringContaining('and 400 were used') })
    expect(end.usage).toMatchObject({ input_tokens: 320, cached_tokens: 120, output_tokens: 80, cost_usd: 0.001_1 })
    died.abort()
    await earlier
  })

  it('counts searches, answers that could not be used, and answers that were stopped on their way', async () => {
    const { llm } = fakeModel()
    const used = { model: MODEL, usage }
    const errors = [
      new InferenceError('Inference call to m failed: empty', 502, used),
      new StoppedInference(used, { cause: null }),
    ]
    const budget = { round: { tokens: 1_000 } }
    const searching: ModeHandler = async (run) => {
      await createBareKit(run).llm.search('tides')
      return { status: 'completed' }
    }
    expect((await play({ llm, budget }, await sessionOf(), searching)).usage).toMatchObject({ input_tokens: 80 })
    for (const error of errors) {
      const failing: LlmClient = { ...llm, complete: () => Promise.reject(error) }
      const end = await play({ llm: failing, budget }, await sessionOf(), asking(1))
      const counted = { input_tokens: 80, output_tokens: 20, cost_usd: 0.000_275 }
      expect(end).toMatchObject({ status: 'failed', usage: counted })
    }
  })

  it('of tokens counts models without a price, whose cost is not known', async () => {
    const { llm, state } = fakeModel()
    state.model = 'foo/bar'
    const end = await play({ llm, budget: { round: { tokens: 150 } } }, await sessionOf(), asking(9))
    expect(end).toMatchObject({ status: 'failed', usage: { input_tokens: 160, cost_usd: null } })
  })

  it('tells what is left after each call', async () => {
    await clearDays()
    const { llm } = fakeModel()
    const uuid = await sessionOf()
    await play({ llm, budget: { round: { tokens: 250 }, user_day: { dollars: 0.01 } } }, uuid, asking(2))
    const rows = await verbs.sql<{ event: unknown }[]>`
      SELECT event FROM round_events WHERE round_id = ${(await roundOf(uuid)).id} AND event->>'type' = 'budget.left'
      ORDER BY id`
    expect(rows.map(({ event }) => event)).toEqual([
      {
        type: 'budget.left',
        budgets: [
          { budget: 'round', unit: 'tokens', limit: 250, used: 100, left: 150 },
          { budget: 'user_day', unit: 'dollars', limit: 0.01, used: 0.000_275, left: 0.009_725 },
        ],
      },
      {
        type: 'budget.left',
        budgets: [
          { budget: 'round', unit: 'tokens', limit: 250, used: 200, left: 50 },
          { budget: 'user_day', unit: 'dollars', limit: 0.01, used: 0.000_55, left: 0.009_45 },
        ],
      },
    ])
  })
})
