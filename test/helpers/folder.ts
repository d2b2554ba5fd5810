import { mkdtempSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, type beforeEach } from 'vitest'

const PREFIX = join(tmpdir(), 'platform-test-')
const remove = (folder: string) => rm(folder, { recursive: true, force: true })

/** Makes an empty folder for all tests of a file, or with `beforeEach` for each. Only hooks and tests may use its path. */
export function useFolder(before: typeof beforeAll | typeof beforeEach = beforeAll): { path: string } {
  const folder = { path: '' }
  before(async () => {
    folder.path = await realpath(await mkdtemp(PREFIX))
    return () => remove(folder.path)
  })
  return folder
}

/** Creates a folder for the tests of a file at once and returns its path. It is removed after every other `afterAll`. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(PREFIX)
  afterAll(() => remove(folder))
  return folder
}
