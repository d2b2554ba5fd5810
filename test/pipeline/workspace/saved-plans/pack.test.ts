import { link, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32, deflateRawSync, gunzipSync } from 'node:zlib'
import { create, type Header } from 'tar'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Config } from '../../../../config/types.ts'
import { hashFile } from '../../../../pipeline/workspace/files/private-files.ts'
import { packDirectory, unpackDirectory } from '../../../../pipeline/workspace/saved-plans/pack.ts'
import { readZipEntry } from '../../../../pipeline/workspace/saved-plans/zip.ts'
import { useFolder } from '../../../helpers/folder.ts'

const folder = useFolder()
let clone: string
let paths: Config['paths']
const session = { uuid: '', workspace: { uri: 'https://github.com/acme/infra', branch: 'b', root_path: 'live' } }

beforeEach(async () => {
  session.uuid = crypto.randomUUID()
  clone = join(folder.path, `clone-${session.uuid}`)
  paths = {
    upload_folder: join(folder.path, 'uploads'),
    git_folder: join(folder.path, 'git'),
    session_plan_filename: 'session.plan',
    backend_override_filename: 'backend_override.tf',
  }
  await mkdir(join(clone, 'live'), { recursive: true })
  await writeFile(join(clone, 'live', 'session.plan'), 'a plan')
})

const plan_sha256 = async () => (await hashFile(join(clone, 'live', 'session.plan'))) ?? ''
const unpack = async (archive: Uint8Array) =>
  unpackDirectory(archive, paths, session, { plan_sha256: await plan_sha256() })
const left = () => readdir(join(paths.upload_folder, session.uuid)).catch(() => [])

describe('packDirectory', () => {
  it('leaves out what is made anew and what holds credentials, keeps the rest as it is', async () => {
    const files = [
      '.git/config',
      'live/.terraform/providers/registry/x',
      'live/.terraform/terraform.tfstate',
      'live/backend_override.tf',
      'live/.terraform/modules/modules.json',
      'live/.terraform.lock.hcl',
      'live/main.tf',
      'shared/providers/main.tf',
    ]
    for (const file of files) {
      await mkdir(join(clone, file, '..'), { recursive: true })
      await writeFile(join(clone, file), file)
    }
    await writeFile(join(clone, '.platform-masks.json'), '[]', { mode: 0o600 })
    await writeFile(join(clone, '.platform-workspace'), 'not packed')
    await symlink('../shared', join(clone, 'live', 'modules'))
    const archive = await packDirectory(clone, paths, 1_000_000)
    const restored = await unpack(archive ?? new Uint8Array())
    const { clone: unpacked, iacRoot } = restored.directory
    expect(iacRoot).toBe(join(unpacked, 'live'))
    const found = (await readdir(unpacked, { recursive: true, withFileTypes: true }))
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(unpacked.length + 1))
    expect(found.sort()).toEqual([
      '.platform-masks.json',
      '.platform-workspace',
      'live/.terraform.lock.hcl',
      'live/.terraform/modules/modules.json',
      'live/main.tf',
      'live/modules',
      'live/session.plan',
      'shared/providers/main.tf',
    ])
    expect(await readFile(join(iacRoot, 'modules', 'providers', 'main.tf'), 'utf8')).toBe('shared/providers/main.tf')
    expect(await readFile(join(unpacked, '.platform-workspace'), 'utf8')).toBe('')
    expect((await stat(join(unpacked, '.platform-masks.json'))).mode & 0o777).toBe(0o600)
    expect((await restored.keep()).iacRoot).toBe(join(paths.upload_folder, session.uuid, 'saved-plan', 'live'))
    expect(await left()).toEqual(['saved-plan'])
  })

  it('is null above its limit', async () => {
    await writeFile(join(clone, 'large'), crypto.getRandomValues(new Uint8Array(50_000)))
    expect(await packDirectory(clone, paths, 40_000)).toBeNull()
  })
})

interface PackOptions {
  preservePaths?: boolean
  onWriteEntry?: (entry: { path: string; linkpath?: string; header?: Header }) => void
}
const packed = async (names: string[], options: PackOptions = {}) =>
  Buffer.concat(await Array.fromAsync(create({ cwd: clone, gzip: true, ...options }, names)))

describe('unpackDirectory', () => {
  const outside = () => join(folder.path, `outside-${session.uuid}`)

  const linked = async (target: string) => {
    await symlink(target, join(clone, 'out'))
    return packed(['.'])
  }
  it.each<[string, () => Promise<Uint8Array>]>([
    [
      'a path that leads up',
      () => {
        const path = `../../../outside-${session.uuid}`
        const lead = (entry: object) => void Object.assign(entry, { path })
        return packed(['live/session.plan'], { onWriteEntry: lead })
      },
    ],
    ['an absolute path', () => packed(['live', outside()], { preservePaths: true })],
    ['a link that leads out', () => linked(folder.path)],
    ['a link that leads out and ends nowhere', () => linked('../../nowhere')],
    [
      'a hard link',
      async () => {
        await writeFile(join(clone, 'one'), 'x')
        await link(join(clone, 'one'), join(clone, 'two'))
        return packed(['.'])
      },
    ],
    [
      'a file behind a link of the archive',
      async () => {
        await symlink(folder.path, join(clone, 'out'))
        const first = await packed(['out'])
        await rm(join(clone, 'out'))
        await mkdir(join(clone, 'out'))
        await writeFile(join(clone, 'out', `outside-${session.uuid}`), 'through')
        const second = await packed(['out', 'live'])
        return Buffer.concat([gunzipSync(first).subarray(0, -1024), gunzipSync(second)])
      },
    ],
    ['no archive at all', async () => new TextEncoder().encode('no archive')],
    ['an archive that was cut', async () => (await packed(['.'])).subarray(0, 60)],
    [
      'another plan',
      async () => {
        const archive = await packed(['.'])
        await writeFile(join(clone, 'live', 'session.plan'), 'the sealed plan')
        return archive
      },
    ],
    [
      'no plan',
      async () => {
        await mkdir(join(clone, 'empty'))
        return packed(['empty'])
      },
    ],
  ])('refuses %s, and leaves nothing', async (_, make) => {
    await writeFile(outside(), 'untouched')
    const archive = await make()
    await expect(unpack(archive)).rejects.toThrow()
    expect(await left()).toEqual([])
    expect(await readFile(outside(), 'utf8')).toBe('untouched')
  })
})

describe('a refusal of an archive with many files', () => {
  it('tells its reason and leaves nothing, each time', async () => {
    for (let number = 0; number < 80; number++) await writeFile(join(clone, `file-${number}.tf`), 'x'.repeat(2_000))
    await writeFile(join(clone, 'one'), 'x')
    await link(join(clone, 'one'), join(clone, 'two'))
    const archive = await packed(['.'])
    const damaged = Buffer.from(archive)
    damaged.fill(0, damaged.length - 40, damaged.length - 20)
    for (let attempt = 0; attempt < 25; attempt++)
      for (const [bytes, reason] of [
        [archive, /no plan directory has: .*(one|two)$/],
        [damaged, /./],
      ] as const) {
        const refused = unpack(bytes)
        await expect(refused).rejects.toThrow(reason)
        await expect(refused).rejects.not.toThrow(/ENOTEMPTY/)
        expect(await left()).toEqual([])
      }
  })
})

describe('readZipEntry', () => {
  const zip = async (): Promise<string> => {
    const file = join(clone, 'archive.zip')
    await writeFile(file, zipOf({ stored: 'x', tfstate: '{"serial": 1}'.repeat(50) }))
    return file
  }
  it('reads one entry, stored or deflated, up to its limit', async () => {
    const file = await zip()
    expect(await readZipEntry(file, 'tfstate', 10_000)).toBe('{"serial": 1}'.repeat(50))
    expect(await readZipEntry(file, 'stored', 10_000)).toBe('x')
    expect(await readZipEntry(file, 'tfstate', 100)).toBeNull()
    expect(await readZipEntry(file, 'missing', 10_000)).toBeNull()
  })

  it('is null for whatever else is there', async () => {
    const file = await zip()
    const bytes = await readFile(file)
    for (const other of [
      Buffer.from('a plan of another engine'),
      Buffer.alloc(0),
      bytes.subarray(0, -30),
      bytes.subarray(100),
      Buffer.concat([bytes.subarray(0, 40), Buffer.alloc(40, 0xff), bytes.subarray(80)]),
    ]) {
      await writeFile(file, other)
      expect(await readZipEntry(file, 'tfstate', 10_000)).toBeNull()
    }
    expect(await readZipEntry(join(clone, 'nowhere'), 'tfstate', 10_000)).toBeNull()
  })
})

/** Makes an archive whose first entry is stored and whose others are deflated. */
function zipOf(files: Record<string, string>): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const [index, [name, text]] of Object.entries(files).entries()) {
    const method = index === 0 ? 0 : 8
    const data = method === 0 ? Buffer.from(text) : deflateRawSync(text)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(method, 4)
    common.writeUInt32LE(crc32(text), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(text.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), data])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, tail, Buffer.from(name)]))
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(central.length, 4)
  end.writeUInt16LE(central.length, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), end])
}
