import { describe, expect, it } from 'vitest'
import { createRegistry, metricsHandler } from '../../src/observe/registry.ts'
import { parseMetrics, sampleOf } from './parse-metrics.ts'

describe('the registry', () => {
  it('writes the text format exactly', async () => {
    const registry = createRegistry()
    const requests = registry.counter('requests_total', 'Requests\nof "all" C:\\ kinds.', ['method', 'path'])
    requests.add({ method: 'GET', path: 'a\\b"c\nd' })
    requests.add({ method: 'GET', path: 'a\\b"c\nd' }, 2.5)
    const seconds = registry.histogram('seconds', 'Durations.', [], [0.5, 2])
    for (const value of [0.5, 0.25, 3, 1]) seconds.observe({}, value)
    registry.gauges({ depth: 'Depth.' }, () => ({ depth: [{ labels: { state: 'x' }, value: 1e21 }] }))
    expect(await registry.render()).toBe(
      [
        '# HELP requests_total Requests\\nof "all" C:\\\\ kinds.',
        '# TYPE requests_total counter',
        'requests_total{method="GET",path="a\\\\b\\"c\\nd"} 3.5',
        '# HELP seconds Durations.',
        '# TYPE seconds histogram',
        'seconds_bucket{le="0.5"} 2',
        'seconds_bucket{le="2"} 3',
        'seconds_bucket{le="+Inf"} 4',
        'seconds_sum 4.75',
        'seconds_count 4',
        '# HELP depth Depth.',
        '# TYPE depth gauge',
        'depth{state="x"} 1e+21',
        '',
      ].join('\n'),
    )
    const read = parseMetrics(await registry.render())
    expect(read.get('requests_total')?.samples[0]?.labels.path).toBe('a\\b"c\nd')
    expect(sampleOf(read, 'depth', { state: 'x' })).toBe(1e21)
  })

  it('bounds the series of a metric and loses no count', async () => {
    const registry = createRegistry()
    const counter = registry.counter('many_total', 'Many.', ['a', 'b'])
    for (let number = 0; number < 3_000; number++) counter.add({ a: String(number), b: 'x' })
    const samples = parseMetrics(await registry.render()).get('many_total')?.samples ?? []
    expect(samples.length).toBeLessThanOrEqual(501)
    expect(samples.reduce((sum, { value }) => sum + value, 0)).toBe(3_000)
    expect(samples.at(-1)).toMatchObject({ labels: { a: 'other', b: 'other' }, value: 2_500 })
  })

  it('counts up only, and refuses a name that is taken', async () => {
    const registry = createRegistry()
    const counter = registry.counter('up_total', 'Up.', [])
    counter.add({}, 2)
    counter.add({}, -1)
    counter.add({}, Number.NaN)
    expect(sampleOf(parseMetrics(await registry.render()), 'up_total')).toBe(2)
    expect(() => registry.counter('up_total', 'Again.', [])).toThrow('exists already')
  })

  it('leaves out what cannot be read and shows the rest', async () => {
    const registry = createRegistry()
    registry.gauges({ broken: 'Broken.' }, () => Promise.reject(new Error('gone')))
    registry.gauges({ empty: 'Empty.' }, () => ({}))
    registry.counter('fine_total', 'Fine.', []).add({})
    expect([...parseMetrics(await registry.render()).keys()]).toEqual(['fine_total'])
  })
})

describe('the metrics server', () => {
  const handler = metricsHandler(createRegistry())
  const ask = (path: string, method = 'GET') => handler(new Request(`http://127.0.0.1${path}`, { method }))

  it('answers GET /metrics and nothing else', async () => {
    const answer = await ask('/metrics')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ])
    expect((await ask('/')).status).toBe(404)
    expect((await ask('/metrics/x')).status).toBe(404)
    expect((await ask('/metrics', 'POST')).status).toBe(405)
  })
})
