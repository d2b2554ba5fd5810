import { describe, expect, it } from 'vitest'
import { createLogger } from '../../src/base/log.ts'
import { createLlmClient } from '../../src/llm/client.ts'
import { type ModelReply, modelConfig, provideModelServers, text } from '../helpers/model-server.ts'

const serveModel = provideModelServers()

/** Creates entries of one name, each at a server that currently answers as `replies` says. */
async function setup(replies: ModelReply[], options: { backoffMs?: number; timeout?: number } = {}) {
  const { backoffMs = 1, timeout = 10 } = options
  const started = await Promise.all(replies.map((_, index) => serveModel(() => replies[index] ?? 'cut')))
  const clock = { now: 1_000_000 }
  const lines: string[] = []
  const config = modelConfig('', {
    model: 'team',
    small_model: 'team',
    timeout,
    model_list: started.map(({ url }, index) => ({
      model_name: 'team',
      litellm_params: { model: `openai/m${index}`, api_base: url, api_key: 'k' },
    })),
  })
  const log = createLogger({ write: (line) => lines.push(line) })
  const llm = createLlmClient(config, { fetch, log, backoffMs, now: () => clock.now })
  const ask = () => llm.complete({ role: 'main', messages: [{ role: 'user', content: 'hi' }] })
  const waits = () => lines.map((line) => JSON.parse(line).wait_ms)
  return { ask, clock, counts: () => started.map((server) => server.requests.length), waits }
}

const busy = (headers = {}): ModelReply => ({ status: 429, body: { error: { message: 'busy' } }, headers })

describe('entries of one name', () => {
  it('one that fails cools down, and the call goes to another at once', async () => {
    const { ask, clock, counts, waits } = await setup([busy(), text('b'), text('c')], { backoffMs: 60_000 })
    for (let i = 0; i < 6; i++) await ask()
    expect(counts()).toEqual([1, 3, 3])
    expect(waits()).toEqual([0])
    clock.now += 31_000
    for (let i = 0; i < 3; i++) await ask()
    expect(counts()[0]).toBe(2)
  })

  it('cools down as long as it asked to', async () => {
    const { ask, clock, counts } = await setup([busy({ 'retry-after': '120' }), text('b')])
    await ask()
    clock.now += 100_000
    for (let i = 0; i < 4; i++) await ask()
    expect(counts()[0]).toBe(1)
    clock.now += 30_000
    await ask()
    await ask()
    expect(counts()[0]).toBe(2)
  })

  it.each<[string, ModelReply]>([
    ['a server error', { status: 503, body: { error: { message: 'down' } } }],
    ['silence', 'hang'],
    ['a cut connection', 'cut'],
  ])('cools down after %s', async (_name, reply) => {
    const { ask, counts } = await setup([reply, text('b')], { timeout: 0.2 })
    for (let i = 0; i < 3; i++) expect((await ask()).text).toBe('b')
    expect(counts()).toEqual([1, 3])
  })

  it('one that works again takes its turns', async () => {
    const replies: ModelReply[] = [busy({ 'retry-after': '0' }), text('b')]
    const { ask, counts } = await setup(replies)
    await ask()
    replies[0] = text('a')
    for (let i = 0; i < 4; i++) await ask()
    expect(counts()).toEqual([3, 3])
  })

  it('while all cool down, the one that is ready first is asked, within four attempts', async () => {
    const { ask, counts, waits } = await setup([busy({ 'retry-after': '0.05' }), busy({ 'retry-after': '0.02' })])
    await expect(ask()).rejects.toThrow('Inference call to openai/m1 failed: busy')
    expect(counts()).toEqual([1, 3])
    expect(waits()).toEqual([0, 20, 20])
  })

  it('a refusal is final and starts no cooldown', async () => {
    const { ask, counts } = await setup([{ status: 401, body: { error: { message: 'no' } } }, text('b')])
    await expect(ask()).rejects.toMatchObject({ status: 401 })
    await ask()
    await expect(ask()).rejects.toMatchObject({ status: 401 })
    expect(counts()).toEqual([2, 1])
  })

  it('a single one is asked again, cooling down or not', async () => {
    const replies = [busy()]
    const { ask, counts, waits } = await setup(replies)
    await expect(ask()).rejects.toThrow('busy')
    expect(waits()).toEqual([1, 2, 4])
    replies[0] = text('back')
    expect((await ask()).text).toBe('back')
    expect(counts()).toEqual([5])
  })
})
