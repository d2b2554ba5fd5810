import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  adoptSharedMode,
  isShared,
  shareTree,
  writePrivateFile,
} from '../../../../pipeline/workspace/files/private-files.ts'
import { useFolder } from '../../../helpers/folder.ts'

const folder = useFolder(beforeEach)
const umask = process.umask()
afterEach(async () => {
  process.umask(umask)
})
const modeOf = async (...names: string[]) => ((await stat(join(folder.path, ...names))).mode & 0o7777).toString(8)

describe('an upload folder.path with the setgid bit', () => {
  it('is shared with its group: files are made for the group and for nobody else', async () => {
    await chmod(folder.path, 0o2770)
    expect(await adoptSharedMode(folder.path)).toBe(true)
    await mkdir(join(folder.path, 'clone'))
    await writeFile(join(folder.path, 'clone', 'main.tf'), '')
    await writePrivateFile(join(folder.path, 'clone', 'override.tf'), '', { shared: true })
    await writePrivateFile(join(folder.path, 'clone', 'masks.json'), '')
    expect(await modeOf('clone')).toMatch(/^2?770$/)
    expect(await modeOf('clone', 'main.tf')).toBe('660')
    expect(await modeOf('clone', 'override.tf')).toBe('640')
    expect(await modeOf('clone', 'masks.json')).toBe('600')
  })

  it('without the bit belongs to the worker alone, and so does one that does not exist', async () => {
    expect(await adoptSharedMode(folder.path)).toBe(false)
    expect(process.umask()).toBe(umask)
    expect(await isShared(join(folder.path, 'missing'))).toBe(false)
  })
})

it('lets the group use a restored directory, except for private files, and follows no link', async () => {
  await mkdir(join(folder.path, 'pin', 'deep'), { recursive: true, mode: 0o700 })
  await writeFile(join(folder.path, 'pin', 'deep', 'run.sh'), '', { mode: 0o700 })
  await writeFile(join(folder.path, 'pin', 'private'), '', { mode: 0o600 })
  await writeFile(join(folder.path, 'outside'), '', { mode: 0o600 })
  await symlink('../outside', join(folder.path, 'pin', 'link'))
  await shareTree(join(folder.path, 'pin'), (name) => name === 'private')
  expect(await modeOf('pin')).toBe('2770')
  expect(await modeOf('pin', 'deep')).toBe('2770')
  expect(await modeOf('pin', 'deep', 'run.sh')).toBe('760')
  expect(await modeOf('pin', 'private')).toBe('600')
  expect(await modeOf('outside')).toBe('600')
})
