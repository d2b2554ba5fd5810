/** Splits a long computation into slices. Between them the event loop runs, so that other requests are served. */
export interface Slices {
  /** True once the current slice is over. Cheap enough to call every few thousand steps. */
  due(): boolean
  /** Ends the slice and waits until the event loop has run. Throws the signal's reason once it has fired. */
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
