/**
 * Waits for `work`, but not longer than `ms` milliseconds. The work itself is not stopped: an outcome that
 * comes after the limit is dropped.
 * Errors: that of the work, or the one that `lateError` makes when the time is over.
 */
export async function withTimeLimit<T>(ms: number, work: Promise<T>, lateError: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(lateError()), ms)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits at most `ms` milliseconds and answers whether `work` was over by then. Errors: that of the work. */
export async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const limit = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  try {
    return await Promise.race([work.then(() => true), limit])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits for `work`, but not after `signal` has fired, whether that was before or while waiting. For work that may not
 * listen to its signal: it is not stopped itself, and an outcome that comes later is dropped.
 * Errors: that of the work, or the reason of the signal.
 */
export async function waitUnlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason)
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
