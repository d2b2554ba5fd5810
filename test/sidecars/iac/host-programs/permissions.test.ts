import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parsePermission, permittedKinds } from '../../../../sidecars/iac/host-programs/permissions.ts'
import { readSettings } from '../../../../sidecars/iac/settings.ts'
import { SCOPE, startTestService } from '../service.ts'

const permitted = (entries: string, repository?: string) =>
  permittedKinds(readSettings({ IAC_ALLOW_PROGRAMS: entries }).allowPrograms, repository)

describe('IAC_ALLOW_PROGRAMS', () => {
  it('allows kinds by repository', () => {
    expect(permitted('exec:github.com/acme/live', 'github.com/acme/live')).toEqual(['exec'])
    expect(permitted('exec:github.com/acme/*, external:github.com/acme/live', 'GitHub.com/Acme/Live')).toEqual([
      'exec',
      'external',
    ])
    expect(permitted('*:git.corp:8443/a/*', 'git.corp:8443/a/b/c')).toHaveLength(7)
    expect(permitted('provisioner:*')).toEqual(['provisioner'])
  })

  it.each([
    ['github.com/acme/live', 'github.com/acme/live-2'],
    ['github.com/acme/*', 'github.com/acme-evil/x'],
    ['github.com/acme/*', 'evil.com/github.com/acme/x'],
    ['github.com/acme/*', 'github.com/acme/%2e%2e%2fevil/x'],
    ['github.com/acme/*', 'github.com/acme'],
    ['githubxcom/acme/*', 'github.com/acme/x'],
    ['github.com/a.me/*', 'github.com/acme/x'],
    ['github.com/acme/*', undefined],
  ])('%s does not mean %s', (pattern, repository) => {
    expect(permitted(`exec:${pattern}`, repository)).toEqual([])
  })

  it.each([
    'exec',
    'exec:',
    'exe:github.com/a/b',
    'exec:https://github.com/a/b',
    'exec:github.com/a/b.git',
    ':a/b',
    '',
  ])('refuses %j at boot, saying what is right', (text) => {
    expect(parsePermission(text)).toContain('must be <kind>:<repository>')
    if (text !== '')
      expect(() => readSettings({ IAC_ALLOW_PROGRAMS: text })).toThrow(
        `IAC_ALLOW_PROGRAMS holds '${text}', which must be <kind>:<repository>, such as exec:github.com/acme/*`,
      )
  })
})

const LOCAL_EXEC = 'resource "terraform_data" "x" {\n  provisioner "local-exec" {\n    command = "touch ran"\n  }\n}\n'
const KINDS: [string, string][] = [
  ['exec', 'provider "kubernetes" {\n  exec {\n    command = "sh"\n  }\n}\n'],
  ['external', 'data "external" "x" {\n  program = ["id"]\n}\n'],
  ['credentials', 'provider "kubernetes" {\n  config_path = "~/.kube/config"\n}\n'],
  ['cloud', 'terraform {\n  cloud {\n    organization = "x"\n  }\n}\n'],
  ['file', 'locals {\n  a = file("/etc/motd")\n}\n'],
  ['state', 'variable "b" {\n}\ndata "terraform_remote_state" "x" {\n  backend = var.b\n}\n'],
]

describe('the service', async () => {
  const repository = 'github.com/acme/live'
  const service = await startTestService({
    IAC_ALLOW_PROGRAMS: `provisioner:github.com/acme/*,${KINDS.map(([kind]) => `${kind}:github.com/acme/${kind}`)}`,
  })
  const run = (kind: string, body: object) => service.run(`/v1/${kind}`, { ...SCOPE, ...body })

  it('runs what is allowed to this repository, and nothing else', async () => {
    const workspace_path = await service.workspace({ 'main.tf': LOCAL_EXEC })
    const plan_file = 'session.plan'
    await run('init', { workspace_path, repository })
    await run('plan', { workspace_path, plan_file })
    for (const other of [{}, { repository: 'github.com/other/live' }]) {
      const refused = await run('apply', { workspace_path, plan_file, ...other })
      expect(refused.result.exit_code).toBe(1)
      const name = other.repository ?? '*'
      expect(refused.result.stderr).toContain(
        `allow this with IAC_ALLOW_PROGRAMS=provisioner:${name}, and everything with IAC_ALLOW_HOST_PROGRAMS=true.`,
      )
    }
    const ran = () => stat(join(workspace_path, 'ran')).then(Boolean, () => false)
    expect(await ran()).toBe(false)
    expect((await run('apply', { workspace_path, plan_file, repository })).result.exit_code).toBe(0)
    expect(await ran()).toBe(true)
  })

  it.each(KINDS)('judges the kind %s by itself', async (kind, main) => {
    const workspace_path = await service.workspace({ 'main.tf': main })
    const refused = await run('init', { workspace_path, repository })
    expect(refused.result.stderr).toContain(`IAC_ALLOW_PROGRAMS=${kind}:${repository}, and`)
    const { result } = await run('init', { workspace_path, repository: `github.com/acme/${kind}` })
    expect(result.stderr).not.toContain('refused')
  })

  it('names no kind for what no kind allows', async () => {
    const workspace_path = await service.workspace({ 'main.tf': 'module "m" {\n  source = "/etc"\n}\n' })
    const { result } = await run('init', { workspace_path, repository })
    expect(result.stderr).not.toContain('IAC_ALLOW_PROGRAMS')
    expect(result.stderr).toContain('IAC_ALLOW_HOST_PROGRAMS=true')
  })

  it('accepts a repository as host/path only', async () => {
    const workspace_path = await service.workspace()
    for (const wrong of ['', 'https://github.com/a/b', 'a b/c', 'github.com']) {
      const body = { json: { workspace_path, ...SCOPE, repository: wrong } }
      expect((await service.request('POST', '/v1/init', body)).status).toBe(422)
    }
  })
})

describe('a job with programs_only', async () => {
  const repository = 'github.com/acme/live'
  const service = await startTestService({ IAC_ALLOW_PROGRAMS: 'credentials:github.com/acme/*' })
  const list = async (files: Record<string, string>, body: object = {}) => {
    const workspace_path = await service.workspace(files)
    const { result } = await service.run('/v1/diagnostics', { workspace_path, programs_only: true, ...body })
    expect(result.stderr).toBe('')
    const { diagnostics } = JSON.parse(result.stdout)
    expect(result.exit_code).toBe(diagnostics.length > 0 ? 1 : 0)
    return diagnostics
  }

  it('lists the findings with what would allow each, and runs no engine', async () => {
    const files = Object.fromEntries(KINDS.map(([kind, code]) => [`${kind}.tf`, `\n${code}`]))
    const found = await list({ ...files, 'broken.tf': 'resource "a" {' }, { repository })
    expect(found).toEqual(
      [
        ['cloud', 3, 'cloud'],
        ['exec', 3, 'exec of a provider'],
        ['external', 2, 'data "external"'],
        ['file', 3, expect.stringContaining('file')],
        ['state', 4, 'data "terraform_remote_state"'],
      ].map(([kind, line, summary]) => ({
        severity: 'error',
        summary,
        detail: expect.any(String),
        range: { filename: `${kind}.tf`, start: { line } },
        allowed_by: { setting: 'IAC_ALLOW_PROGRAMS', value: `${kind}:${repository}` },
      })),
    )
    const [credentials] = await list({ 'main.tf': KINDS[2]?.[1] ?? '' })
    expect(credentials).toMatchObject({ allowed_by: { value: 'credentials:*' } })
  })

  it.each<[string, Record<string, string>]>([
    ['plain code', { 'main.tf': 'resource "terraform_data" "x" {\n}\n' }],
    ['what a plan does not run', { 'main.tf': LOCAL_EXEC }],
    ['an empty folder', {}],
  ])('finds nothing in %s', async (_, files) => {
    expect(await list(files)).toEqual([])
  })

  it('names what no entry allows, and what is too large', async () => {
    const found = await list({ 'main.tf': 'module "x" {\n  source = "/etc"\n}\n' })
    expect(found).toMatchObject([{ allowed_by: { setting: 'IAC_ALLOW_HOST_PROGRAMS', value: 'true' } }])
    const large = await list({ 'main.tf': `# ${'x'.repeat(5 * 1024 * 1024)}\n` })
    expect(large).toMatchObject([
      { summary: 'configuration too large to be checked', range: { filename: 'main.tf', start: { line: 0 } } },
    ])
  })

  it('finds nothing where everything is allowed', async () => {
    const open = await startTestService({ IAC_ALLOW_HOST_PROGRAMS: 'true' })
    const workspace_path = await open.workspace({ 'main.tf': KINDS[1]?.[1] ?? '' })
    const { result } = await open.run('/v1/diagnostics', { workspace_path, programs_only: true })
    expect(result).toEqual({ exit_code: 0, stdout: '{"diagnostics":[]}', stderr: '' })
  })
})
