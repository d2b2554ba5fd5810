import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { measure, watchSize } from '../../../../pipeline/workspace/git/git.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { useFolder } from '../../../helpers/folder.ts'

const folder = useFolder(beforeEach)

it('adds up files, and follows no link', async () => {
  await mkdir(join(folder.path, 'deep'))
  await writeFile(join(folder.path, 'deep', 'one'), 'x'.repeat(1_000))
  await writeFile(join(folder.path, 'two'), 'x'.repeat(500))
  await symlink('/', join(folder.path, 'link'))
  expect(await measure(folder.path)).toEqual({ bytes: 1_501, entries: 4 })
  expect(await measure(join(folder.path, 'missing'))).toEqual({ bytes: 0, entries: 0 })
})

it('notices while git works that its directory grows over the limit', async () => {
  const watch = watchSize(folder.path, { max_clone_mib: 1, max_clone_files: 1 })
  await watch.look()
  expect(watch.signal.aborted).toBe(false)
  await writeFile(join(folder.path, 'pack'), Buffer.alloc(1_100_000))
  await eventually(() => expect(watch.signal.aborted).toBe(true))
  expect(watch.signal.reason).toMatchObject({ code: 'RepositoryTooLarge', status: 422 })
  watch.stop()
})
