import {
  createMetrics,
  watchBudgets,
  watchCache,
  watchQueue,
  watchStorage,
  watchStreams,
} from '../../../src/observe/metrics.ts'

type Fake<Watch extends (...args: never[]) => unknown> = Parameters<Watch>[1]

/**
 * The series that core and worker give out, as a collector reads them: the labels of each by its name. Counters count
 * once, and gauges read from stand-ins.
 */
export async function readMetrics(): Promise<Map<string, Set<string>>> {
  const metrics = createMetrics('core', '1.0.0')
  metrics.countRequest({ method: 'GET', route: '/sessions', status: 200, seconds: 0.1 })
  metrics.countRoundEnd('generate', 'completed')
  metrics.countCacheCall('read', 'hit')
  metrics.countCacheCall('write', 'kept')
  metrics.countTokens('main', { input_tokens: 3, cached_tokens: 2, output_tokens: 1 } as Parameters<
    typeof metrics.countTokens
  >[1])
  metrics.countEngineTime('plan', 1)
  const rows = async () => [{ waiting: 1, running: 1, oldest_s: 1 }]
  watchQueue(metrics.registry, rows as unknown as Fake<typeof watchQueue>)
  watchCache(metrics.registry, { isOn: () => true })
  watchStorage(metrics.registry, { isOn: () => true })
  watchStreams(metrics.registry, { openStreams: 1 })
  const budget = { user_day: { tokens: 10 }, platform_day: { tokens: 10 } }
  watchBudgets(metrics.registry, {
    sql: async () => [],
    config: { llm: { budget } },
    now: () => new Date(),
  } as unknown as Fake<typeof watchBudgets>)
  const series = new Map<string, Set<string>>()
  for (const [, name = '', labels = ''] of (await metrics.registry.render()).matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
    const known = series.get(name) ?? new Set()
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label)
    series.set(name, known)
  }
  return series
}
