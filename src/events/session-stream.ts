import type { Logger } from '../base/log.ts'
import { dataFrame, isFinal, isStale, KEEP_ALIVE } from './frame.ts'
import type { StreamHost } from './stream-host.ts'
import type { SessionState } from './types.ts'

/** Frames kept for a reader that is slower than the changes; beyond it only the latest counts. */
const MAX_QUEUED = 8

/**
 * The body of one subscription: a comment at once, then the current state, then the state at each
 * poll and each change as it happens. Ends after a final state, after `max_polls` polls, when the
 * hub closes and when the reader leaves.
 */
export function sessionStream(
  host: StreamHost,
  session_uuid: string,
  options: { max_polls: number; log: Logger },
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
          if (count >= options.max_polls) return end()
          count++
          if (state) show(state)
        }
        const begin = async () => {
          const watch = await hub.watch(session_uuid, (next) => {
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
          options.log.warn('event stream ended early', { error, session_id: session_uuid })
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
