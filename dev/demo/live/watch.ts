import { setTimeout as sleep } from 'node:timers/promises'
import type { Activity, EngineOutput } from '../../../src/events/round-event.ts'

/** What every event of a stream has beside its own fields. */
interface Numbered {
  id: number
  round: number
}
type Ended = { type: 'end' }
type Cut = Numbered & { type: 'cut' }
export type Watched = { activity: (Activity & Numbered) | Cut; output: (EngineOutput & Numbered) | Cut }

const PAUSE_MS = 500

/**
 * Yields what a round does, or what its engine prints, until the round has ended. A stream that breaks is opened again
 * after the last event. Where the platform does not offer the stream, there are no events.
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
      for await (const event of readFrames<Watched[Kind]>(answer.body)) {
        if (event.type === 'end') return
        last = event.id
        yield event
      }
    } catch {
      // The stream broke. When the platform is gone, following the statuses says so.
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
  }
}

async function* readFrames<Event>(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncIterable<Event | Ended> {
  let text = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) {
      const lines = frame.split('\n')
      if (lines.includes('event: end')) yield { type: 'end' }
      const data = lines.find((line) => line.startsWith('data: '))
      if (data && !lines.includes('event: end')) yield JSON.parse(data.slice('data: '.length)) as Event
    }
  }
}
