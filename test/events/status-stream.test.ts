import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../src/base/log.ts'
import type { EventHub, SessionState } from '../../src/events/hub.ts'
import { createStreamHost } from '../../src/events/sse-stream.ts'
import { createStatusStream } from '../../src/events/status-stream.ts'
import { readStream } from '../helpers/sse.ts'

const PERIOD_MS = 5_000
const running = (status: SessionState['status'], message: string | null = null): SessionState => ({
  status,
  message,
  in_flight: true,
})

/** Creates a hub whose changes the test makes. `watching` is true while somebody listens. */
function stubHub(state: SessionState) {
  const closing = new AbortController()
  const listeners = new Set<(state: SessionState) => void>()
  const hub: EventHub = {
    find: async () => null,
    watch: async (_, on_change) => {
      listeners.add(on_change)
      return { state, close: () => listeners.delete(on_change) }
    },
    start: async () => null,
    follow: () => expect.fail('nobody follows events'),
    page: async () => [],
    roundEnd: async () => null,
    close: async () => closing.abort(),
    closing: closing.signal,
    get openStreams() {
      return listeners.size
    },
  }
  const change = (next: SessionState) => {
    for (const listener of [...listeners]) listener(next)
  }
  return { hub, change }
}

function open(options: { state?: SessionState; maxPolls?: number } = {}) {
  const { hub, change } = stubHub(options.state ?? running('generating', 'Writing'))
  const host = createStreamHost(hub, PERIOD_MS)
  const body = createStatusStream(host, crypto.randomUUID(), {
    maxPolls: options.maxPolls ?? 2160,
    log: silentLogger,
    reader: null,
  })
  return { hub, change, stream: readStream(new Response(body)) }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const next = async (stream: { event(): Promise<unknown> }) => {
  const waiting = stream.event()
  await vi.advanceTimersByTimeAsync(PERIOD_MS)
  return waiting
}

describe('polls', () => {
  it('repeat the state every five seconds, the first one at once', async () => {
    const { stream } = open()
    const told = { status_msg: 'GENERATING', detail: { message: 'Writing' } }
    expect(await stream.event()).toEqual(told)
    for (let poll = 0; poll < 3; poll++) expect(await next(stream)).toEqual(told)
    await stream.leave()
  })

  it('come four to five seconds apart', async () => {
    const { stream } = open()
    await stream.event()
    const started = Date.now()
    const times: number[] = []
    for (let poll = 0; poll < 3; poll++) {
      const waiting = stream.event().then(() => times.push(Date.now() - started))
      await vi.advanceTimersByTimeAsync(PERIOD_MS)
      await waiting
    }
    expect(vi.getTimerCount()).toBe(1)
    await stream.leave()
    expect(vi.getTimerCount()).toBe(0)
    expect(times).toHaveLength(3)
  })

  it('end the stream after the configured number', async () => {
    const { stream, hub } = open({ maxPolls: 2 })
    const all = stream.rest()
    await vi.advanceTimersByTimeAsync(PERIOD_MS)
    expect(hub.openStreams).toBe(1)
    await vi.advanceTimersByTimeAsync(PERIOD_MS)
    expect((await all).map(({ status_msg }) => status_msg)).toEqual(['GENERATING', 'GENERATING'])
    expect([hub.openStreams, vi.getTimerCount()]).toEqual([0, 0])
  })

  it('are not used up by changes', async () => {
    const { stream, change } = open({ maxPolls: 2 })
    const all = stream.rest()
    await vi.advanceTimersByTimeAsync(0)
    for (const message of ['a', 'b', 'c']) change(running('validating', message))
    await vi.advanceTimersByTimeAsync(2 * PERIOD_MS)
    expect((await all).map(({ detail }) => detail.message)).toEqual(['Writing', 'a', 'b', 'c', 'c'])
  })

  it('leave no timer behind', async () => {
    const { hub } = stubHub(running('generating'))
    const host = createStreamHost(hub, PERIOD_MS)
    const streams = Array.from({ length: 100 }, () =>
      readStream(new Response(createStatusStream(host, 'x', { maxPolls: 2160, log: silentLogger, reader: null }))),
    )
    await Promise.all(streams.map((stream) => stream.event()))
    await Promise.all(streams.map((stream) => stream.leave()))
    expect([vi.getTimerCount(), hub.openStreams]).toEqual([0, 0])
  })
})

describe('states', () => {
  it('never show an end while a round is queued or runs', async () => {
    const { stream, change } = open({ state: { status: 'completed', message: 'before', in_flight: true } })
    const all = stream.rest()
    await vi.advanceTimersByTimeAsync(2 * PERIOD_MS)
    change(running('started'))
    change({ status: 'failed', message: 'stale', in_flight: true })
    change({ status: 'completed', message: 'now', in_flight: false })
    expect((await all).map(({ status_msg, detail }) => [status_msg, detail.message])).toEqual([
      ['STARTED', ''],
      ['COMPLETED', 'now'],
    ])
  })

  it('are kept to the latest for a reader that does not read', async () => {
    const { stream, change, hub } = open()
    expect(await stream.event()).toMatchObject({ status_msg: 'GENERATING' })
    for (let index = 0; index < 1_000; index++) change(running('validating', `change ${index}`))
    const read: string[] = []
    while (read.at(-1) !== 'change 999') read.push((await stream.event())?.detail.message ?? 'end')
    expect(read.length).toBeLessThan(20)
    change({ status: 'failed', message: 'over', in_flight: false })
    expect((await stream.rest()).map(({ status_msg }) => status_msg)).toEqual(['FAILED'])
    expect(hub.openStreams).toBe(0)
  })

  it('end also for a reader that does not read', async () => {
    const { change, hub, stream } = open()
    await vi.advanceTimersByTimeAsync(0)
    for (let index = 0; index < 50; index++) change(running('validating', `change ${index}`))
    change({ status: 'completed', message: 'over', in_flight: false })
    expect([hub.openStreams, vi.getTimerCount()]).toEqual([0, 0])
    expect((await stream.rest()).at(-1)).toEqual({ status_msg: 'COMPLETED', detail: { message: 'over' } })
  })
})

it('ends when its first state cannot be read', async () => {
  const { hub } = stubHub(running('started'))
  const broken: EventHub = { ...hub, closing: hub.closing, watch: () => Promise.reject(new Error('no database')) }
  const stream = readStream(
    new Response(
      createStatusStream(createStreamHost(broken, PERIOD_MS), 'x', { maxPolls: 10, log: silentLogger, reader: null }),
    ),
  )
  expect(await stream.frame()).toBe(': keepalive\n\n')
  expect(await stream.frame()).toBeNull()
})
