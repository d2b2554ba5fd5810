import { readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MIRRORED, type ProviderMirror, startProviderMirror } from '../../../../dev/provider-mirror.ts'
import { PLATFORM } from '../../../../sidecars/iac/engine/find.ts'
import { SCOPE, startTestService, type TestService, temporaryFolder } from '../service.ts'

const { source, version } = MIRRORED
const REQUIRED = `terraform {\n  required_providers {\n    sample = {\n      source = "${source}"\n    }\n  }\n}\n`
const AT_ONCE = 4

let mirror: ProviderMirror
beforeAll(async () => {
  mirror = await startProviderMirror({ folder: await temporaryFolder(), bytes: 1_000_000, platform: PLATFORM })
})
afterAll(() => mirror.close())

// Where a machine has no sandbox, both run without one.
describe.each(['none', 'auto'])('providers of workspaces, sandbox %s', (sandbox) => {
  const start = async () => {
    mirror.take()
    const service = await startTestService({
      IAC_SANDBOX: sandbox,
      IAC_MAX_PARALLEL: String(AT_ONCE),
      IAC_EGRESS_ALLOW: new URL(mirror.url).host,
      TF_CLI_CONFIG_FILE: mirror.config_file,
      SSL_CERT_FILE: mirror.ca_file,
    })
    return service
  }
  const init = async (service: TestService, main = REQUIRED) => {
    const path = await service.workspace({ 'main.tf': main })
    const { result } = await service.run('/v1/init', { workspace_path: path, ...SCOPE })
    expect(result).toMatchObject({ exit_code: 0 })
    return path
  }
  const packageIn = (workspace: string) => join(workspace, '.terraform/providers', source, version, PLATFORM)

  it('are downloaded by the first, and linked for the second', async () => {
    const service = await start()
    const [first, second] = [await init(service), await init(service)]
    expect(mirror.take().downloads).toBe(1)
    const cached = join(service.folder, 'data/plugins', source, version, PLATFORM)
    for (const workspace of [first, second]) {
      expect(await readlink(packageIn(workspace))).toBe(cached)
      expect(await readdir(packageIn(workspace))).toHaveLength(1)
    }
    const [lock, other] = await Promise.all(
      [first, second].map((workspace) => readFile(join(workspace, '.terraform.lock.hcl'), 'utf8')),
    )
    expect(lock).toContain('h1:')
    expect(other).toBe(lock)
  })

  it('are downloaded once by several at the same time, with a lock file and without', async () => {
    const service = await start()
    const workspaces = await Promise.all(Array.from({ length: AT_ONCE }, () => init(service)))
    expect(mirror.take().downloads).toBe(1)
    expect(new Set(await Promise.all(workspaces.map((each) => readlink(packageIn(each))))).size).toBe(1)
    const [one = ''] = workspaces
    const lock = await readFile(join(one, '.terraform.lock.hcl'), 'utf8')
    const locked = await service.workspace({ 'main.tf': REQUIRED, '.terraform.lock.hcl': lock })
    const { result } = await service.run('/v1/init', { workspace_path: locked, ...SCOPE })
    expect(result).toMatchObject({ exit_code: 0 })
    expect(mirror.take().downloads).toBe(0)
    const left = (await readdir(join(service.folder, 'data/plugins'))).filter((name) => name.startsWith('.incoming'))
    expect(left).toEqual([])
  })

  it('with another checksum than the lock file names are refused, also from the cache', async () => {
    const service = await start()
    await init(service)
    const lock =
      `provider "${source}" {\n  version = "${version}"\n  hashes = [\n` + `    "h1:${'A'.repeat(43)}=",\n  ]\n}\n`
    const path = await service.workspace({ 'main.tf': REQUIRED, '.terraform.lock.hcl': lock })
    const { result } = await service.run('/v1/init', { workspace_path: path, ...SCOPE })
    expect(result.exit_code).toBe(1)
    expect(result.stderr).toMatch(/checksum/i)
    await writeFile(join(path, '.terraform.lock.hcl'), '')
  })

  it('that cannot be had fail for those who wait as well', async () => {
    const service = await start()
    const main = REQUIRED.replace(source, source.replace('sample', 'absent'))
    const paths = await Promise.all([1, 2].map(() => service.workspace({ 'main.tf': main })))
    const jobs = paths.map((workspace_path) => service.run('/v1/init', { workspace_path, ...SCOPE }))
    for (const { result } of await Promise.all(jobs)) expect(result.exit_code).toBe(1)
  })
})
