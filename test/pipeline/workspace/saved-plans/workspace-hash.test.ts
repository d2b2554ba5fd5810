import { appendFile, chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { hashWorkspace } from '../../../../pipeline/workspace/saved-plans/workspace-hash.ts'
import { load } from '../../../config/support.ts'
import { useFolder } from '../../../helpers/folder.ts'
import { pipe } from '../../../sidecars/iac/service.ts'

const { paths } = await load(null)
const folder = useFolder(beforeEach)
const at = (path: string) => join(folder.path, path)
const hash = (limits?: { bytes: number; entries: number }) =>
  hashWorkspace({ clone: folder.path, iacRoot: at('live') }, paths, limits)
const write = async (path: string, text: string) => {
  await mkdir(join(at(path), '..'), { recursive: true })
  await writeFile(at(path), text)
}

beforeEach(async () => {
  await write('live/main.tf', 'module "m" { source = "../m" }')
  await write('m/main.tf', 'module')
  await write('live/.terraform/modules/modules.json', '{}')
  await write('live/.terraform.lock.hcl', 'locks')
})

describe('the hash of a workspace', () => {
  it('is the same for the same files, whatever their times, modes and place', async () => {
    const before = await hash()
    expect(before).toMatch(/^[0-9a-f]{64}$/)
    await chmod(at('m/main.tf'), 0o755)
    await mkdir(at('empty'))
    expect(await hash()).toBe(before)
    const moved = `${folder.path}-moved`
    await rename(folder.path, moved)
    folder.path = moved
    expect(await hash()).toBe(before)
  })

  it.each([
    ['changed', () => write('m/main.tf', 'hidden')],
    ['longer', () => appendFile(at('live/.terraform.lock.hcl'), ' ')],
    ['renamed', () => rename(at('m/main.tf'), at('m/other.tf'))],
    ['moved up', () => rename(at('m/main.tf'), at('main.tf'))],
    ['added', () => write('live/extra.auto.tfvars', 'x = 1')],
    ['added under the name of the override, in a module', () => write('m/backend_override.tf', 'x')],
    ['added under the name of the plan file, beside the root', () => write('session.plan', 'x')],
    ['added as an installed module', () => write('live/.terraform/modules/x/main.tf', 'x')],
    ['made the selected workspace', () => write('live/.terraform/environment', 'other')],
    [
      'replaced by a link',
      async () => {
        await rename(at('m/main.tf'), at('m/kept'))
        await symlink('kept', at('m/main.tf'))
      },
    ],
    [
      'split at another place',
      async () => {
        await rm(at('m/main.tf'))
        await write('m/main.t', 'fmodule')
      },
    ],
  ])('changes when a file is %s', async (_title, change) => {
    const before = await hash()
    await change()
    expect(await hash()).not.toBe(before)
  })

  it('changes with the target of a link', async () => {
    await symlink('one', at('link'))
    const before = await hash()
    await rm(at('link'))
    await symlink('two', at('link'))
    expect(await hash()).not.toBe(before)
  })

  it('tells names apart that are no UTF-8', async () => {
    const named = (byte: number) => Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([byte])])
    await writeFile(named(0xfe), 'x')
    const before = await hash()
    await rename(named(0xfe), named(0xff))
    expect(await hash()).not.toBe(before)
  })

  it.each([
    'live/session.plan',
    'live/backend_override.tf',
    'live/.platform-state-credentials',
    'live/.terraform/providers/registry/x',
    'live/.terraform/terraform.tfstate',
    '.git/config',
    'm/.git/config',
  ])('is not about %s, which is made anew or has a hash of its own', async (path) => {
    const before = await hash()
    await write(path, 'x')
    expect(await hash()).toBe(before)
  })

  it('is refused for what is too large, and for what is no file', async () => {
    await expect(hash({ bytes: 20, entries: 100 })).rejects.toThrow(
      'too large to be sealed: at most 100 files of 0 MiB',
    )
    await expect(hash({ bytes: 1000, entries: 5 })).rejects.toThrow('too large to be sealed')
    pipe(at('pipe'))
    await expect(hash()).rejects.toThrow('neither a file, a directory nor a link')
  })
})
