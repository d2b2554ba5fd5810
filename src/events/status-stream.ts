import type { Logger } from '../base/log.ts'
import { type Status, TERMINAL_STATUSES } from '../base/vocabulary.ts'
import type { SessionState, StatusHub } from './status-hub.ts'

/** How many frames are kept for a slow reader. When they are not read, only the latest state is sent after them. */
const MAX_QUEUED = 8

/**
 * The body of one event subscription: a comment at once, then the current state, then the state again at each poll
 * and at each change. It ends after a final state, after `maxPolls` polls, when the hub closes and when the reader
 * leaves.
 */
export function createSessionStream(
  host: StreamHost,
  sessionUuid: string,
  options: { maxPolls: number; log: Logger },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { hub, polls, open } = host
  let state: SessionState | null = null
  let pollCount = 0
  let isDone = false
  let sender: FrameSender
  let stopPolling = () => {}
  let stopWatching = () => {}

  const release = () => {
    isDone = true
    stopPolling()
    stopWatching()
    open.delete(end)
  }
  const end = () => {
    if (isDone) return
    release()
    sender.close()
  }
  const show = (next: SessionState) => {
    if (isDone || isStale(next)) return
    sender.send(next)
    if (isFinal(next)) end()
  }
  const poll = () => {
    if (pollCount >= options.maxPolls) return end()
    pollCount++
    if (state) show(state)
  }
  const begin = async () => {
    const watch = await hub.watch(sessionUuid, (next) => {
      state = next
      show(next)
    })
    if (isDone) return watch.close()
    stopWatching = watch.close
    stopPolling = polls.add(poll)
    state ??= watch.state
    poll()
  }
  const start = (controller: Controller) => {
    sender = createFrameSender(controller)
    open.add(end)
    controller.enqueue(KEEP_ALIVE)
    if (hub.closing.aborted) return end()
    begin().catch((error) => {
      options.log.warn('event stream ended early', { error, session_id: sessionUuid })
      end()
    })
  }
  const pull = () => {
    if (!isDone) sender.sendPending()
  }
  return new ReadableStream({ start, pull, cancel: release }, { highWaterMark: MAX_QUEUED })
}

type Controller = ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>
interface FrameSender {
  /** Sends a state; when the reader's queue is full, a state that is not final is kept until there is room. */
  send(state: SessionState): void
  /** Sends the state that was kept, if there is one. */
  sendPending(): void
  close(): void
}

function createFrameSender(controller: Controller): FrameSender {
  let pending: SessionState | null = null
  return {
    send(state) {
      if (isFinal(state)) controller.enqueue(dataFrame(state))
      else if ((controller.desiredSize ?? 0) > 0) {
        pending = null
        controller.enqueue(dataFrame(state))
      } else pending = state
    },
    sendPending() {
      if (pending === null) return
      controller.enqueue(dataFrame(pending))
      pending = null
    },
    close: () => controller.close(),
  }
}

const encoder = new TextEncoder()
export const KEEP_ALIVE: Uint8Array<ArrayBuffer> = encoder.encode(': keepalive\n\n')

const TERMINAL: readonly Status[] = TERMINAL_STATUSES
/** Whether nothing more will happen in the session. Only then may a terminal status be sent and the stream end. */
export const isFinal = (state: SessionState) => !state.in_flight && TERMINAL.includes(state.status)
/** Whether the status is still the terminal one of the round before. It must not be shown: the next round is queued. */
const isStale = (state: SessionState) => state.in_flight && TERMINAL.includes(state.status)

/** One event: a single line of JSON. The message is sent without its double quotes. */
function dataFrame(state: SessionState): Uint8Array<ArrayBuffer> {
  const message = (state.message ?? '').replaceAll('"', '')
  return encoder.encode(`data: ${JSON.stringify({ status_msg: state.status.toUpperCase(), detail: { message } })}\n\n`)
}

/** What all streams of one process share. */
export interface StreamHost {
  hub: StatusHub
  polls: PollWheel
  /** One function for each open stream, which ends it. */
  open: Set<() => void>
}

/** Ends every open stream when the hub closes. */
export function createStreamHost(hub: StatusHub, periodMs: number): StreamHost {
  const open = new Set<() => void>()
  hub.closing.addEventListener('abort', () => {
    for (const end of [...open]) end()
  })
  return { hub, polls: createPollWheel(periodMs), open }
}

/** Calls each of many listeners once in a period, from a single timer that runs only while there are listeners. */
interface PollWheel {
  /** The first call comes within one period, each later one a period after it. Answers a function that stops them. */
  add(onPoll: () => void): () => void
  readonly size: number
}

const SLOTS = 20

/**
 * A period has 20 slots, and a listener belongs to the slot in which it joined. With a period of 2 s the timer fires
 * every 100 ms and serves one slot, so that a thousand listeners are not all called in the same moment.
 */
function createPollWheel(periodMs: number): PollWheel {
  const slots = Array.from({ length: SLOTS }, () => new Set<() => void>())
  let size = 0
  let current = 0
  let timer: ReturnType<typeof setInterval> | null = null
  const serveNextSlot = () => {
    current = (current + 1) % SLOTS
    for (const onPoll of [...(slots[current] ?? [])]) onPoll()
  }
  return {
    add(onPoll) {
      const slot = slots[current]
      slot?.add(onPoll)
      size++
      timer ??= setInterval(serveNextSlot, periodMs / SLOTS)
      return () => {
        if (!slot?.delete(onPoll)) return
        size--
        if (size > 0 || timer === null) return
        clearInterval(timer)
        timer = null
      }
    },
    get size() {
      return size
    },
  }
}
