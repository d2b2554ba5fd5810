import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startScriptedModel } from '../../../../dev/scripted-model/start.ts'
import { type Platform, startPlatform } from './platform.ts'
import { type Phoenix, startPhoenix } from './server.ts'

const LIMIT_MS = 300_000
const PROJECT = 'dev-engine-day2'
const PROMPT = 'general-guidelines-engine'
let folder: string
let phoenix: Phoenix
let platform: Platform
let seeded: Record<string, unknown>[]

const seedsIn = ({ logs }: Platform) =>
  logs
    .filter(({ message }) => message === 'prompts seeded')
    .map(({ created, present, repaired }) => ({ created, present, repaired }))
/** Phoenix writes spans in batches of its own, after it has taken them. */
const later = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 60_000, interval: 500 })
const play = async (mode: 'generate' | 'declined') => {
  const { id, end } = await platform.begin(mode)
  return { id, end: await end }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'world-phoenix-'))
  phoenix = await startPhoenix(join(folder, 'phoenix'))
  platform = await startPlatform(join(folder, 'first'), `${phoenix.url}/`)
  seeded = seedsIn(platform)
}, LIMIT_MS)
afterAll(async () => {
  await platform?.stack.stop()
  await phoenix?.close()
  await rm(folder, { recursive: true, force: true })
})

describe(
  'Phoenix as prompt registry and collector',
  () => {
    it('gets every shipped prompt at the first boot, with the tags of all environments', async () => {
      expect(seeded).toEqual([{ created: expect.any(Number), present: 0, repaired: 0 }])
      const names: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: { data: { name: string }[]; next_cursor: string | null } = await phoenix.ask(
          'GET',
          `prompts?limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        )
        names.push(...page.data.map(({ name }) => name))
        cursor = page.next_cursor
      }
      expect(names.length).toBe(seeded[0]?.created)
      expect(names).toContain(PROMPT)
      for (const tag of ['development', 'staging', 'production'])
        expect(await phoenix.ask('GET', `prompts/${PROMPT}/tags/${tag}`)).toMatchObject({
          data: { template_type: 'CHAT' },
        })
    })

    it('keeps the spans of a round as trees, with kinds and tokens', async () => {
      const { id, end } = await play('generate')
      expect(end).toBe('COMPLETED')
      await later(async () =>
        expect((await phoenix.spansOf(PROJECT, id)).map(({ name }) => name)).toContain('Engine plan - True'),
      )
      const spans = await phoenix.spansOf(PROJECT, id)
      expect(new Set(spans.map(({ span_kind }) => span_kind))).toEqual(new Set(['AGENT', 'LLM', 'TOOL', 'EVALUATOR']))
      for (const { name, parent_id, context, start_time, end_time } of spans) {
        expect(Date.parse(end_time)).toBeGreaterThanOrEqual(Date.parse(start_time))
        const parent = spans.find((one) => one.context.span_id === parent_id)
        if (parent_id === null) expect(name).toMatch(/^(Chain - |Engine )/)
        else expect([parent?.span_kind, parent?.context.trace_id]).toEqual(['AGENT', context.trace_id])
      }
      const calls = spans.filter(({ span_kind }) => span_kind === 'LLM')
      expect(calls.length).toBeGreaterThan(1)
      for (const { attributes } of calls) {
        expect(attributes['llm.token_count.total']).toEqual(expect.any(Number))
        expect(attributes['llm.model_name']).toEqual(expect.any(String))
      }
    })

    it('a changed prompt takes effect in the next round, and moving the tag back takes it back', async () => {
      const tag = 'development'
      const before: { data: { id: string; template: { messages: { content: { text: string }[] }[] } } } =
        await phoenix.ask('GET', `prompts/${PROMPT}/tags/${tag}`)
      const text = `${before.data.template.messages[0]?.content[0]?.text}\nMARK-OF-THE-CHANGE\n`
      const made: { data: { id: string } } = await phoenix.ask('POST', 'prompts', {
        prompt: { name: PROMPT },
        version: {
          model_provider: 'OPENAI',
          model_name: 'ours',
          template_type: 'CHAT',
          template_format: 'NONE',
          template: { type: 'chat', messages: [{ role: 'user', content: [{ type: 'text', text }] }] },
          invocation_parameters: { type: 'openai', openai: {} },
        },
      })
      const marked = async () => {
        const { id, end } = await play('generate')
        expect(end).toBe('COMPLETED')
        await later(async () =>
          expect((await phoenix.spansOf(PROJECT, id)).map(({ name }) => name)).toContain('Engine plan - True'),
        )
        const spans = await phoenix.spansOf(PROJECT, id)
        return JSON.stringify(spans).includes('MARK-OF-THE-CHANGE')
      }
      // A version without the tag changes nothing.
      expect(await marked()).toBe(false)
      await phoenix.ask('POST', `prompt_versions/${made.data.id}/tags`, { name: tag })
      expect(await marked()).toBe(true)
      await phoenix.ask('POST', `prompt_versions/${before.data.id}/tags`, { name: tag })
      expect(await marked()).toBe(false)
    })

    it('that answers late holds a round up no longer than it takes itself', async () => {
      const { end } = await platform.begin('generate')
      phoenix.service().process.kill('SIGSTOP')
      await sleep(3_000)
      phoenix.service().process.kill('SIGCONT')
      expect(await end).toBe('COMPLETED')
    })

    it('that is away fails a round with a word for people; it is found again when it is back', async () => {
      await phoenix.service().kill('SIGKILL')
      const lost = await play('generate')
      expect(lost.end).toBe('FAILED')
      const told = (await platform.api.session(lost.id)).rounds.at(-1)?.statuses.at(-1)?.message
      expect(told).toMatch(/Prompt could not be fetched: [a-z0-9_-]+ \(the prompt registry is unreachable\)\./)
      await phoenix.start()
      const next = await play('generate')
      expect(next.end).toBe('COMPLETED')
      await later(async () => expect((await phoenix.spansOf(PROJECT, next.id)).length).toBeGreaterThan(3))
      expect(await phoenix.ask('GET', `prompts/${PROMPT}/tags/development`)).toMatchObject({ data: {} })
    })

    it('counts the cost of the calls as the platform does, for a model that both have a price of', async () => {
      const name = 'openai/gpt-4.1'
      const model = await startScriptedModel()
      const at = { model: name, wire: 'chat', api_base: `${model.url}/v1`, api_key: 'scripted' }
      const models = { model: name, small_model: name, web_search_model: '' }
      const priced = await startPlatform(join(folder, 'priced'), `${phoenix.url}/`, {
        ...models,
        model_list: [{ model_name: name, litellm_params: at }],
      })
      try {
        const { id, end } = await priced.begin('generate')
        expect(await end).toBe('COMPLETED')
        await later(async () =>
          expect((await phoenix.spansOf(PROJECT, id)).map(({ name: span }) => span)).toContain('Engine plan - True'),
        )
        const spans = await phoenix.spansOf(PROJECT, id)
        const ours = spans.reduce((sum, { attributes }) => sum + Number(attributes['llm.cost.total'] ?? 0), 0)
        expect(ours).toBeGreaterThan(0)
        const traces = [...new Set(spans.map(({ context }) => context.trace_id))]
        await later(async () => {
          const costs = await Promise.all(traces.map(phoenix.costOf))
          expect(costs.reduce((sum, cost) => sum + cost, 0)).toBeCloseTo(ours, 9)
        })
      } finally {
        await priced.stack.stop()
        await model.close()
      }
    })

    it('a second platform at the same registry writes nothing', async () => {
      const second = await startPlatform(join(folder, 'second'), `${phoenix.url}/`)
      try {
        expect(seedsIn(second)).toEqual([{ created: 0, present: seeded[0]?.created, repaired: 0 }])
      } finally {
        await second.stack.stop()
      }
    })
  },
  LIMIT_MS,
)
