import type { Logger } from '../base/log.ts'
import type { TerminalStatus } from '../base/vocabulary.ts'
import type { Feed } from './feed.ts'
import { endFrame, type Frame, joinFrames } from './frames.ts'
import type { SessionState } from './hub.ts'
import type { EventChannel } from './round-event.ts'
import { type Chunk, createSseStream, KEEP_ALIVE, type OpenStream, type StreamHost } from './sse-stream.ts'
import { isFinal } from './status-stream.ts'

/** The events that a reader asks for. */
export interface LogView {
  session: { id: number; uuid: string }
  channel: EventChannel
  /** Events with greater ids are sent. */
  cursor: number
  /** The newest event of the session when the cursor was made. */
  head: number
  /** Only events of this round, and its end; null: of all rounds after the cursor, and the end of the session. */
  round: number | null
}

/** Bytes that wait for a reader at most, beside one page. A reader that is slower gets the rest from the database. */
const MAX_QUEUED = 64 * 1024
/** A comment is sent when nothing else was for as many polls: 15 seconds, where a poll comes every five. */
const QUIET_POLLS = 3

/**
 * The body of one stream of events: those after the cursor, then each new one, and at last the status with which the round ended. It ends
 * also when the database cannot be read.
 */
export function createLogStream(
  host: StreamHost,
  view: LogView,
  options: { maxPolls: number; log: Logger },
): ReadableStream<Chunk> {
  const { hub } = host
  const { session, channel, round } = view
  let { cursor } = view
  let feed: Feed | null = null
  /** The status with which the round ended; null while it has not. */
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
  const sendPage = async (stream: OpenStream, { start }: Feed, last: TerminalStatus | null) => {
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
  /** Sends events while the reader has room, from the feed where it has the events, else from the database. */
  const advance = (stream: OpenStream) => {
    while (feed && !stream.isDone() && !isReading && stream.hasRoom()) {
      const next = feed.after(cursor)
      if (next === null && status === null) return
      if (next === null || next === 'behind') {
        isReading = true
        sendPage(stream, feed, next === null ? status : null).catch(stream.fail)
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
    feed = followed.feed
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
