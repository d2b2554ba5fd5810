/**
 * Rejects with the reason of the signal once it fires, at once where that was before. Raced against work that may not
 * listen to its signal.
 */
export const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
