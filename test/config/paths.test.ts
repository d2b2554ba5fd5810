import { expect, test } from 'vitest'
import { load } from './support.ts'

test.each([
  ['/data/work', '/data/git'],
  ['/data/work', '/data/work-git'],
  ['/data/work/', ''],
])('clones in %s with git directories in "%s"', async (upload_folder, git_folder) => {
  const { paths } = await load(JSON.stringify({ paths: { upload_folder, git_folder } }))
  expect(paths.git_folder).toBe(git_folder)
})

test.each([
  ['/data/work', '/data/work/git'],
  ['/data/work/', '/data/work/'],
  ['/data/work', '/data/work'],
])('clones in %s, but never git directories in "%s", which the engine can write', async (upload_folder, git_folder) => {
  await expect(load(JSON.stringify({ paths: { upload_folder, git_folder } }))).rejects.toThrow(
    'paths.git_folder must not be inside of paths.upload_folder',
  )
})
