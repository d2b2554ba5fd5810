import type { Logger } from '../base/log.ts'
import type { Sql } from '../data/db/sql.ts'
import type { ClaimedRound } from '../rounds/round.ts'
import { CHANNEL_LIMITS, type ChannelLimit, createLimiter } from './limits.ts'
import { countStored, type EventEntry, insertEvents } from './log-rows.ts'
import type { Activity, EngineOutput, EventChannel, RoundEvent } from './round-event.ts'
import { toStorable } from './storable-event.ts'
import { createQueue } from './write-queue.ts'

/** Records the events of a round for its watchers, masked. No method throws or blocks. */
export interface EventLog {
  activity(event: Activity): void
  output(event: EngineOutput): void
  /** Also masks all later texts with `mask`. */
  maskWith(mask: (text: string) => string): void
  /** Resolves when all events are stored, or when it is clear that they cannot be. Never rejects. */
  close(): Promise<void>
}

/** Discards all events, for rounds without watchers. */
export const silentEventLog: EventLog = {
  activity: () => {},
  output: () => {},
  maskWith: () => {},
  close: async () => {},
}

export interface EventLogOptions {
  log: Logger
  /** Masks the secrets of the configuration. */
  mask: (text: string) => string
  limits?: Record<EventChannel, ChannelLimit>
}

/**
 * Opens the event log of a round. Events are queued in memory and written in batches by one task: the first at once,
 * later ones after the running write. If the database fails, they wait for the next event or the end of the round. If
 * another worker has claimed the round, they are dropped.
 */
export function openEventLog(sql: Sql, round: ClaimedRound, options: EventLogOptions): EventLog {
  const { log, limits = CHANNEL_LIMITS } = options
  const masks = [options.mask]
  const limiters = { activity: createLimiter(limits.activity), output: createLimiter(limits.output) }
  const queue = createQueue<EventEntry>(async (entries) => {
    const mask = (text: string) => masks.reduce((masked, next) => next(masked), text)
    const storable = entries.flatMap(({ channel, event }) =>
      toStorable(event, mask).map((stored) => ({ channel, event: stored })),
    )
    await insertEvents(sql, round, storable)
  }, log)
  const add = (channel: EventChannel, event: RoundEvent) => {
    queue.add(limiters[channel].filter(event).map((admitted) => ({ channel, event: admitted })))
  }
  if (round.attempt > 1)
    queue.first(async () => {
      for (const { channel, ...stored } of await countStored(sql, round)) limiters[channel].count(stored)
    })
  return {
    activity: (event) => add('activity', event),
    output: (event) => add('output', event),
    maskWith: (mask) => void masks.push(mask),
    close: () => queue.close(),
  }
}
