import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engineEnvironment } from '../../../../sidecars/iac/engine/command.ts'
import { findForeignProviders, renderCliConfig } from '../../../../sidecars/iac/limits/providers.ts'
import { measureDiskUse } from '../../../../sidecars/iac/limits/refuse.ts'
import { readSettings } from '../../../../sidecars/iac/settings.ts'
import { fakeEngine, SCOPE, startTestService, type TestService, temporaryFolder } from '../service.ts'

const lock = (...sources: string[]) =>
  sources.map((source) => `provider "${source}" {\n  version = "1.0.0"\n}\n`).join('\n')
const folderWith = async (files: Record<string, string>) => {
  const folder = await temporaryFolder()
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

describe('allowed providers', () => {
  it.each([
    [['hashicorp/*'], 'registry.terraform.io/hashicorp/aws', true],
    [['hashicorp/aws'], 'registry.opentofu.org/hashicorp/aws', true],
    [['hashicorp/aws'], 'registry.terraform.io/hashicorp/google', false],
    [['hashicorp/*'], 'evil.example.com/hashicorp/aws', false],
    [['*/*'], 'evil.example.com/hashicorp/aws', false],
    [['mirror.example.com/*/*'], 'mirror.example.com/team/thing', true],
    [['mirror.example.com/*/*'], 'registry.terraform.io/team/thing', false],
    [['hashicorp/a'], 'terraform.io/builtin/terraform', true],
    [[], 'evil.example.com/x/y', true],
  ])('%j and %s: %s', async (allowed, source, fine) => {
    const folder = await folderWith({ '.terraform.lock.hcl': lock(source) })
    expect(await findForeignProviders(folder, allowed)).toEqual(fine ? [] : [source])
  })

  it.each([
    '/* */ provider "evil.example.com/x/y" {\n}',
    'provider /* " */ "evil.example.com/x/y" {\n}',
    '# "\nprovider /**/ "evil.example.com/x/y" {\n}',
    'provider "evil.example.com\\u002fx\\u002fy" {\n}',
  ])('are found in a lock file of any form: %j', async (text) => {
    const folder = await folderWith({ '.terraform.lock.hcl': text })
    expect(await findForeignProviders(folder, ['hashicorp/*'])).not.toEqual([])
  })

  it('are not mixed up with versions and hashes', async () => {
    const hashes = `  constraints = "~> 5.0"\n  hashes = [\n    "h1:${'a/+'.repeat(14)}b=",\n    "zh:${'0a'.repeat(32)}",\n  ]\n`
    const text = `# by "terraform init".\nprovider "registry.terraform.io/hashicorp/aws" {\n  version = "5.1.0"\n${hashes}}\n`
    const folder = await folderWith({ '.terraform.lock.hcl': text })
    expect(await findForeignProviders(folder, ['hashicorp/*'])).toEqual([])
  })

  it('are enforced by the engine where it installs', () => {
    expect(renderCliConfig({ allowed: [], mirror: '', offline: false })).toBeNull()
    expect(renderCliConfig({ allowed: ['hashicorp/*', 'a/b'], mirror: '', offline: false })).toBe(
      'provider_installation {\n  direct {\n    include = ["hashicorp/*", "a/b"]\n  }\n}\ndisable_checkpoint = true\n',
    )
    expect(renderCliConfig({ allowed: [], mirror: '/mirror', offline: true })).toBe(
      'provider_installation {\n  filesystem_mirror {\n    path = "/mirror"\n  }\n}\ndisable_checkpoint = true\n',
    )
    expect(renderCliConfig({ allowed: ['a/b'], mirror: '/mirror', offline: false })).toContain('direct')
  })
})

describe('disk use', () => {
  it('counts files and follows no link', async () => {
    const folder = await folderWith({ a: 'x'.repeat(1000) })
    await mkdir(join(folder, 'deep/er'), { recursive: true })
    await writeFile(join(folder, 'deep/er/b'), 'x'.repeat(500))
    await symlink('/usr', join(folder, 'link'))
    expect(await measureDiskUse(folder, 1e9)).toBe(1500)
    expect(await measureDiskUse(folder, 400)).toBeGreaterThanOrEqual(400)
    expect(await measureDiskUse(join(folder, 'missing'), 1e9)).toBe(0)
  })
})

describe('environment of an engine', () => {
  const of = (options: Partial<Parameters<typeof engineEnvironment>[3]>, env = {}) =>
    engineEnvironment(
      { IAC_OFFLINE: 'true', HTTPS_PROXY: 'http://proxy:1', ...env },
      'init',
      { workspace_path: '/w' },
      {
        cliConfig: null,
        offline: false,
        offlineHosts: '',
        pluginCache: null,
        ...options,
      },
    )
  it('leads nowhere while it is offline, but to the named hosts', () => {
    expect(of({ offline: true, offlineHosts: 'store.internal' })).toMatchObject({
      HTTPS_PROXY: 'http://127.0.0.1:9',
      https_proxy: 'http://127.0.0.1:9',
      NO_PROXY: 'store.internal',
      GIT_ALLOW_PROTOCOL: 'file',
    })
  })
  it('stays as it is otherwise', () => {
    const env = of({ cliConfig: '/data/engine.tfrc' })
    expect(env).toMatchObject({ HTTPS_PROXY: 'http://proxy:1', TF_CLI_CONFIG_FILE: '/data/engine.tfrc' })
    expect(env).not.toHaveProperty('GIT_ALLOW_PROTOCOL')
    expect(env).not.toHaveProperty('IAC_OFFLINE')
  })
})

describe('settings', () => {
  it.each([
    [{ IAC_ALLOWED_PROVIDERS: 'hashicorp' }, /IAC_ALLOWED_PROVIDERS/],
    [{ IAC_ALLOWED_PROVIDERS: 'a/b, ../x' }, /\.\.\/x/],
    [{ IAC_PROVIDER_MIRROR: 'mirror' }, /absolute/],
    [{ IAC_OFFLINE: 'true', TF_CLI_CONFIG_FILE: '/etc/tf.rc' }, /TF_CLI_CONFIG_FILE/],
    [{ IAC_OFFLINE: 'maybe' }, /IAC_OFFLINE/],
    [{ IAC_MAX_WORKSPACE_MIB: '-1' }, /IAC_MAX_WORKSPACE_MIB/],
  ])('refuse %j', (env, text) => {
    expect(() => readSettings(env)).toThrow(text)
  })
  it('restrict nothing by default', () => {
    expect(readSettings({ TF_CLI_CONFIG_FILE: '/etc/tf.rc' })).toMatchObject({
      allowedProviders: [],
      offline: false,
      maxWorkspaceBytes: 0,
    })
  })
})

describe('a restricted service', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      IAC_BINARY: await fakeEngine(await temporaryFolder()),
      IAC_ALLOWED_PROVIDERS: 'hashicorp/*',
      IAC_MAX_WORKSPACE_MIB: '1',
    })
  })
  afterAll(() => service.close())
  const plan = (workspace_path: string) => service.run('/v1/plan', { workspace_path, plan_file: 'p.plan', ...SCOPE })

  it('runs no provider that is not allowed', async () => {
    const workspace = await service.workspace({
      'command.sh': 'echo ran',
      '.terraform.lock.hcl': lock('evil.example.com/x/y'),
    })
    const { result } = await plan(workspace)
    expect(result).toMatchObject({ exit_code: 1, stdout: '' })
    expect(result.stderr).toContain('evil.example.com/x/y')
  })

  it('gives the engine its configuration', async () => {
    const workspace = await service.workspace({
      'command.sh': 'cat "$TF_CLI_CONFIG_FILE"',
      '.terraform.lock.hcl': lock('registry.terraform.io/hashicorp/aws'),
    })
    expect((await plan(workspace)).result.stdout).toContain('include = ["hashicorp/*"]')
    expect(await readFile(join(service.folder, 'data/engine.tfrc'), 'utf8')).toContain('hashicorp')
  })

  it('does not plan what is too large', async () => {
    const workspace = await service.workspace({ 'command.sh': 'echo ran', large: 'x'.repeat(1024 * 1024) })
    expect((await plan(workspace)).result).toMatchObject({ exit_code: 1, stderr: expect.stringContaining('1 MiB') })
  })
})

describe('output of a running job', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      IAC_BINARY: await fakeEngine(await temporaryFolder()),
      CLOUD_SECRET: 'very-secret-value',
    })
  })
  afterAll(() => service.close())

  it('shows whole lines of what was written so far, without credentials', async () => {
    const workspace = await service.workspace({
      'command.sh':
        'echo first; echo "key very-secret-value"; printf "half a li"; touch written; while [ ! -e go ]; do sleep 0.05; done; echo ne',
    })
    const job_id = await service.submit('/v1/validate', { workspace_path: workspace })
    await expect
      .poll(
        () =>
          readFile(join(workspace, 'written'), 'utf8').then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true)
    const running = await service.request('GET', `/v1/jobs/${job_id}/output`)
    expect(running.body).toEqual({ job_id, status: 'running', stdout: 'first\nkey (sensitive value)\n', stderr: '' })
    await writeFile(join(workspace, 'go'), '')
    await service.finished(job_id)
    const ended = await service.request('GET', `/v1/jobs/${job_id}/output?tail_bytes=12`)
    expect(ended.body).toMatchObject({ status: 'succeeded', stdout: 'half a line\n' })
  })

  it.each([
    ['no-uuid/output', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output', 404],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?tail_bytes=0', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?tail_bytes=65537', 422],
    ['2d1f5c6e-5b1f-4a39-8b8f-0d5d1b1c7a10/output?tail_bytes=x', 422],
  ])('answers %s with %d', async (path, status) => {
    expect((await service.request('GET', `/v1/jobs/${path}`)).status).toBe(status)
  })
})
