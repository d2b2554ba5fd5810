import { setTimeout as sleep } from 'node:timers/promises'
import type { ActivityEvent, OutputEvent } from '../../../console/client/api/client.ts'
import { readFrames } from '../api.ts'
import type { Display } from '../display.ts'

/** The parallel workers on a round. */
const LANES = ['model', 'engine'] as const
type Lane = (typeof LANES)[number]

/**
 * Shows the work on a round: a line for each thing that has ended, and the current work of each lane in the line that a
 * terminal updates.
 * @param options.output true prints every line of the engine; otherwise a terminal shows the latest one
 */
export function openLanes(
  display: Display,
  options: { base: string; sessionId: string; output: boolean; signal: AbortSignal },
) {
  const { base, sessionId, signal } = options
  const stop = new AbortController()
  const within = AbortSignal.any([signal, stop.signal])
  const now = new Map<Lane, string>()
  const showNow = () => {
    const busy = LANES.flatMap((lane) => now.get(lane) ?? [])
    if (busy.length > 0) display.busy(busy.join('  |  '))
  }
  const showActivities = async () => {
    for await (const event of watch(base, 'activity', sessionId, within)) {
      track(now, event)
      const line = describeActivity(event)
      if (line) display.event(line.lane, line.colour ? display.paint(line.colour, line.text) : line.text)
      showNow()
    }
  }
  const showOutput = async () => {
    for await (const event of watch(base, 'output', sessionId, within)) {
      if (event.type !== 'lines') continue
      const lines = event.text.split('\n').filter((line) => line.trim() !== '')
      const last = lines.at(-1)
      if (options.output) for (const line of lines) display.line(display.paint('gray', `${' '.repeat(24)}${line}`))
      else if (last !== undefined && now.has('engine')) now.set('engine', `${event.step}: ${last.trim()}`)
      showNow()
    }
  }
  const watching = Promise.all([showActivities(), showOutput()])
  return {
    /** Stops watching. Resolves when everything received is printed. */
    close: async (): Promise<void> => {
      const late = setTimeout(() => stop.abort(), LAST_MS)
      await watching.finally(() => clearTimeout(late))
    },
  }
}

/** Time in ms for the last events after the end of the round. */
const LAST_MS = 1_000

function track(now: Map<Lane, string>, event: Watched['activity']): void {
  if (event.type === 'chain.began') now.set('model', nameOf(event.chain))
  else if (event.type === 'tool.called') now.set('model', `${nameOf(event.chain)}, after ${event.tool}`)
  else if (event.type === 'chain.ended') now.delete('model')
  else if (event.type === 'engine.began') now.set('engine', event.step)
  else if (event.type === 'engine.ended') now.delete('engine')
}

/** Makes the line for an event, with its lane as heading; null for starts and for facts of other lines. */
export function describeActivity(
  event: Watched['activity'],
): { lane: string; text: string; colour?: 'red' | 'yellow' | 'gray' } | null {
  switch (event.type) {
    case 'attempt.began':
      if (event.attempt === 1) return null
      return { lane: 'attempt', text: `${event.attempt} of ${event.max_attempts}`, colour: 'yellow' }
    case 'chain.ended': {
      const failed = event.outcome === 'failed'
      const text = `${nameOf(event.chain)}, ${inSeconds(event.seconds)}${failed ? ', failed' : ''}`
      return { lane: 'model', text, colour: failed ? 'red' : 'gray' }
    }
    case 'tool.called': {
      const refused = event.outcome === 'refused'
      const words = [event.tool, event.path, refused ? 'refused' : null].filter((word) => word !== null)
      return { lane: '  tool', text: words.join(' '), colour: refused ? 'yellow' : 'gray' }
    }
    case 'engine.ended': {
      const failed = event.exit_code !== 0
      const code = event.exit_code === null ? 'no result' : `exit code ${event.exit_code}`
      const text = `${event.step}, ${inSeconds(event.seconds)}${failed ? `, ${code}` : ''}`
      return { lane: 'engine', text, colour: failed ? 'red' : 'gray' }
    }
    case 'file.written':
      return { lane: 'file', text: `${event.path} +${event.lines_added} -${event.lines_removed}` }
    case 'rule.found':
      return { lane: 'rule', text: `${event.severity} ${event.rule} ${event.address ?? ''}`.trim(), colour: 'yellow' }
    case 'cut':
      return { lane: '', text: 'this round does more than can be shown', colour: 'yellow' }
    default:
      return null
  }
}

const nameOf = (chain: string): string => chain.toLowerCase().replaceAll('_', ' ')
const inSeconds = (seconds: number): string => `${seconds.toFixed(1)} s`

/** The events of each stream. */
type Watched = { activity: ActivityEvent; output: OutputEvent }

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
        const read = JSON.parse(data) as Watched[Kind]
        last = read.id
        yield read
      }
    } catch {
      // The stream broke. If the platform is gone, following the statuses reports it.
    }
    await sleep(500, undefined, { signal }).catch(() => {})
  }
}
