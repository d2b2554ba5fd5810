import type { TerminalStatus } from '../base/vocabulary.ts'
import type { Feed } from './feed.ts'
import { endFrame, type Frame, joinFrames } from './frames.ts'
import type { JournalHub } from './hub.ts'
import type { JournalChannel } from './round-event.ts'
import { KEEP_ALIVE } from './status-stream.ts'

/** What a watcher wants to see. */
export interface JournalView {
  session: { id: number; uuid: string }
  channel: JournalChannel
  /** Events with greater ids are sent. */
  cursor: number
  /** The newest event of the session when the cursor was made. */
  head: number
  /** Only events of this round, and its end; null: of all rounds after the cursor, and the end of the session. */
  round: number | null
}

export type Controller = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>

/** The stream to which events are delivered. */
interface Receiver {
  view: JournalView
  feed: Feed
  controller: Controller
  isDone(): boolean
  end(): void
  fail(error: unknown): void
}
export interface Delivery {
  /** Sends what there is, as long as the reader takes it. */
  advance(): void
  /** Ends the stream with this status after the events that are stored by now. */
  conclude(status: TerminalStatus): void
  /** Sends a comment when nothing was sent for some polls. */
  poll(): void
}

/** After so many polls without a frame a comment is sent. */
const QUIET_POLLS = 3

/** Sends events from a cursor on: those that the feed has, else pages of the database. */
export function createDelivery(journal: JournalHub, receiver: Receiver): Delivery {
  const { feed, controller, view } = receiver
  let { cursor } = view
  let status: TerminalStatus | null = null
  let isReading = false
  let quietPolls = 0
  const canSend = () => !receiver.isDone() && !isReading && (controller.desiredSize ?? 0) > 0

  const send = (frames: readonly Frame[]) => {
    cursor = frames.at(-1)?.id ?? cursor
    const wanted = view.round === null ? frames : frames.filter(({ round }) => round === view.round)
    if (wanted.length === 0) return
    quietPolls = 0
    controller.enqueue(joinFrames(wanted))
  }
  /** @param last what ends the stream when there is no further event */
  const sendPage = async (last: TerminalStatus | null) => {
    const { start } = feed
    const { session, channel, round } = view
    const frames = await journal.page({ sessionId: session.id, channel, after: cursor, round }, last !== null)
    if (receiver.isDone()) return
    if (frames.length > 0) return send(frames)
    if (last === null) cursor = Math.max(cursor, start)
    else {
      controller.enqueue(endFrame(last))
      receiver.end()
    }
  }
  const advance = () => {
    while (canSend()) {
      const next = feed.after(cursor)
      if (next === null && status === null) return
      if (next !== null && next !== 'behind') {
        send(next)
        continue
      }
      isReading = true
      sendPage(next === null ? status : null).then(() => {
        isReading = false
        advance()
      }, receiver.fail)
    }
  }
  const poll = () => {
    if (++quietPolls < QUIET_POLLS || (controller.desiredSize ?? 0) <= 0) return
    quietPolls = 0
    controller.enqueue(KEEP_ALIVE)
  }
  const conclude = (how: TerminalStatus) => {
    status ??= how
    advance()
  }
  return { advance, conclude, poll }
}
