import { type Status, TERMINAL_STATUSES } from '../base/vocabulary.ts'
import type { SessionState } from './hub.ts'
import { type Chunk, createSseStream, type OpenStream, type StreamHost, type StreamRequest } from './sse-stream.ts'

/** Frames queued for a slow reader. While the queue is full, only the latest state is kept. */
const MAX_QUEUED = 8

/** Creates the body of a status subscription: the state now, at each poll and change, until a final state. */
export function createStatusStream(
  host: StreamHost,
  sessionUuid: string,
  options: StreamRequest,
): ReadableStream<Chunk> {
  let state: SessionState | null = null
  /** True while the reader has no room for the latest state. */
  let isWaiting = false
  const show = (stream: OpenStream) => {
    if (stream.isDone() || !state || isStale(state)) return
    isWaiting = !isFinal(state) && !stream.hasRoom()
    if (isWaiting) return
    stream.send(toFrame(state))
    if (isFinal(state)) stream.end()
  }
  const begin = async (stream: OpenStream) => {
    const watch = await host.hub.watch(sessionUuid, (next) => {
      state = next
      show(stream)
    })
    stream.onEnd(watch.close)
    state ??= watch.state
    if (!stream.isDone()) stream.poll()
  }
  const onRoom = (stream: OpenStream) => {
    if (isWaiting) show(stream)
  }
  const queue = { highWaterMark: MAX_QUEUED }
  return createSseStream(host, { begin, onPoll: show, onRoom }, { ...options, sessionUuid, queue })
}

const TERMINAL: readonly Status[] = TERMINAL_STATUSES
/** True if nothing more will happen in the session. Only then may a terminal status be sent and the stream end. */
export const isFinal = (state: SessionState) => !state.in_flight && TERMINAL.includes(state.status)
/** True while the status is still that of the previous round. It must not be shown: the next round is queued. */
const isStale = (state: SessionState) => state.in_flight && TERMINAL.includes(state.status)

const encoder = new TextEncoder()

/** Encodes one event as a single line of JSON. The message is sent without its double quotes. */
function toFrame(state: SessionState): Chunk {
  const message = (state.message ?? '').replaceAll('"', '')
  return encoder.encode(`data: ${JSON.stringify({ status_msg: state.status.toUpperCase(), detail: { message } })}\n\n`)
}
