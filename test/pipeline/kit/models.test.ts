import { describe, expect, it } from 'vitest'
import { createBareKit } from '../../../pipeline/kit/kit.ts'
import type { BareRun, ModeHandler } from '../../../pipeline/kit/run.ts'
import { runRound } from '../../../pipeline/run-round.ts'
import type { Context } from '../../../src/context.ts'
import type { LlmClient } from '../../../src/llm/inference.ts'
import { acceptRound } from '../../../src/rounds/accept.ts'
import { createSession, useVerbs } from '../../sessions/fixtures.ts'
import { allModes, detailOf, fakeFrame, runContext } from '../frame.ts'

const { context: verbs } = useVerbs()

/** A hundred tokens for every call and every search. */
const usage = { input_tokens: 80, cached_tokens: 0, output_tokens: 20 }
function countingLlm() {
  const asked = { calls: 0, searches: 0 }
  const llm: LlmClient = {
    complete: async () => {
      asked.calls++
      return { model: 'openai/gpt-4.1', text: 'a', tool_calls: [], finish: 'end_turn', finish_raw: 'stop', usage }
    },
    search: async (_query, options) => {
      asked.searches++
      options?.observe?.({ model: 'openai/gpt-4.1', usage })
      return 'found'
    },
  }
  return { llm, asked }
}

function contextWith(llm: LlmClient, limit: number): Context {
  const context = runContext(verbs)
  const config = { ...context.config, llm: { ...context.config.llm, max_session_tokens: limit } }
  return { ...context, llm, config }
}

/** Makes a mode that calls the model this many times, and reports each call as an agent does. */
const asking =
  (times: number, search = false): ModeHandler =>
  async (run: BareRun) => {
    const kit = createBareKit(run)
    for (let i = 0; i < times; i++) {
      if (search) await kit.llm.search('tides')
      const { model, finish_raw } = await kit.llm.complete({ role: 'small', messages: [] })
      run.observe({ type: 'inference', chain: 'STATUS_UPDATE', model, usage, durationMs: 1, finish: finish_raw })
    }
    return { status: 'completed' }
  }

async function play(context: Context, uuid: string, mode: ModeHandler) {
  const round_id = (await detailOf(verbs, uuid)).rounds.at(-1)?.id ?? 0
  const fake = fakeFrame()
  await runRound(context, round_id, allModes(mode), new AbortController().signal, fake.frame)
  const session = await detailOf(verbs, uuid)
  return { session, last: session.rounds.at(-1)?.statuses.at(-1), opened: fake.state.opened }
}

describe('the tokens of a session', () => {
  it('end the round that goes beyond the limit, with limit and use in the text', async () => {
    const { llm, asked } = countingLlm()
    const uuid = await createSession(verbs, {})
    const { session, last } = await play(contextWith(llm, 250), uuid, asking(9))
    expect(asked.calls).toBe(3)
    expect(last).toMatchObject({
      status: 'failed',
      message: 'runner failed: the session has used 300 tokens, its limit is 250 (llm.max_session_tokens).',
    })
    expect(session.rounds[0]?.usage).toMatchObject({ input_tokens: 240, output_tokens: 60 })
  })

  it('of earlier rounds count, and a round of a session without any left asks nothing and clones nothing', async () => {
    const { llm, asked } = countingLlm()
    const uuid = await createSession(verbs, {})
    const context = contextWith(llm, 200)
    await play(context, uuid, asking(2))
    await acceptRound(verbs, { session_uuid: uuid, mode: 'generate', query: 'more', is_partial: false })
    const { last, opened } = await play(context, uuid, asking(1))
    expect(asked.calls).toBe(2)
    expect(opened).toBe(0)
    const message = expect.stringContaining('has used 200 tokens, its limit is 200')
    expect(last).toMatchObject({ status: 'failed', message })
  })

  it('are those of searches too, which cost what they cost', async () => {
    const { llm, asked } = countingLlm()
    const uuid = await createSession(verbs, {})
    const { session } = await play(contextWith(llm, 1_000), uuid, asking(1, true))
    expect(asked).toEqual({ calls: 1, searches: 1 })
    expect(session.rounds[0]?.usage).toMatchObject({ input_tokens: 160, output_tokens: 40, cost_usd: 0.00064 })
  })

  it('are not limited unless somebody says so', async () => {
    const { llm, asked } = countingLlm()
    const { session } = await play(contextWith(llm, 0), await createSession(verbs, {}), asking(50))
    expect(asked.calls).toBe(50)
    expect(session.current_status).toBe('completed')
  })

  it('have no price when a model has none', async () => {
    const { llm } = countingLlm()
    const nameless: LlmClient = {
      ...llm,
      complete: async (request) => ({ ...(await llm.complete(request)), model: 'foo/bar' }),
    }
    const { session } = await play(contextWith(nameless, 0), await createSession(verbs, {}), asking(1))
    expect(session.rounds[0]?.usage).toMatchObject({ input_tokens: 80, cost_usd: null })
  })
})
