import { beforeAll } from 'vitest'

/**
 * What `start` answers, for all tests of a file or of one `describe`: started before the first of them, closed after
 * the last and after every `afterAll`. It is empty while the file is read, so only hooks and tests may look into it;
 * its own properties are copied once, so `start` has to answer a plain object and no instance of a class.
 */
export function startOnce<Started extends { close(): Promise<unknown> }>(start: () => Promise<Started>): Started {
  const started = {} as Started
  beforeAll(async () => {
    Object.assign(started, await start())
    return () => started.close()
  })
  return started
}
