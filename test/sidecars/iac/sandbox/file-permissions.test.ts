import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { isReadableInside } from '../../../../sidecars/iac/sandbox/file-permissions.ts'
import { temporaryFolder } from '../service.ts'

const NOBODY = { uid: 60_990, gid: 60_990 }
let folder: string

beforeAll(async () => {
  folder = await temporaryFolder()
  const modes = { open: 0o755, shared: 0o755, closed: 0o700, outside: 0o755 }
  for (const name of Object.keys(modes)) await mkdir(join(folder, name))
  for (const path of ['open/ca.pem', 'shared/root.pem', 'closed/ca.pem', 'outside/ca.pem'])
    await writeFile(join(folder, path), '')
  await writeFile(join(folder, 'open/key.pem'), '', { mode: 0o640 })
  for (const name of ['to-open', 'to-shared', 'to-key', 'to-closed', 'to-outside', 'to-nothing', 'to-itself']) {
    await mkdir(join(folder, 'shared', name))
    await writeFile(join(folder, 'shared', name, 'a.pem'), '')
  }
  const links: [link: string, target: string][] = [
    ['to-open/link', '../../open/ca.pem'],
    ['to-shared/link', join(folder, 'shared/root.pem')],
    ['to-key/link', '../../open/key.pem'],
    ['to-closed/link', '../../closed/ca.pem'],
    ['to-outside/link', '../../outside/ca.pem'],
    ['to-nothing/link', 'missing'],
    ['to-itself/link', '.'],
  ]
  for (const [link, target] of links) await symlink(target, join(folder, 'shared', link))
  await symlink('shared', join(folder, 'open/alias'))
  for (const [name, mode] of Object.entries(modes)) await chmod(join(folder, name), mode)
})

describe('a path that every sandbox can read as it is', () => {
  it.each([
    ['open/ca.pem', true],
    ['open/key.pem', false],
    ['open', false],
    ['closed/ca.pem', false],
    ['outside/ca.pem', false],
    ['open/missing.pem', false],
    ['shared/to-open', true],
    ['shared/to-shared', true],
    ['shared/to-itself', true],
    ['shared/to-key', false],
    ['shared/to-closed', false],
    ['shared/to-outside', false],
    ['shared/to-nothing', false],
    ['open/../outside/ca.pem', false],
  ])('%s: %s', async (path, expected) => {
    const roots = ['open', 'shared', 'closed'].map((name) => join(folder, name))
    expect(await isReadableInside(join(folder, path), NOBODY, roots)).toBe(expected)
  })

  it.each([
    [{ uid: process.getuid?.() ?? 0, gid: 60_990 }, true],
    [{ uid: 60_990, gid: process.getgid?.() ?? 0 }, true],
    [NOBODY, false],
  ])('depends on the user: %j', async (user, expected) => {
    expect(await isReadableInside(join(folder, 'open/key.pem'), user, [join(folder, 'open')])).toBe(expected)
  })
})

it('files of the machine: certificates may be read, what a system keeps to itself may not', async () => {
  expect(await isReadableInside('/usr/bin/env', NOBODY)).toBe(true)
  for (const path of ['/etc/shadow', '/etc/hostname', '/usr/../etc/shadow', '/'])
    expect(await isReadableInside(path, NOBODY), path).toBe(false)
})
