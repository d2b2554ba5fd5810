import { waitUnlessAborted } from '../../../src/base/time.ts'

/** What is being downloaded, so that a second job waits for it instead of downloading it as well. */
export class Downloads {
  readonly #running = new Map<string, Promise<void>>()

  /**
   * Claims what is missing, once nobody else downloads a part of it. Returns the function that ends the claim. Errors:
   * the reason of the signal; those of `missing`.
   * @param missing lists names; it is asked again after each wait
   */
  async claim(missing: () => Promise<readonly string[]>, signal: AbortSignal): Promise<() => void> {
    for (;;) {
      const wanted = await missing()
      const others = wanted.flatMap((name) => this.#running.get(name) ?? [])
      if (others.length === 0) return this.#start(wanted)
      await waitUnlessAborted(Promise.all(others), signal)
    }
  }

  #start(names: readonly string[]): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    for (const name of names) this.#running.set(name, promise)
    return () => {
      for (const name of names) this.#running.delete(name)
      resolve()
    }
  }
}
