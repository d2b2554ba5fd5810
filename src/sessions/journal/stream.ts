import type { Logger } from '../../base/log.ts'
import type { TerminalStatus } from '../../base/vocabulary.ts'
import type { SessionState } from '../events/hub.ts'
import { isFinal, KEEP_ALIVE, type StreamHost } from '../events/stream.ts'
import type { Feed } from './feed.ts'
import { endFrame, type Frame, joinFrames } from './frames.ts'
import type { JournalHub } from './hub.ts'
import type { JournalChannel } from './types.ts'

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

/** Bytes that wait for a reader at most, beside one page. A reader that is slower gets the rest from the database. */
const MAX_QUEUED = 64 * 1024
/** After so many polls without a frame a comment is sent. */
const QUIET_POLLS = 3

/**
 * The body of one stream of events: a comment at once, then the events after the cursor, then each new one, and at last
 * how the round ended. A comment is sent when nothing else was for 15 seconds. It ends also after `maxPolls` polls,
 * when the hub closes, when the database cannot be read, and when the reader leaves.
 */
export function createJournalStream(
  host: StreamHost & { journal: JournalHub },
  view: JournalView,
  options: { maxPolls: number; log: Logger },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { hub, polls, open } = host
  const closers: (() => void)[] = []
  let pollCount = 0
  let isDone = false
  let delivery: Delivery
  const release = () => {
    isDone = true
    for (const close of closers.splice(0)) close()
    open.delete(end)
  }
  let controller: Controller
  const end = () => {
    if (isDone) return
    release()
    controller.close()
  }
  const fail = (error: unknown) => {
    if (!isDone) options.log.warn('event stream ended early', { error, session_id: view.session.uuid })
    end()
  }
  const hear = (state: SessionState) => {
    findEnd(host, view, state).then((status) => status !== null && delivery.conclude(status), fail)
  }
  const begin = async () => {
    const { feed, close } = host.journal.follow(view.session, view.channel, view.head, () => delivery.advance())
    closers.push(close)
    delivery = createDelivery(host.journal, { view, feed, controller, isDone: () => isDone, end, fail })
    const watch = await hub.watch(view.session.uuid, hear)
    if (isDone) return watch.close()
    closers.push(watch.close)
    closers.push(polls.add(() => (pollCount++ < options.maxPolls ? delivery.poll() : end())))
    hear(watch.state)
    delivery.advance()
  }
  const start = (started: Controller) => {
    controller = started
    open.add(end)
    controller.enqueue(KEEP_ALIVE)
    if (hub.closing.aborted) return end()
    begin().catch(fail)
  }
  const pull = () => delivery?.advance()
  return new ReadableStream(
    { start, pull, cancel: release },
    { highWaterMark: MAX_QUEUED, size: ({ byteLength }) => byteLength },
  )
}

type Controller = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>

/** How what is watched ended; null when it has not. */
async function findEnd(
  { journal }: { journal: JournalHub },
  { session, round }: JournalView,
  state: SessionState,
): Promise<TerminalStatus | null> {
  if (round !== null) return await journal.roundEnd(session.id, round)
  return isFinal(state) ? (state.status as TerminalStatus) : null
}

interface Delivery {
  /** Sends what there is, as long as the reader takes it. */
  advance(): void
  /** Ends the stream with this status after the events that are stored by now. */
  conclude(status: TerminalStatus): void
  poll(): void
}

/** Sends events from a cursor on: those that the feed has, else pages of the database. */
function createDelivery(
  journal: JournalHub,
  stream: {
    view: JournalView
    feed: Feed
    controller: Controller
    isDone: () => boolean
    end: () => void
    fail: (error: unknown) => void
  },
): Delivery {
  const { feed, controller, isDone } = stream
  const { session, channel, round } = stream.view
  let { cursor } = stream.view
  let status: TerminalStatus | null = null
  let isReading = false
  let quietPolls = 0
  const hasRoom = () => (controller.desiredSize ?? 0) > 0

  const send = (frames: readonly Frame[]) => {
    cursor = frames.at(-1)?.id ?? cursor
    const wanted = round === null ? frames : frames.filter((frame) => frame.round === round)
    if (wanted.length === 0) return
    quietPolls = 0
    controller.enqueue(joinFrames(wanted))
  }
  /** @param last what ends the stream when there is no further event */
  const readPage = async (last: TerminalStatus | null) => {
    const horizon = feed.start
    const wanted = { sessionId: session.id, channel, after: cursor, round }
    const frames = await journal.page(wanted, last !== null)
    if (isDone()) return
    if (frames.length > 0) send(frames)
    else if (last === null) cursor = Math.max(cursor, horizon)
    else {
      controller.enqueue(endFrame(last))
      stream.end()
    }
  }
  const advance = () => {
    while (!isDone() && !isReading && hasRoom()) {
      const next = feed.after(cursor)
      if (next !== null && next !== 'behind') {
        send(next)
        continue
      }
      if (next === null && status === null) return
      isReading = true
      readPage(next === null ? status : null).then(() => {
        isReading = false
        advance()
      }, stream.fail)
    }
  }
  return {
    advance,
    conclude: (how) => {
      status ??= how
      advance()
    },
    poll: () => {
      quietPolls++
      if (quietPolls < QUIET_POLLS || !hasRoom()) return
      quietPolls = 0
      controller.enqueue(KEEP_ALIVE)
    },
  }
}
