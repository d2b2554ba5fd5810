import { LeaseLost } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { createSlices } from '../base/slices.ts'
import { endsWithin } from '../base/time.ts'
import type { Sql } from '../data/db/sql.ts'
import type { ClaimedRound } from '../rounds/round.ts'
import { CHANNEL_LIMITS, type ChannelLimit, createLimiter, toStorable } from './limits.ts'
import { countStored, type EventEntry, insertEvents } from './log-rows.ts'
import type { Activity, EngineOutput, EventChannel, RoundEvent } from './round-event.ts'

/** Records the events of a round for its watchers, masked. No method throws or blocks. */
export interface EventLog {
  activity(event: Activity): void
  output(event: EngineOutput): void
  /** Also masks all later texts with `mask`. */
  maskWith(mask: (text: string) => string): void
  /** Masks a text as those of events are. */
  mask(text: string): string
  /** Resolves when all events are stored, or when it is clear that they cannot be. Never rejects. */
  close(): Promise<void>
}

/** Discards all events, for rounds without watchers. */
export const silentEventLog: EventLog = {
  activity: () => {},
  output: () => {},
  maskWith: () => {},
  mask: (text) => text,
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
  const countEarlier = async () => {
    if (round.attempt === 1) return
    for (const { channel, ...stored } of await countStored(sql, round)) limiters[channel].count(stored)
  }
  const mask = (text: string) => masks.reduce((masked, next) => next(masked), text)
  const write = async (entries: readonly EventEntry[]) => {
    const slices = createSlices()
    const storable: EventEntry[] = []
    for (const { channel, event } of entries) {
      for (const stored of toStorable(event, mask)) storable.push({ channel, event: stored })
      if (slices.due()) await slices.pause()
    }
    await insertEvents(sql, round, storable)
  }
  const queue = createQueue(countEarlier, write, log)
  const add = (channel: EventChannel, event: RoundEvent) => {
    queue.add(limiters[channel].filter(event).map((admitted) => ({ channel, event: admitted })))
  }
  return {
    activity: (event) => add('activity', event),
    output: (event) => add('output', event),
    maskWith: (next) => void masks.push(next),
    mask,
    close: () => queue.close(),
  }
}

/** Maximum entries of one write. */
const BATCH = 200
/** Milliseconds for which the end of a round waits for its last entries. */
const CLOSE_MS = 1_000

/**
 * Writes entries in batches, one batch at a time, the first at once. A failed batch stays in the queue until the next
 * entry or the closing; the first failure is logged.
 * @param before runs before the first write
 * @param write its error `LeaseLost` closes the queue
 */
function createQueue<Entry>(
  before: () => Promise<void>,
  write: (entries: readonly Entry[]) => Promise<void>,
  log: Logger,
) {
  const entries: Entry[] = []
  let isPrepared = false
  let writing: Promise<void> | null = null
  let isOver = false
  let hasFailed = false

  const drain = async () => {
    if (!isPrepared) await before()
    isPrepared = true
    while (entries.length > 0 && !isOver) {
      const batch = entries.slice(0, BATCH)
      await write(batch)
      entries.splice(0, batch.length)
    }
  }
  const giveUp = (error: unknown) => {
    // Data that the database refuses would be refused again.
    if (isRefusedData(error)) entries.splice(0, BATCH)
    if (error instanceof LeaseLost) isOver = true
    else if (!hasFailed)
      log.warn('events of the round could not be stored; those who watch it may miss some', { error })
    hasFailed = true
  }
  const writeAll = async (): Promise<void> => {
    // Lets the caller add more entries in the same tick.
    await Promise.resolve()
    const error = await drain().then(
      () => null,
      (reason: unknown) => ({ reason }),
    )
    writing = null
    if (error) giveUp(error.reason)
    else await start()
  }
  const start = (): Promise<void> => {
    if (entries.length > 0 && !isOver) writing ??= writeAll()
    return writing ?? Promise.resolve()
  }
  /** Resolves when all entries are stored, or after a second. Nothing is stored after that. */
  const close = async () => {
    // If the running write fails, it is retried once.
    const all = start().then(() => start())
    if (!(await endsWithin(CLOSE_MS, all)))
      log.warn('the last events of the round were not stored in time', { events: entries.length })
    isOver = true
    entries.length = 0
  }
  const add = (added: readonly Entry[]) => {
    if (isOver) return
    for (const entry of added) entries.push(entry)
    void start()
  }
  return { add, close }
}

/** True if the server refused the values themselves (SQLSTATE classes 22 and 23). */
const isRefusedData = (error: unknown) =>
  error instanceof Error && 'severity' in error && 'code' in error && /^2[23]/.test(String(error.code))
