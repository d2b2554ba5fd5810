import type { AgentEvent } from '../../src/agent/agent-request.ts'
import type { ChainName } from '../../src/chains/index.ts'
import type { ObjectStore } from '../../src/data/storage/object-store.ts'
import type { EventLog } from '../../src/events/event-log.ts'
import type { Meter } from './meter.ts'

/** Returns the seconds since a moment of `performance.now()`, to the millisecond. */
export const secondsSince = (started: number): number => Math.round(performance.now() - started) / 1000

/** Creates `BareRun.observe`: every event is metered, and tool calls are added to the event log. */
export const createObserver =
  (meter: Pick<Meter, 'observe'>, eventLog: EventLog) =>
  (event: AgentEvent<ChainName>): void => {
    meter.observe(event)
    if (event.type !== 'tool') return
    eventLog.activity({
      type: 'tool.called',
      chain: event.chain,
      tool: event.name,
      path: event.path ?? null,
      outcome: event.success ? 'ok' : 'refused',
      seconds: Math.round(event.durationMs) / 1000,
    })
  }

/** Keys of a round's objects, `sessions/<session>/rounds/<round>/<folder>/<name>`. */
const OF_ROUND = /^sessions\/[^/]+\/rounds\/[^/]+\/([^/]+)\/(.+)$/

/** Wraps the store so that each stored object of a round is added to the event log. */
export const watchUploads = (storage: ObjectStore, eventLog: EventLog): ObjectStore => ({
  ...storage,
  put: async (key, body, options) => {
    const bytes = await storage.put(key, body, options)
    const [, kind, name] = OF_ROUND.exec(key) ?? []
    if (kind && name) eventLog.activity({ type: 'artifact.uploaded', kind, name, bytes })
    return bytes
  },
})

/** Counts the lines that a file change adds and removes. */
export function countLines(change: { new_file: boolean; content: string }): { added: number; removed: number } {
  const lines = change.content.replace(/\n$/, '').split('\n')
  if (change.new_file) return { added: change.content === '' ? 0 : lines.length, removed: 0 }
  // The lines before the first hunk name the files.
  const hunks = lines.slice(lines.findIndex((line) => line.startsWith('@@')) + 1)
  const count = (sign: string) => hunks.filter((line) => line.startsWith(sign)).length
  return { added: count('+'), removed: count('-') }
}
