import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PINNED_OPENTOFU, unzip } from '../../../../sidecars/iac/engine/download.ts'
import { findEngine, probeEngine } from '../../../../sidecars/iac/engine/find.ts'
import { silentLogger } from '../../../../src/base/log.ts'
import { fakeEngine, temporaryFolder } from '../service.ts'
import { ARCHIVE, NAME, type Releases, startReleases, sum, zip } from './release.ts'

let releases: Releases
beforeEach(async () => {
  releases = await startReleases()
})
afterEach(() => releases.close())

const download = async (folder?: string, target?: string) =>
  releases.download(folder ?? (await temporaryFolder()), target === undefined ? {} : { target })

describe('the download of an engine', () => {
  it('yields a program that runs, and fetches it once', async () => {
    const folder = await temporaryFolder()
    const binary = await download(folder)
    expect(await probeEngine(binary, { ...process.env, PLATFORM_IAC_TOKEN: 'not-for-engines' }, silentLogger)).toEqual({
      binary,
      name: 'OpenTofu',
      version: '0.0.1',
    })
    expect(releases.asked).toHaveLength(2)
    expect(await download(folder)).toBe(binary)
    expect(releases.asked).toHaveLength(2)
  })

  it.each(['the binary', 'the archive', 'both'])('mends %s that was changed on the disk', async (what) => {
    const folder = await temporaryFolder()
    const binary = await download(folder)
    if (what !== 'the archive') await writeFile(binary, 'evil')
    if (what !== 'the binary') await writeFile(join(folder, NAME), zip({ tofu: 'evil' }))
    expect(await download(folder)).toBe(binary)
    expect(await readFile(binary, 'utf8')).toContain('OpenTofu v0.0.1')
    expect(sum(await readFile(join(folder, NAME)))).toBe(sum(ARCHIVE))
    expect(releases.asked).toHaveLength(what === 'the binary' ? 2 : 4)
    expect((await readdir(folder)).sort()).toEqual(['tofu-0.0.1', NAME].sort())
  })

  it('fetches the archive of a binary that an earlier version left without one', async () => {
    const folder = await temporaryFolder()
    const binary = await download(folder)
    await rm(join(folder, NAME))
    expect(await download(folder)).toBe(binary)
    expect(releases.asked).toHaveLength(4)
  })

  it('refuses an archive with another checksum', async () => {
    releases.files[NAME] = zip({ tofu: 'evil' })
    await expect(download()).rejects.toThrow(/has checksum [0-9a-f]{64} instead of/)
  })

  it('refuses a release whose own list says otherwise', async () => {
    releases.files['tofu_0.0.1_SHA256SUMS'] = Buffer.from(`${'0'.repeat(64)}  ${NAME}\n`)
    await expect(download()).rejects.toThrow('SHA256SUMS does not list')
    expect(releases.asked).toHaveLength(1)
  })

  it('says what is missing', async () => {
    delete releases.files[NAME]
    await expect(download()).rejects.toThrow('answered 404')
    await expect(download(undefined, 'plan9_mips')).rejects.toThrow('No OpenTofu release is pinned for plan9_mips')
  })

  it('is pinned with whole checksums', () => {
    for (const checksum of Object.values(PINNED_OPENTOFU.checksums)) expect(checksum).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('the choice of an engine', () => {
  it('takes an installed one before a download', async () => {
    const folder = await temporaryFolder()
    const engine = await fakeEngine(folder)
    const never = () => Promise.reject(new Error('not asked'))
    expect(await findEngine({ binary: 'engine', path: `/none:${folder}`, download: never })).toBe(engine)
    expect(await findEngine({ binary: engine, path: '', download: never })).toBe(engine)
    expect(await findEngine({ binary: '', path: folder, download: () => Promise.resolve('/fetched') })).toBe('/fetched')
    await expect(findEngine({ binary: 'other', path: folder, download: never })).rejects.toThrow("IAC_BINARY 'other'")
  })
})

describe('archives', () => {
  it('yield wanted files only', () => {
    const files = unzip(ARCHIVE, (name) => name === 'tofu', 1000)
    expect([...(files ?? [])].map(([name]) => name)).toEqual(['tofu'])
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('no archive')],
    ['a cut archive', ARCHIVE.subarray(20)],
    ['a bomb', zip({ tofu: 'x'.repeat(1001) })],
  ])('%s is none', (_name, bytes) => {
    expect(unzip(bytes, () => true, 1000)).toBeNull()
  })
})

const probe = async (output: string) => {
  const binary = join(await temporaryFolder(), 'engine')
  await writeFile(binary, `#!/bin/sh\ncat <<'END'\n${output}\nEND\n`)
  await chmod(binary, 0o755)
  const { name, version } = await probeEngine(binary, { PATH: process.env.PATH }, silentLogger)
  return `${name} ${version}`
}

describe('the version of an engine', () => {
  it.each([
    ['OpenTofu v1.12.6\non linux_amd64', 'OpenTofu 1.12.6'],
    ['Terraform v1.11.4\non linux_amd64\n\nYour version is out of date!', 'Terraform 1.11.4'],
    ['\nWarning: Unable to open CLI configuration file\n\nIt does not exist.\nOpenTofu v1.12.6', 'OpenTofu 1.12.6'],
    ['something else', 'something else unknown'],
    ['', 'unknown unknown'],
  ])('is read from %j', async (output, expected) => {
    expect(await probe(output)).toBe(expected)
  })
})
