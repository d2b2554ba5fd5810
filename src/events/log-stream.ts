import type { TerminalStatus } from '../base/vocabulary.ts'
import type { SessionState } from './hub.ts'
import { type Backlog, endFrame, type Frame, joinFrames } from './reader-backlog.ts'
import type { EventChannel } from './round-event.ts'
import {
  type Chunk,
  createSseStream,
  KEEP_ALIVE,
  type OpenStream,
  type StreamHost,
  type StreamRequest,
} from './sse-stream.ts'
import { isFinal } from './status-stream.ts'

/** The events that a reader requests. */
export interface LogView {
  session: { id: number; uuid: string }
  channel: EventChannel
  /** Events with greater ids are sent. */
  cursor: number
  /** The newest event of the session when the cursor was created. */
  head: number
  /** The round whose events and end are sent; null for all rounds after the cursor and the end of the session. */
  round: number | null
}

/** Maximum bytes queued for a reader, in addition to one page. A slower reader gets the rest from the database. */
const MAX_QUEUED = 64 * 1024
/** Polls without events after which a comment is sent: 15 seconds at one poll every five. */
const QUIET_POLLS = 3

/** Creates the body of an event stream: events after the cursor, then new ones, and the round's final status. */
export function createLogStream(host: StreamHost, view: LogView, options: StreamRequest): ReadableStream<Chunk> {
  const { hub } = host
  const { session, channel, round } = view
  let { cursor } = view
  let backlog: Backlog | null = null
  /** The final status of the round; null while it runs. */
  let status: TerminalStatus | null = null
  let isReading = false
  let quietPolls = 0

  const send = (stream: OpenStream, frames: readonly Frame[]) => {
    cursor = frames.at(-1)?.id ?? cursor
    const shown = round === null ? frames : frames.filter((frame) => frame.round === round)
    if (shown.length === 0) return
    quietPolls = 0
    stream.send(joinFrames(shown))
  }
  /** Sends a page of the database. `last` ends the stream when there is no further event. */
  const sendPage = async (stream: OpenStream, { start }: Backlog, last: TerminalStatus | null) => {
    const frames = await hub.page({ sessionId: session.id, channel, after: cursor, round }, last !== null)
    isReading = false
    if (stream.isDone()) return
    if (frames.length > 0) send(stream, frames)
    else if (last === null) cursor = Math.max(cursor, start)
    else {
      stream.send(endFrame(last))
      return stream.end()
    }
    advance(stream)
  }
  /** Sends events while the reader has room, from the backlog if it has them, otherwise from the database. */
  const advance = (stream: OpenStream) => {
    while (backlog && !stream.isDone() && !isReading && stream.hasRoom()) {
      const next = backlog.after(cursor)
      if (next === null && status === null) return
      if (next === null || next === 'behind') {
        isReading = true
        sendPage(stream, backlog, next === null ? status : null).catch(stream.fail)
      } else send(stream, next)
    }
  }
  const findEnd = async (stream: OpenStream, state: SessionState) => {
    const end =
      round === null ? isFinal(state) && (state.status as TerminalStatus) : await hub.roundEnd(session.id, round)
    if (!end) return
    status ??= end
    advance(stream)
  }
  const begin = async (stream: OpenStream) => {
    const followed = hub.follow(session, channel, view.head, () => advance(stream))
    stream.onEnd(followed.close)
    backlog = followed.backlog
    const onChange = (state: SessionState) => void findEnd(stream, state).catch(stream.fail)
    const watch = await hub.watch(session.uuid, onChange)
    stream.onEnd(watch.close)
    onChange(watch.state)
    advance(stream)
  }
  const onPoll = (stream: OpenStream) => {
    if (++quietPolls < QUIET_POLLS || !stream.hasRoom()) return
    quietPolls = 0
    stream.send(KEEP_ALIVE)
  }
  const queue = { highWaterMark: MAX_QUEUED, size: ({ byteLength }: Chunk) => byteLength }
  const content = { begin, onPoll, onRoom: advance }
  return createSseStream(host, content, { ...options, sessionUuid: session.uuid, queue })
}
