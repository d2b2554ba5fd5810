import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  adoptSharedMode,
  isShared,
  shareTree,
  writePrivateFile,
} from '../../../../pipeline/workspace/files/private-files.ts'

let folder: string
const umask = process.umask()
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shared-'))
})
afterEach(async () => {
  process.umask(umask)
  await rm(folder, { recursive: true, force: true })
})
const modeOf = async (...names: string[]) => ((await stat(join(folder, ...names))).mode & 0o7777).toString(8)

describe('an upload folder with the setgid bit', () => {
  it('is shared with its group: files are made for the group and for nobody else', async () => {
    await chmod(folder, 0o2770)
    expect(await adoptSharedMode(folder)).toBe(true)
    await mkdir(join(folder, 'clone'))
    await writeFile(join(folder, 'clone', 'main.tf'), '')
    await writePrivateFile(join(folder, 'clone', 'override.tf'), '', { shared: true })
    await writePrivateFile(join(folder, 'clone', 'masks.json'), '')
    expect(await modeOf('clone')).toMatch(/^2?770$/)
    expect(await modeOf('clone', 'main.tf')).toBe('660')
    expect(await modeOf('clone', 'override.tf')).toBe('640')
    expect(await modeOf('clone', 'masks.json')).toBe('600')
  })

  it('without the bit belongs to the worker alone, and so does one that does not exist', async () => {
    expect(await adoptSharedMode(folder)).toBe(false)
    expect(process.umask()).toBe(umask)
    expect(await isShared(join(folder, 'missing'))).toBe(false)
  })
})

it('lets the group use a restored directory, except for private files, and follows no link', async () => {
  await mkdir(join(folder, 'pin', 'deep'), { recursive: true, mode: 0o700 })
  await writeFile(join(folder, 'pin', 'deep', 'run.sh'), '', { mode: 0o700 })
  await writeFile(join(folder, 'pin', 'private'), '', { mode: 0o600 })
  await writeFile(join(folder, 'outside'), '', { mode: 0o600 })
  await symlink('../outside', join(folder, 'pin', 'link'))
  await shareTree(join(folder, 'pin'), (name) => name === 'private')
  expect(await modeOf('pin')).toBe('2770')
  expect(await modeOf('pin', 'deep')).toBe('2770')
  expect(await modeOf('pin', 'deep', 'run.sh')).toBe('760')
  expect(await modeOf('pin', 'private')).toBe('600')
  expect(await modeOf('outside')).toBe('600')
})
