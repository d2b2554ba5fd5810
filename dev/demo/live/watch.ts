import { setTimeout as sleep } from 'node:timers/promises'
import type { Activity, EngineOutput } from '../../../src/events/round-event.ts'
import { readFrames } from '../api.ts'

/** Fields of every event of a stream. */
interface Numbered {
  id: number
  round: number
}
type Cut = Numbered & { type: 'cut' }
export type Watched = { activity: (Activity & Numbered) | Cut; output: (EngineOutput & Numbered) | Cut }

const PAUSE_MS = 500

/**
 * Yields the activities of a round, or its engine output, until it has ended. A broken stream is reopened after the
 * last event. Without the stream on the platform there are no events.
 * @param base address of the core
 * @param signal ends the watching without an error
 */
export async function* watch<Kind extends keyof Watched>(
  base: string,
  kind: Kind,
  sessionId: string,
  signal: AbortSignal,
): AsyncIterable<Watched[Kind]> {
  let last: number | null = null
  while (!signal.aborted) {
    try {
      const resumed: Record<string, string> = last === null ? {} : { 'last-event-id': String(last) }
      const answer = await fetch(`${base}/api/v1/events/${kind}/${sessionId}`, { signal, headers: resumed })
      if (!answer.ok || !answer.body) return
      for await (const { event, data } of readFrames(answer.body)) {
        if (event === 'end') return
        if (data === undefined) continue
        const read = JSON.parse(data) as Watched[Kind]
        last = read.id
        yield read
      }
    } catch {
      // The stream broke. If the platform is gone, following the statuses reports it.
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
  }
}
