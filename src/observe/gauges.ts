import type { Db } from '../data/db/types.ts'
import type { Registry } from './registry.ts'

interface QueueState {
  waiting: number
  running: number
  oldest_s: number
}

/** Adds the depth and the age of the queue to the metrics; each scrape runs one query for both. */
export function watchQueue(registry: Registry, sql: Db): void {
  registry.gauges(
    [
      { name: 'platform_queue_rounds', help: 'Unfinished rounds of the whole platform.' },
      {
        name: 'platform_queue_oldest_waiting_seconds',
        help: 'Age of the round that waits longest; 0 when none waits.',
      },
    ],
    async () => {
      const { waiting, running, oldest_s } = await readQueue(sql)
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

async function readQueue(sql: Db): Promise<QueueState> {
  const [row] = await sql<QueueState[]>`
    SELECT count(*) FILTER (WHERE waits) AS waiting, count(*) FILTER (WHERE NOT waits) AS running,
           coalesce(extract(epoch FROM clock_timestamp() - min(created_at) FILTER (WHERE waits)), 0)::float8 AS oldest_s
    FROM (
      SELECT created_at, coalesce(lease_until < clock_timestamp(), true) AS waits FROM rounds WHERE finished_at IS NULL
    ) r`
  return row ?? { waiting: 0, running: 0, oldest_s: 0 }
}

/** Adds the number of event streams that this process has open. */
export const watchStreams = (registry: Registry, hub: { readonly openStreams: number }): void =>
  registry.gauges([{ name: 'platform_open_streams', help: 'Open event streams.' }], () => ({
    platform_open_streams: [{ labels: {}, value: hub.openStreams }],
  }))
