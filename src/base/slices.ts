const SLICE_MS = 8

/**
 * Splits a long computation into slices. Between them the event loop runs, so that other requests are served.
 * @param signal ends the computation at its next pause
 */
export function createSlices(signal?: AbortSignal) {
  let started = performance.now()
  return {
    /** True once the current slice is over. Cheap enough to call every few thousand steps. */
    due: () => performance.now() - started > SLICE_MS,
    /** Ends the slice and waits until the event loop has run. Throws the signal's reason once it has fired. */
    async pause(): Promise<void> {
      signal?.throwIfAborted()
      await new Promise<void>((resolve) => setTimeout(resolve, 0))
      signal?.throwIfAborted()
      started = performance.now()
    },
  }
}
export type Slices = ReturnType<typeof createSlices>
