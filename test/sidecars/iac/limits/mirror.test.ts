import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { PLATFORM } from '../../../../sidecars/iac/engine/find.ts'
import { listMirror, openCliConfig } from '../../../../sidecars/iac/limits/providers.ts'
import { SCOPE, startTestService, temporaryFolder } from '../service.ts'

/** Engines differ in the host that `hashicorp/…` stands for. */
const HOSTS = ['registry.terraform.io', 'registry.opentofu.org']
const THING = HOSTS.map((host) => `${host}/hashicorp/thing`)

/** Puts a provider into the mirror that is no program: the engine installs providers without starting them. */
async function hold(mirror: string, source: string, version = '1.0.0', platform = PLATFORM): Promise<void> {
  const folder = join(mirror, source, version, platform)
  await mkdir(folder, { recursive: true })
  const program = join(folder, `terraform-provider-${source.split('/').at(-1)}_v${version}`)
  await writeFile(program, '#!/bin/sh\nexit 1\n')
  await chmod(program, 0o755)
}

async function mirrorOf(...sources: string[]): Promise<string> {
  const mirror = await temporaryFolder()
  for (const source of sources) await hold(mirror, source)
  return mirror
}

const requiring = (name: string, version: string) =>
  `terraform {\n  required_providers {\n    ${name} = {\n      source  = "hashicorp/${name}"\n      version = "${version}"\n    }\n  }\n}\n`

/** Starts a service with this machine's engine and no reachable registry. */
async function startUnreachable(mirror: string, env: Record<string, string> = {}) {
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'].map((name) => [name, 'http://127.0.0.1:9'])
  const service = await startTestService({ IAC_PROVIDER_MIRROR: mirror, ...Object.fromEntries(proxies), ...env })
  return async (name: string, version: string) => {
    const workspace_path = await service.workspace({ 'main.tf': requiring(name, version) })
    const { result } = await service.run('/v1/init', { ...SCOPE, workspace_path })
    return { exit_code: result.exit_code, stderr: result.stderr.replace(/\s+/g, ' ') }
  }
}

describe('a mirror, where no registry is reached,', () => {
  it('gives what it holds, and what was added to it since the start', async () => {
    const mirror = await mirrorOf(...THING)
    const init = await startUnreachable(mirror)
    expect(await init('thing', '1.0.0')).toMatchObject({ exit_code: 0 })
    const before = await init('later', '1.0.0')
    expect(before).toMatchObject({ exit_code: 1, stderr: expect.stringContaining('could not connect to registry.') })
    for (const host of HOSTS) await hold(mirror, `${host}/hashicorp/later`)
    expect(await init('later', '1.0.0')).toMatchObject({ exit_code: 0 })
  })

  it('gives what is allowed alone', async () => {
    const mirror = await mirrorOf(...THING, ...HOSTS.map((host) => `${host}/hashicorp/other`))
    const init = await startUnreachable(mirror, { IAC_ALLOWED_PROVIDERS: 'hashicorp/thing' })
    expect(await init('thing', '1.0.0')).toMatchObject({ exit_code: 0 })
    expect(await init('other', '1.0.0')).toMatchObject({ exit_code: 1 })
  })

  it.each([
    [{}, ' or allow the registry as well (IAC_MIRROR_AND_REGISTRY=true).'],
    [{ IAC_OFFLINE: 'true' }, ' (IAC_PROVIDER_MIRROR).'],
  ])('that lacks a version is named with those that it has: %j', async (env, way) => {
    const init = await startUnreachable(await mirrorOf(...THING), env)
    const { exit_code, stderr } = await init('thing', '2.0.0')
    expect(exit_code).toBe(1)
    expect(stderr).toContain('no available releases match the given constraints 2.0.0')
    expect(stderr).toMatch(/it holds (\S+ 1\.0\.0(; )?)+\. Ask for one of these/)
    expect(stderr).toContain(way)
  })

  it('is not enough when the registry is to be asked as well', async () => {
    const init = await startUnreachable(await mirrorOf(...THING), { IAC_MIRROR_AND_REGISTRY: 'true' })
    const { exit_code, stderr } = await init('thing', '1.0.0')
    expect(exit_code).toBe(1)
    expect(stderr).toContain('could not connect to registry.')
    expect(stderr).not.toContain('taken from it alone')
  })

  it('that is missing at the start is an error of the start', async () => {
    await expect(startTestService({ IAC_PROVIDER_MIRROR: '/no/such/folder' })).rejects.toThrow(
      /IAC_PROVIDER_MIRROR cannot be read: .*ENOENT.*\/no\/such\/folder/,
    )
  })

  it('that goes away later is named by the engine', async () => {
    const mirror = await mirrorOf(...THING)
    const init = await startUnreachable(mirror)
    await rename(mirror, `${mirror}-away`)
    onTestFinished(() => rm(`${mirror}-away`, { recursive: true }))
    const { exit_code, stderr } = await init('thing', '1.0.0')
    expect(exit_code).toBe(1)
    expect(stderr).toMatch(/cannot search \S*iac-test-/)
  })
})

describe('of a mirror', () => {
  it('both layouts are read, for this machine', async () => {
    const mirror = await mirrorOf(...THING)
    await hold(mirror, 'Mirror.example.com:8443/team/two-words', '1.2.3')
    await hold(mirror, 'mirror.example.com/team/foreign', '1.0.0', 'solaris_sparc')
    const packed = join(mirror, 'mirror.example.com/team/packed')
    await mkdir(packed)
    await writeFile(join(packed, `terraform-provider-packed_2.0.0-beta.1_${PLATFORM}.zip`), '')
    await writeFile(join(packed, 'terraform-provider-packed_3.0.0_solaris_sparc.zip'), '')
    await writeFile(join(packed, 'index.json'), '{}')
    await mkdir(join(mirror, 'mirror.example.com/team/linked/1.0.0'), { recursive: true })
    await symlink(join(mirror, THING[0] ?? '', '1.0.0', PLATFORM), join(packed, '../linked/1.0.0', PLATFORM))
    expect(await listMirror(mirror)).toEqual([
      { source: 'mirror.example.com:8443/team/two-words', versions: ['1.2.3'] },
      { source: 'mirror.example.com/team/linked', versions: ['1.0.0'] },
      { source: 'mirror.example.com/team/packed', versions: ['2.0.0-beta.1'] },
      { source: 'registry.opentofu.org/hashicorp/thing', versions: ['1.0.0'] },
      { source: 'registry.terraform.io/hashicorp/thing', versions: ['1.0.0'] },
    ])
  })

  it.each([
    'lost+found/team/thing',
    'ex_ample.com/team/thing',
    'a..b/team/thing',
    'example.com:65536/team/thing',
    'example.com/a_b/thing',
    'example.com/a--b/thing',
    'example.com/-/thing',
    'example.com/"] }/thing',
  ])('a folder whose name the engine refuses is left out: %s', async (source) => {
    expect(await listMirror(await mirrorOf(source))).toEqual([])
  })

  it('what is allowed is written beside what is held', async () => {
    const [mirror, folder] = [await mirrorOf('example.com/team/thing'), await temporaryFolder()]
    const sources = { allowed: ['example.com/*/*'], mirror, mirrorAndRegistry: false, offline: false }
    const config = await openCliConfig(folder, sources)
    const direct = '  direct {\n    include = ["example.com/*/*"]\n    exclude = ["example.com/team/thing"]\n  }\n'
    expect(await readFile(config?.path ?? '', 'utf8')).toContain(direct)
    const both = await openCliConfig(folder, { ...sources, mirrorAndRegistry: true })
    expect(await readFile(both?.path ?? '', 'utf8')).not.toContain('exclude')
  })
})
