import type { Logger } from '../base/log.ts'
import type { TerminalStatus } from '../base/vocabulary.ts'
import { type Controller, createDelivery, type Delivery, type JournalView } from './delivery.ts'
import type { JournalHub } from './hub.ts'
import type { SessionState } from './status-hub.ts'
import { isFinal, KEEP_ALIVE, type StreamHost } from './status-stream.ts'

/** Bytes that wait for a reader at most, beside one page. A reader that is slower gets the rest from the database. */
const MAX_QUEUED = 64 * 1024

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

/** How what is watched ended; null when it has not. */
async function findEnd(
  { journal }: { journal: JournalHub },
  { session, round }: JournalView,
  state: SessionState,
): Promise<TerminalStatus | null> {
  if (round !== null) return await journal.roundEnd(session.id, round)
  return isFinal(state) ? (state.status as TerminalStatus) : null
}
