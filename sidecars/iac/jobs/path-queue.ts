interface Task {
  /** The name of the waiting task; empty for one that cannot be removed. */
  name: string
  path: string
  run: () => Promise<void>
}

/** Runs the tasks of one path in sequence, and those of different paths in parallel, up to a limit. */
export class PathQueue {
  readonly #maxParallel: number
  readonly #waiting: Task[] = []
  readonly #busy = new Set<string>()
  readonly #running = new Set<Promise<void>>()
  #closed = false

  constructor(maxParallel: number) {
    this.#maxParallel = maxParallel
  }

  /** Adds a task. `run` must not reject. */
  push(path: string, run: () => Promise<void>, name = ''): void {
    if (this.#closed) return
    this.#waiting.push({ name, path, run })
    this.#schedule()
  }

  /** Removes a waiting task; returns false when it runs already or is unknown. */
  remove(name: string): boolean {
    const index = this.#waiting.findIndex((task) => task.name === name)
    if (index >= 0) this.#waiting.splice(index, 1)
    return index >= 0
  }

  /** Starts no further task; resolves when the running ones have ended. */
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
