import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, type beforeEach } from 'vitest'

/** Makes an empty folder for all tests of a file, or with `beforeEach` for each. Only hooks and tests may use its path. */
export function useFolder(before: typeof beforeAll | typeof beforeEach = beforeAll): { path: string } {
  const folder = { path: '' }
  before(async () => {
    folder.path = await realpath(await mkdtemp(join(tmpdir(), 'platform-test-')))
    return () => rm(folder.path, { recursive: true, force: true })
  })
  return folder
}
