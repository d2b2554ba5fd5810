import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { measure, watchSize } from '../../../../pipeline/workspace/git/git.ts'
import { eventually } from '../../../helpers/eventually.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'limits-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

it('adds up files, and follows no link', async () => {
  await mkdir(join(folder, 'deep'))
  await writeFile(join(folder, 'deep', 'one'), 'x'.repeat(1_000))
  await writeFile(join(folder, 'two'), 'x'.repeat(500))
  await symlink('/', join(folder, 'link'))
  expect(await measure(folder)).toEqual({ bytes: 1_501, entries: 4 })
  expect(await measure(join(folder, 'missing'))).toEqual({ bytes: 0, entries: 0 })
})

it('notices while git works that its directory grows over the limit', async () => {
  const watch = watchSize(folder, { max_clone_mib: 1, max_clone_files: 1 })
  await watch.look()
  expect(watch.signal.aborted).toBe(false)
  await writeFile(join(folder, 'pack'), Buffer.alloc(1_100_000))
  await eventually(() => expect(watch.signal.aborted).toBe(true))
  expect(watch.signal.reason).toMatchObject({ code: 'RepositoryTooLarge', status: 422 })
  watch.stop()
})
