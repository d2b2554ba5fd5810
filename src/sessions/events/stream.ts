import type { Logger } from '../../base/log.ts'
import { type Status, TERMINAL_STATUSES } from '../../base/vocabulary.ts'
import type { SessionState, StatusHub } from './hub.ts'

/** Frames kept for a reader that is slower than the changes; beyond it only the latest counts. */
const MAX_QUEUED = 8

/**
 * The body of one subscription: a comment at once, then the current state, then the state at each
 * poll and each change as it happens. Ends after a final state, after `maxPolls` polls, when the
 * hub closes and when the reader leaves.
 */
export function sessionStream(
  host: StreamHost,
  sessionUuid: string,
  options: { maxPolls: number; log: Logger },
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { hub, polls, open } = host
  let state: SessionState | null = null
  let count = 0
  let done = false
  /** A state that did not fit into the queue; sent when the reader has caught up. */
  let late: SessionState | null = null
  let stopPolling = () => {}
  let stopWatching = () => {}
  let end = () => {}

  const release = () => {
    done = true
    stopPolling()
    stopWatching()
    open.delete(end)
  }

  return new ReadableStream(
    {
      start(controller) {
        end = () => {
          if (done) return
          release()
          controller.close()
        }
        const show = (next: SessionState) => {
          if (done || isStale(next)) return
          if (isFinal(next)) {
            controller.enqueue(dataFrame(next))
            end()
          } else if ((controller.desiredSize ?? 0) > 0) {
            late = null
            controller.enqueue(dataFrame(next))
          } else late = next
        }
        const poll = () => {
          if (count >= options.maxPolls) return end()
          count++
          if (state) show(state)
        }
        const begin = async () => {
          const watch = await hub.watch(sessionUuid, (next) => {
            state = next
            show(next)
          })
          if (done) return watch.close()
          stopWatching = watch.close
          stopPolling = polls.add(poll)
          state ??= watch.state
          poll()
        }
        open.add(end)
        controller.enqueue(KEEP_ALIVE)
        if (hub.closing.aborted) return end()
        begin().catch((error) => {
          options.log.warn('event stream ended early', { error, session_id: sessionUuid })
          end()
        })
      },
      pull(controller) {
        if (late === null || done) return
        controller.enqueue(dataFrame(late))
        late = null
      },
      cancel: release,
    },
    { highWaterMark: MAX_QUEUED },
  )
}

const encoder = new TextEncoder()
const KEEP_ALIVE: Uint8Array<ArrayBuffer> = encoder.encode(': keepalive\n\n')

const TERMINAL: readonly Status[] = TERMINAL_STATUSES
/** Nothing more will happen: only then may a terminal status be sent, and the stream end. */
const isFinal = (state: SessionState) => !state.in_flight && TERMINAL.includes(state.status)
/** A terminal status of an earlier round while the next one is queued must not be shown. */
const isStale = (state: SessionState) => state.in_flight && TERMINAL.includes(state.status)

/** One event: one line of JSON, the message without its double quotes. */
function dataFrame(state: SessionState): Uint8Array<ArrayBuffer> {
  const message = (state.message ?? '').replaceAll('"', '')
  return encoder.encode(`data: ${JSON.stringify({ status_msg: state.status.toUpperCase(), detail: { message } })}\n\n`)
}

/** What all streams of one application share. */
export interface StreamHost {
  hub: StatusHub
  polls: PollWheel
  /** How to end each open stream. */
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

/** Calls many listeners once per period each, from one timer that runs only while somebody listens. */
interface PollWheel {
  /** The first call comes within one period, the next ones a period apart. Answers how to stop. */
  add(onPoll: () => void): () => void
  readonly size: number
}

const SLOTS = 20

/**
 * Listeners are spread over slots by the moment they joined, so that they are not all served in one
 * burst.
 */
function createPollWheel(periodMs: number): PollWheel {
  const slots = Array.from({ length: SLOTS }, () => new Set<() => void>())
  let size = 0
  let current = 0
  let timer: ReturnType<typeof setInterval> | null = null
  const turn = () => {
    current = (current + 1) % SLOTS
    for (const onPoll of [...(slots[current] ?? [])]) onPoll()
  }
  return {
    add(onPoll) {
      const slot = slots[current]
      slot?.add(onPoll)
      size++
      timer ??= setInterval(turn, periodMs / SLOTS)
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
