/** Waits at most `ms` milliseconds for `work`, which is not stopped. Throws its error, or `lateError()` on timeout. */
export async function withTimeLimit<T>(ms: number, work: Promise<T>, lateError: () => Error): Promise<T> {
  const limit = Promise.withResolvers<never>()
  const timer = setTimeout(() => limit.reject(lateError()), ms)
  try {
    return await Promise.race([work, limit.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits at most `ms` milliseconds and reports whether `work` has ended. Throws the error of the work. */
export async function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  // Without an error, whose stack would cost more than the rest: every statement of the database comes through here.
  const late = Promise.withResolvers<false>()
  const timer = setTimeout(late.resolve, ms, false)
  try {
    return await Promise.race([work.then(() => true), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits for `work` until `signal` fires, without stopping it. Throws the error of the work or the signal's reason. */
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
