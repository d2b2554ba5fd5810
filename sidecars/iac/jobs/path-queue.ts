interface Task {
  /** The name of the waiting task; empty for one that cannot be removed. */
  name: string
  path: string
  run: () => Promise<void>
}

/** Creates a queue that runs the tasks of one path in sequence, and those of different paths in parallel, up to a limit. */
export function createPathQueue(maxParallel: number) {
  const waiting: Task[] = []
  const busy = new Set<string>()
  const running = new Set<Promise<void>>()
  let closed = false

  function schedule(): void {
    while (running.size < maxParallel) {
      const index = waiting.findIndex(({ path }) => !busy.has(path))
      const [task] = index < 0 ? [] : waiting.splice(index, 1)
      if (!task) return
      busy.add(task.path)
      const done = task.run().finally(() => {
        busy.delete(task.path)
        running.delete(done)
        schedule()
      })
      running.add(done)
    }
  }

  return {
    /** Adds a task. `run` must not reject. */
    push(path: string, run: () => Promise<void>, name = ''): void {
      if (closed) return
      waiting.push({ name, path, run })
      schedule()
    },
    /** Removes a waiting task; returns false when it runs already or is unknown. */
    remove(name: string): boolean {
      const index = waiting.findIndex((task) => task.name === name)
      return index >= 0 && waiting.splice(index, 1).length > 0
    },
    /** Starts no further task; resolves when the running ones have ended. */
    async close(): Promise<void> {
      closed = true
      waiting.length = 0
      await Promise.all(running)
    },
  }
}
