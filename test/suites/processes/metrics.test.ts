import { afterAll, describe, expect, it } from 'vitest'
import { type CoreProcess, startCoreProcess } from '../../helpers/core-process.ts'
import { startCoreSurroundings } from '../../helpers/core-surroundings.ts'
import { memoryCache } from '../../helpers/memory-cache.ts'
import { openSession, runRound } from '../../helpers/sessions.ts'
import { readStream } from '../../helpers/sse.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { parseMetrics, sampleOf } from '../../observe/parse-metrics.ts'

const surroundings = startOnce(startCoreSurroundings)
const started: CoreProcess[] = []
afterAll(() => {
  for (const { kill } of started) kill()
})

async function start(more: Record<string, string> = {}): Promise<CoreProcess> {
  const core = await startCoreProcess({ ...surroundings.env, ...more })
  started.push(core)
  return core
}
const context = () => ({
  sql: surroundings.database.sql,
  queue: { enqueue: async () => {}, healthy: async () => true },
  cache: memoryCache(),
  now: () => new Date(),
})
const subscribe = async (core: CoreProcess, uuid: string) =>
  readStream(await fetch(`${core.ready.address}/api/v1/events/subscribe/${uuid}`))

describe('a core process', () => {
  it('offers its metrics on a port of their own, when it is told to', async () => {
    const core = await start({ PLATFORM_METRICS_PORT: '0' })
    expect(core.ready.metrics).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    await fetch(`${core.ready.address}/api/v1/users/me`)
    const answer = await fetch(`${core.ready.metrics}/metrics`)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const found = parseMetrics(await answer.text())
    expect(sampleOf(found, 'platform_http_requests_total', { route: '/v1/users/me', status: '200' })).toBe(1)
    expect(sampleOf(found, 'platform_queue_rounds', { state: 'waiting' })).toBe(0)
    expect(sampleOf(found, 'platform_open_streams')).toBe(0)
    expect((await fetch(`${core.ready.address}/metrics`)).status).toBe(404)
    expect((await fetch(`${core.ready.metrics}/api/v1/users/me`)).status).toBe(404)
    expect(await core.stop()).toBe(0)
  })

  it('refuses a metrics port that is none', async () => {
    await expect(startCoreProcess({ ...surroundings.env, PLATFORM_METRICS_PORT: 'x' })).rejects.toThrow(
      'routes/main.ts ended with 1',
    )
  })

  it('ends its streams on SIGTERM without a last word, and another core goes on with them', async () => {
    const [first, second] = [await start(), await start()]
    expect(first.ready.metrics).toBeUndefined()
    const { id } = await (await fetch(`${first.ready.address}/api/v1/users/me`)).json()
    const uuid = await openSession(context(), id)
    const run = await runRound(context(), uuid)
    await run.status('generating', 'Writing code')
    const streams = await Promise.all(Array.from({ length: 20 }, () => subscribe(first, uuid)))
    for (const stream of streams)
      expect(await stream.event()).toEqual({ status_msg: 'GENERATING', detail: { message: 'Writing code' } })

    const stopped = first.stop()
    const rests = await Promise.all(streams.map((stream) => stream.rest()))
    expect(rests.flat().filter((event) => event.status_msg !== 'GENERATING')).toEqual([])
    expect(await stopped).toBe(0)
    await expect(fetch(`${first.ready.address}/healthz`)).rejects.toThrow()

    const again = await subscribe(second, uuid)
    expect((await again.event())?.status_msg).toBe('GENERATING')
    await run.finish('completed', 'GENERATE')
    expect((await again.rest()).at(-1)).toEqual({ status_msg: 'COMPLETED', detail: { message: 'GENERATE' } })
    expect(await second.stop()).toBe(0)
  })

  it('lets a request that is under way come to its end', async () => {
    const core = await start()
    await fetch(`${core.ready.address}/api/v1/users/me`)
    const held = surroundings.database.sql.begin(async (tx) => {
      await tx`LOCK TABLE users IN ACCESS EXCLUSIVE MODE`
      const answer = fetch(`${core.ready.address}/api/v1/users/me`)
      await untilBlocked()
      return { answer, stopped: core.stop() }
    })
    const { answer, stopped } = await held
    expect((await answer).status).toBe(200)
    expect(await stopped).toBe(0)
    expect(core.messages()).toContain('stopped')
  })
})

/** Waits until a statement of the core is blocked by the lock. */
async function untilBlocked(): Promise<void> {
  for (;;) {
    const [row] = await surroundings.database.sql<{ n: number }[]>`
      SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
    if (row && row.n > 0) return
  }
}
