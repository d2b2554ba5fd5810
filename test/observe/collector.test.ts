import { describe, expect, it } from 'vitest'
import { readSpans } from '../../dev/collector/read-spans.ts'
import { createLogger } from '../../src/base/log.ts'
import { createCollectorExporter, splitBatch } from '../../src/observe/exporters.ts'
import { createSpanRecorder } from '../../src/observe/span-recorder.ts'
import { reportLosses } from '../../src/observe/tracing.ts'
import { eventually } from '../helpers/eventually.ts'
import { PLAIN, type Recording, record, SESSION } from './support.ts'

const engineSpans = async ({ tracing }: Recording, count: number) => {
  const trace = (await tracing.session(SESSION)).masked(PLAIN)
  for (let index = 0; index < count; index++) trace.engine('plan', String(index)).end(true, 'x')
}
const lossesOf = ({ log }: Recording) =>
  log.filter(({ message }) => message === 'spans could not be handed to the collector')

describe('the address', () => {
  it.each([
    ['http://collector.test/', 'http://collector.test/v1/traces'],
    ['http://collector.test/otel/', 'http://collector.test/otel/v1/traces'],
    ['http://collector.test/otel', 'http://collector.test/otelv1/traces'],
    ['http://collector.test:6006', 'http://collector.test:6006v1/traces'],
  ])('%s is continued as it is', async (collector_url, url) => {
    const recording = await record(`telemetry: {collector_url: "${collector_url}"}`)
    await engineSpans(recording, 1)
    await recording.spans()
    expect(recording.posts.map((post) => post.url)).toEqual([url])
  })

  it('gets the key as bearer token', async () => {
    const recording = await record('', { env: { PLATFORM_COLLECTOR_API_KEY: 'key-of-the-collector' } })
    await engineSpans(recording, 1)
    await recording.spans()
    expect(recording.posts[0]?.headers.get('authorization')).toBe('Bearer key-of-the-collector')
  })
})

describe('batches', () => {
  it('leave at 512 spans, without waiting for the end', async () => {
    const recording = await record()
    await engineSpans(recording, 700)
    await eventually(() => expect(recording.posts.map(({ spans }) => spans.length)).toEqual([512]))
    expect(await recording.spans()).toHaveLength(700)
  })

  it('lose the newest of more than 2048 waiting spans, and the run goes on', async () => {
    const held = Promise.withResolvers<Response>()
    const recording = await record('', { collector: () => held.promise })
    await engineSpans(recording, 3_000)
    held.resolve(new Response(null))
    const numbers = (await recording.spans()).map(({ attributes }) => Number(attributes['input.value']))
    expect(numbers).toEqual(Array.from({ length: 512 + 2_048 }, (_, index) => index))
  })

  it('are cut into requests of a bounded size', () => {
    const span = (length: number) => ({ attributes: { text: 'x'.repeat(length), n: 1 } })
    const pieces = splitBatch([span(600), span(600), span(5_000), span(10), span(10)], 2_000)
    expect(pieces.map((piece) => piece.map(({ attributes }) => attributes.text.length))).toEqual([
      [600, 600],
      [5_000],
      [10, 10],
    ])
    expect(splitBatch([], 10)).toEqual([])
  })
})

describe('a collector that does not take spans', () => {
  it.each([
    ['refuses them', () => new Response('sorry', { status: 400 }), 'the collector answered HTTP 400'],
    [
      'is elsewhere',
      () => new Response(null, { status: 302, headers: { location: 'http://x/' } }),
      'the collector answered HTTP 302',
    ],
    ['answers without end', () => new Response('x'.repeat(70_000)), 'the answer is larger than 65536 bytes'],
  ])('that %s is told in the log once', async (_, answer, reason) => {
    const recording = await record('', { collector: async () => answer() })
    await engineSpans(recording, 600)
    await recording.spans()
    expect(lossesOf(recording)[0]).toMatchObject({ level: 'warn', reason })
    const lost = lossesOf(recording).map(({ spans }) => Number(spans))
    expect(lost.reduce((sum, spans) => sum + spans, 0)).toBe(600)
    // The second one summarises the suppressed entries at the end.
    expect(lost.length).toBeLessThanOrEqual(2)
  })

  it('but for some of them says so, and an answer that cannot be read is none', async () => {
    // partial_success (1) with rejected_spans (1) = 2 and error_message (2) = "no"
    const partly = new Uint8Array([0x0a, 0x06, 0x08, 0x02, 0x12, 0x02, 0x6e, 0x6f])
    const headers = { 'content-type': 'application/x-protobuf' }
    const some = await record('', { collector: async () => new Response(partly, { headers }) })
    await engineSpans(some, 5)
    await some.spans()
    expect(lossesOf(some)).toMatchObject([{ spans: 2, reason: 'the collector rejected them' }])
    for (const body of [new Uint8Array([0x0a, 0x02, 0x08, 0x00]), new Uint8Array([0xff, 0xff]), '{}', '']) {
      const all = await record('', { collector: async () => new Response(body, { headers }) })
      await engineSpans(all, 1)
      await all.spans()
      expect(lossesOf(all)).toEqual([])
    }
  })

  it('is asked again after a passing fault', async () => {
    const received: number[] = []
    let fault: (() => Response) | null = () => new Response(null, { status: 503 })
    const exporter = createCollectorExporter({
      ...{ collector_url: 'http://collector.test/', api_key: '', backoffMs: 1 },
      fetch: async (_, init) => {
        const answer = fault?.()
        fault = null
        if (answer) return answer
        received.push(readSpans(new Uint8Array(await new Response(init?.body).arrayBuffer())).length)
        return new Response(null)
      },
      onLost: () => received.push(-1),
    })
    const recorder = createSpanRecorder({ attributeLimit: 10, batched: [exporter], immediate: [], onTrouble: () => {} })
    recorder.open({ project: 'p', name: 'n', mask: PLAIN, last: {} }).end(() => ({}))
    await recorder.close()
    expect(received).toEqual([1])
  })

  it('and hangs is given up at the end, with a word in the log', async () => {
    const recording = await record('', {
      collector: (_, init) =>
        new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))),
    })
    await engineSpans(recording, 1)
    await recording.tracing.close(20)
    expect(recording.log).toMatchObject([
      { level: 'warn', message: 'the collector did not take the last spans within 0.02 s' },
    ])
  })

  it('breaks nothing when a shutdown fails', async () => {
    const recording = await record('', { collector: () => Promise.reject(new TypeError('fetch failed')) })
    await engineSpans(recording, 1)
    await expect(recording.tracing.close(10_000)).resolves.toBeUndefined()
    expect(lossesOf(recording)).toMatchObject([{ spans: 1, reason: 'the connection failed' }])
  })
})

describe('the end', () => {
  it('waits for spans that are under way, and takes no more afterwards', async () => {
    const held = Promise.withResolvers<Response>()
    const recording = await record('', { collector: () => held.promise })
    await engineSpans(recording, 512)
    let closed = false
    const closing = recording.tracing.close(10_000).then(() => {
      closed = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(closed).toBe(false)
    held.resolve(new Response(null))
    await closing
    await engineSpans(recording, 3)
    expect(recording.posts).toHaveLength(1)
  })

  it('is at once when nothing was recorded', async () => {
    const recording = await record()
    await recording.tracing.close(10_000)
    expect([recording.posts, recording.log]).toEqual([[], []])
  })
})

describe('what cannot be recorded', () => {
  it('is told in the log and felt by nobody', async () => {
    const recording = await record()
    const trace = (await recording.tracing.session(SESSION)).masked({
      text: () => {
        throw new Error('the mask is broken')
      },
    })
    const circular: Record<string, unknown> = {}
    circular.self = circular
    trace.chain('IAC_GENERATOR', 'q').end(circular)
    trace.engine('plan', '').fail(new Error('x'))
    const spans = await recording.spans()
    // Nothing is sent unmasked.
    expect(spans.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['Chain - IAC_GENERATOR', {}],
      ['Engine plan - False', {}],
    ])
    expect(recording.log).toMatchObject([{ level: 'warn', message: 'a span could not be recorded' }])
  })
})

it('losses are told once a minute, with their sum', () => {
  const lines: Record<string, unknown>[] = []
  let now = 0
  const losses = reportLosses(createLogger({ write: (line) => lines.push(JSON.parse(line)) }), () => now)
  losses.reportLost(5, 'HTTP 500')
  losses.reportLost(6, 'HTTP 500')
  now = 59_999
  losses.reportLost(7, 'HTTP 503')
  expect(lines).toMatchObject([{ spans: 5 }])
  now = 60_000
  losses.reportLost(1, 'HTTP 502')
  expect(lines).toMatchObject([{ spans: 5 }, { spans: 14, reason: 'HTTP 502' }])
  losses.flush()
  expect(lines).toHaveLength(2)
})
