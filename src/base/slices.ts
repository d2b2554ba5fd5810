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

/** Returns the result of a computation that is made of steps, without a pause. */
export function finish<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/** Returns the same in slices. One that is over within the first slice has no pause. Errors: the signal's reason. */
export async function inSlices<T>(steps: Generator<void, T>, slices: Slices = createSlices()): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    if (slices.due()) await slices.pause()
  }
}
