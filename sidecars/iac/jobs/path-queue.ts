interface Task {
  path: string
  run: () => Promise<void>
}

/** First in, first out for each path; different paths side by side, at most `max_parallel` at once. */
export class PathQueue {
  readonly #maxParallel: number
  readonly #waiting: Task[] = []
  readonly #busy = new Set<string>()
  readonly #running = new Set<Promise<void>>()
  #closed = false

  constructor(maxParallel: number) {
    this.#maxParallel = maxParallel
  }

  /** `run` must not reject. */
  push(path: string, run: () => Promise<void>): void {
    if (this.#closed) return
    this.#waiting.push({ path, run })
    this.#schedule()
  }

  /** Starts nothing more; resolves when what runs has ended. */
  async close(): Promise<void> {
    this.#closed = true
    this.#waiting.length = 0
    await Promise.all(this.#running)
  }

  #schedule(): void {
    for (let index = 0; index < this.#waiting.length && this.#running.size < this.#maxParallel; ) {
      const task = this.#waiting[index] as Task
      if (this.#busy.has(task.path)) {
        index++
        continue
      }
      this.#waiting.splice(index, 1)
      this.#busy.add(task.path)
      const done = task.run().finally(() => {
        this.#busy.delete(task.path)
        this.#running.delete(done)
        this.#schedule()
      })
      this.#running.add(done)
    }
  }
}
