import { beforeAll } from 'vitest'

/**
 * Starts something for all tests of a file or `describe` and returns it. It starts before the first test and closes
 * after every `afterAll`. The result is empty while the file is loaded, so only hooks and tests may use it. Its own
 * properties are copied, so `start` has to return a plain object and no instance of a class.
 */
export function startOnce<Started extends { close(): Promise<unknown> }>(start: () => Promise<Started>): Started {
  const started = {} as Started
  beforeAll(async () => {
    Object.assign(started, await start())
    return () => started.close()
  })
  return started
}
