import { beforeAll, describe, expect, it } from 'vitest'
import { recordSpend } from '../../src/budget/spend.ts'
import { connect } from '../../src/data/db/pool.ts'
import { createMetrics, watchBudgets, watchQueue, watchStreams } from '../../src/observe/metrics.ts'
import { configOf, createTestCore } from '../helpers/core.ts'
import { createUser, openSession, runRound } from '../helpers/sessions.ts'
import { readStream } from '../helpers/sse.ts'
import { startOnce } from '../helpers/start-once.ts'
import { parseMetrics, sampleOf } from './parse-metrics.ts'

const metrics = createMetrics('core', '1.2.3')
const core = startOnce(() => createTestCore({ context: { metrics } }))
beforeAll(async () => {
  watchQueue(metrics.registry, core.context.sql)
  watchStreams(metrics.registry, core.context.events)
})

describe('what is left of the model budgets', () => {
  const left = async (llm: string) => {
    const { sql } = core.context
    const own = createMetrics('core', '1')
    watchBudgets(own.registry, { sql, config: await configOf(llm), now: () => new Date('2026-03-01T10:00:00Z') })
    return parseMetrics(await own.registry.render())
  }

  it('is told for the platform and for the user who has least, of this day', async () => {
    const { sql } = core.context
    for (const [day, tokens] of [
      ['2026-03-01', 40],
      ['2026-03-01', 90],
      ['2026-02-28', 700],
    ] as const) {
      const { id } = await createUser(sql, crypto.randomUUID())
      const usage = { input_tokens: tokens, cached_tokens: 0, output_tokens: 0 }
      await recordSpend(sql, { user_id: id, round_id: null }, day, { usage, dollars: 0.5 })
    }
    const found = await left('llm: {budget: {user_day: {tokens: 100}, platform_day: {tokens: 1000, dollars: 3}}}')
    const value = (budget: string, unit: string) => sampleOf(found, 'platform_model_budget_left', { budget, unit })
    expect(value('user_day', 'tokens')).toBe(10)
    expect(value('platform_day', 'tokens')).toBe(870)
    expect(value('platform_day', 'dollars')).toBe(2)
    expect(found.get('platform_model_budget_left')?.samples).toHaveLength(3)
  })

  it('is not there without a budget of a day', async () => {
    expect((await left('llm: {budget: {round: {tokens: 5}}}')).has('platform_model_budget_left')).toBe(false)
  })
})

const scrape = async () => parseMetrics(await metrics.registry.render())

describe('metrics of the core', () => {
  it('counts requests by template, whatever callers invent', async () => {
    await core.call('GET', '/api/v1/users/me')
    await core.call('GET', '/v1/users/me')
    await core.call('GET', '/api/v1/sessions?id=nope')
    for (let number = 0; number < 30; number++) {
      await core.call('GET', `/api/v1/events/subscribe/${crypto.randomUUID()}`)
      await core.call('GET', `/api/v1/invented/${number}`)
      await core.call('GET', `/invented-${number}`)
      await core.call(`VERB${number}`, '/api/v1/users/me')
    }
    const found = await scrape()
    const requests = (labels: Record<string, string>) => sampleOf(found, 'platform_http_requests_total', labels)
    expect(requests({ method: 'GET', route: '/v1/users/me', status: '200' })).toBe(2)
    expect(requests({ method: 'GET', route: '/v1/sessions', status: '422' })).toBe(1)
    expect(requests({ method: 'GET', route: '/v1/events/subscribe/:session_id', status: '404' })).toBe(30)
    expect(requests({ method: 'GET', route: 'unmatched', status: '404' })).toBe(60)
    expect(requests({ method: 'other', route: 'unmatched', status: '405' })).toBe(30)
    expect(found.get('platform_http_requests_total')?.samples).toHaveLength(5)
    const count = sampleOf(
      found,
      'platform_http_request_duration_seconds',
      { route: '/v1/users/me' },
      'platform_http_request_duration_seconds_count',
    )
    expect(count).toBe(2)
    expect(found.get('platform_build_info')?.samples).toEqual([
      { name: 'platform_build_info', labels: { process: 'core', version: '1.2.3' }, value: 1 },
    ])
  })

  it('counts open streams', async () => {
    const user = await core.call('GET', '/api/v1/users/me')
    const uuid = await openSession(core.context, (await user.json()).id)
    const stream = readStream(await core.call('GET', `/api/v1/events/subscribe/${uuid}`))
    await stream.event()
    expect(sampleOf(await scrape(), 'platform_open_streams')).toBe(1)
    await stream.leave()
    expect(sampleOf(await scrape(), 'platform_open_streams')).toBe(0)
  })

  it('tells depth and age of the queue by one statement', async () => {
    const { sql } = core.context
    await sql`UPDATE rounds SET finished_at = now() WHERE finished_at IS NULL`
    await sql`UPDATE sessions SET in_flight = false`
    expect(sampleOf(await scrape(), 'platform_queue_oldest_waiting_seconds')).toBe(0)
    const { id } = await (await core.call('GET', '/api/v1/users/me')).json()
    const [first] = [
      await openSession(core.context, id),
      await openSession(core.context, id),
      await openSession(core.context, id),
    ]
    await runRound(core.context, first ?? '')
    await sql`UPDATE rounds SET created_at = now() - interval '100 seconds' WHERE lease_until IS NULL`
    const found = await scrape()
    expect(sampleOf(found, 'platform_queue_rounds', { state: 'waiting' })).toBe(2)
    expect(sampleOf(found, 'platform_queue_rounds', { state: 'running' })).toBe(1)
    expect(sampleOf(found, 'platform_queue_oldest_waiting_seconds')).toBeGreaterThanOrEqual(100)

    const statements: string[] = []
    const watched = connect(core.database.url, { max: 1, onstatement: (text) => statements.push(text) })
    const other = createMetrics('worker', '1')
    watchQueue(other.registry, watched)
    await other.registry.render()
    expect(statements).toHaveLength(1)
    await watched.end()
    expect([...parseMetrics(await other.registry.render()).keys()]).not.toContain('platform_queue_rounds')
  })

  it('counts rounds, cache reads, tokens and engine time', async () => {
    metrics.countRoundEnd('generate', 'completed')
    metrics.countRoundEnd('generate', 'completed')
    metrics.countCacheCall('read', 'hit')
    metrics.countCacheCall('write', 'refused')
    metrics.countTokens('main', { input_tokens: 10, cached_tokens: 4, output_tokens: 2 })
    metrics.countTokens('main', { input_tokens: 1, cached_tokens: 0, output_tokens: 1 })
    metrics.countEngineTime('plan', 1.5)
    const found = await scrape()
    expect(sampleOf(found, 'platform_rounds_total', { mode: 'generate', status: 'completed' })).toBe(2)
    expect(sampleOf(found, 'platform_cache_reads_total', { outcome: 'hit' })).toBe(1)
    expect(sampleOf(found, 'platform_cache_writes_total', { outcome: 'refused' })).toBe(1)
    expect(sampleOf(found, 'platform_model_tokens_total', { role: 'main', kind: 'input' })).toBe(11)
    expect(sampleOf(found, 'platform_model_tokens_total', { role: 'main', kind: 'cached' })).toBe(4)
    expect(sampleOf(found, 'platform_engine_seconds_total', { job: 'plan' })).toBe(1.5)
  })
})
