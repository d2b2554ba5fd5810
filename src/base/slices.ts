/**
 * A long computation in slices. Between two slices the event loop runs, so that other requests are answered while the
 * computation goes on.
 */
export interface Slices {
  /** True once the present slice is over. Cheap enough to be called after every few thousand steps. */
  due(): boolean
  /** Ends the slice: waits until the event loop has run. Errors: the reason of the signal, once it has fired. */
  pause(): Promise<void>
}

const SLICE_MS = 8

/** @param signal ends the computation at its next pause */
export function createSlices(signal?: AbortSignal): Slices {
  let started = performance.now()
  return {
    due: () => performance.now() - started > SLICE_MS,
    async pause() {
      signal?.throwIfAborted()
      await new Promise<void>((resolve) => setTimeout(resolve, 0))
      signal?.throwIfAborted()
      started = performance.now()
    },
  }
}
