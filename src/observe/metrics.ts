import type { Mode, TerminalStatus } from '../base/vocabulary.ts'
import { type BudgetContext, compareBudgets, dayOf } from '../budget/budget.ts'
import { readBusiestDay } from '../budget/spend.ts'
import type { Cache, CacheOutcome } from '../data/cache/cache.ts'
import type { Db } from '../data/db/sql.ts'
import type { ObjectStore } from '../data/storage/object-store.ts'
import type { ModelRole, Usage } from '../llm/inference.ts'
import { createRegistry, type Registry } from './registry.ts'

const METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']
/** Upper bounds of the latency buckets, in seconds. */
const LATENCY_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Creates the metrics of core and worker. Label values come from fixed lists, so that the number of series is bounded. */
export function createMetrics(process: 'core' | 'worker', version: string) {
  const registry = createRegistry()
  const started = Date.now() / 1000
  const helps = {
    platform_build_info: 'Always 1; the version is a label.',
    platform_start_time_seconds: 'When the process started, in seconds since 1970.',
  }
  registry.gauges(helps, () => ({
    platform_build_info: [{ labels: { process, version }, value: 1 }],
    platform_start_time_seconds: [{ labels: {}, value: started }],
  }))
  const requests = registry.counter('platform_http_requests_total', 'Answered requests.', ['method', 'route', 'status'])
  const latency = registry.histogram(
    'platform_http_request_duration_seconds',
    'From the request to the beginning of its answer.',
    ['method', 'route'],
    LATENCY_S,
  )
  const rounds = registry.counter('platform_rounds_total', 'Rounds that ended here.', ['mode', 'status'])
  const cacheReads = registry.counter(
    'platform_cache_reads_total',
    'Reads of the cache; a fault is answered from the database.',
    ['outcome'],
  )
  const cacheWrites = registry.counter(
    'platform_cache_writes_total',
    'Entries given to the cache; it refuses them while it is full.',
    ['outcome'],
  )
  const tokens = registry.counter(
    'platform_model_tokens_total',
    'Tokens of model calls; cached ones are part of input.',
    ['role', 'kind'],
  )
  const engine = registry.counter('platform_engine_seconds_total', 'Time for which engine jobs were waited for.', [
    'job',
  ])
  return {
    registry,
    /** Counts an answered request. `route` is the route template, `seconds` the time to the beginning of the response. */
    countRequest: (request: { method: string; route: string; status: number; seconds: number }): void => {
      const { method, route, status, seconds } = request
      const methodLabel = METHODS.includes(method) ? method : 'other'
      requests.add({ method: methodLabel, route, status: String(status) })
      latency.observe({ method: methodLabel, route }, seconds)
    },
    countRoundEnd: (mode: Mode, status: TerminalStatus) => rounds.add({ mode, status }),
    countCacheCall: (call: 'read' | 'write', outcome: CacheOutcome) =>
      (call === 'read' ? cacheReads : cacheWrites).add({ outcome }),
    countTokens: (role: ModelRole, usage: Usage): void => {
      tokens.add({ role, kind: 'input' }, usage.input_tokens)
      tokens.add({ role, kind: 'cached' }, usage.cached_tokens)
      tokens.add({ role, kind: 'output' }, usage.output_tokens)
    },
    /** Adds the time spent waiting for an engine job. */
    countEngineTime: (job: string, seconds: number) => engine.add({ job }, seconds),
  }
}
export type PlatformMetrics = ReturnType<typeof createMetrics>

/** Adds the depth and age of the queue to the metrics; each scrape runs one query for both. */
export function watchQueue(registry: Registry, sql: Db): void {
  registry.gauges(
    {
      platform_queue_rounds: 'Unfinished rounds of the whole platform.',
      platform_queue_oldest_waiting_seconds: 'Age of the round that waits longest; 0 when none waits.',
    },
    async () => {
      const [{ waiting, running, oldest_s } = { waiting: 0, running: 0, oldest_s: 0 }] = await sql<
        { waiting: number; running: number; oldest_s: number }[]
      >`
        SELECT count(*) FILTER (WHERE waits) AS waiting, count(*) FILTER (WHERE NOT waits) AS running,
               greatest(extract(epoch FROM clock_timestamp() - min(created_at) FILTER (WHERE waits)), 0)::float8 AS oldest_s
        FROM (
          SELECT created_at, coalesce(lease_until < clock_timestamp(), true) AS waits
          FROM rounds WHERE finished_at IS NULL
        ) r`
      return {
        platform_queue_rounds: [
          { labels: { state: 'waiting' }, value: waiting },
          { labels: { state: 'running' }, value: running },
        ],
        platform_queue_oldest_waiting_seconds: [{ labels: {}, value: oldest_s }],
      }
    },
  )
}

/** Adds what is left of the model budgets of a day. Without one nothing is added; else each scrape runs one query. */
export function watchBudgets(registry: Registry, { sql, config, now }: BudgetContext): void {
  const { user_day, platform_day } = config.llm.budget
  if (!user_day && !platform_day) return
  registry.gauges(
    {
      platform_model_budget_left:
        'Left of the model budgets of this day (UTC); of user_day, that of the user who has least.',
    },
    async () => {
      const budgets = compareBudgets({ user_day, platform_day }, await readBusiestDay(sql, dayOf(now())))
      return {
        platform_model_budget_left: budgets.map(({ budget, unit, left }) => ({
          labels: { budget, unit },
          value: left,
        })),
      }
    },
  )
}

export const watchCache = (registry: Registry, cache: Pick<Cache, 'isOn'>): void =>
  registry.gauges({ platform_cache_up: '0 while the database answers in place of the cache.' }, () => ({
    platform_cache_up: [{ labels: {}, value: cache.isOn() ? 1 : 0 }],
  }))

export const watchStorage = (registry: Registry, storage: Pick<ObjectStore, 'isOn'>): void =>
  registry.gauges({ platform_storage_up: '0 while the object store cannot be used.' }, () => ({
    platform_storage_up: [{ labels: {}, value: storage.isOn() ? 1 : 0 }],
  }))

export const watchStreams = (registry: Registry, hub: { readonly openStreams: number }): void =>
  registry.gauges({ platform_open_streams: 'Open event streams.' }, () => ({
    platform_open_streams: [{ labels: {}, value: hub.openStreams }],
  }))
