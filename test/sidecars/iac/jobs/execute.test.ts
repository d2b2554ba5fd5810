import { execFile } from 'node:child_process'
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { findEngine } from '../../../../sidecars/iac/engine/find.ts'
import { diagnosticsIn } from '../../../../src/services/iac/contract.ts'
import { type Json, SCOPE, startTestService } from '../service.ts'

const run = promisify(execFile)
const LOCAL_EXEC = 'resource "terraform_data" "x" {\n  provisioner "local-exec" {\n    command = "touch ran"\n  }\n}\n'
/** Runs when it is planned; a provisioner runs when it is applied. */
const EXTERNAL = 'data "external" "x" {\n  program = ["touch", "ran"]\n}\n'
const TWO =
  'resource "terraform_data" "a" {\n  input = "one"\n}\n\nresource "terraform_data" "b" {\n  input = "two"\n}\n'

const service = await startTestService()

const init = (workspace_path: string) => service.run('/v1/init', { workspace_path, ...SCOPE })
const plan = (workspace_path: string, more: object = {}) =>
  service.run('/v1/plan', { workspace_path, ...SCOPE, plan_file: 'session.plan', ...more })
const apply = (workspace_path: string) =>
  service.run('/v1/apply', { workspace_path, ...SCOPE, plan_file: 'session.plan' })
const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

describe('the commands with a real engine', () => {
  it('init, validate, plan, show, apply, state', async () => {
    const workspace_path = await service.workspace({ 'main.tf': TWO })
    expect((await init(workspace_path)).result.exit_code).toBe(0)
    // A second init of the same workspace succeeds as well.
    expect((await init(workspace_path)).result.exit_code).toBe(0)
    expect((await service.run('/v1/validate', { workspace_path })).result).toMatchObject({
      exit_code: 0,
      stdout: expect.stringContaining('valid'),
    })
    const planned = (await plan(workspace_path)).result
    expect(planned.exit_code).toBe(0)
    expect(planned.stdout).toContain('Plan: 2 to add, 0 to change, 0 to destroy.')
    expect(planned.stdout).not.toContain('\u001b')
    const shown = JSON.parse(
      (await service.run('/v1/show', { workspace_path, plan_file: 'session.plan' })).result.stdout,
    )
    expect(shown.resource_changes.map((change: Json) => change.address)).toEqual([
      'terraform_data.a',
      'terraform_data.b',
    ])
    expect((await apply(workspace_path)).result).toMatchObject({
      exit_code: 0,
      stdout: expect.stringContaining('2 added'),
    })
    const ids = JSON.parse((await service.run('/v1/import/state-resource-ids', { workspace_path })).result.stdout)
    expect(ids).toHaveLength(2)
    // The engine itself refuses to apply the same plan again.
    expect((await apply(workspace_path)).result).toMatchObject({
      exit_code: 1,
      stderr: expect.stringContaining('stale'),
    })
  })

  it('plans targets only', async () => {
    const workspace_path = await service.workspace({ 'main.tf': TWO })
    await init(workspace_path)
    const { result } = await plan(workspace_path, { targets: ['terraform_data.b'] })
    expect(result.stdout).toContain('Plan: 1 to add')
    expect(result.stdout).not.toContain('terraform_data.a')
  })

  it('imports', async () => {
    const workspace_path = await service.workspace({ 'main.tf': TWO })
    await init(workspace_path)
    const body = { workspace_path, ...SCOPE, address: 'terraform_data.a', resource_id: 'known-id' }
    expect((await service.run('/v1/import', body)).result).toMatchObject({
      exit_code: 0,
      stdout: expect.stringContaining('Import successful'),
    })
    const { result } = await service.run('/v1/import/state-resource-ids', { workspace_path })
    expect(result.stdout).toBe('["known-id"]')
    expect((await service.run('/v1/import', body)).result.exit_code).toBe(1)
  })

  it('removes one object from the state, and nothing for an address of several, of none or of a module', async () => {
    const many = 'resource "terraform_data" "many" {\n  for_each = toset(["x", "y.z"])\n}\n'
    const workspace_path = await service.workspace({ 'main.tf': `${TWO}\n${many}` })
    await init(workspace_path)
    await plan(workspace_path)
    await apply(workspace_path)
    const remove = (address: string) => service.run('/v1/state-rm', { workspace_path, ...SCOPE, address })
    const managed = async () =>
      JSON.parse((await service.run('/v1/import/state-resource-ids', { workspace_path })).result.stdout).length
    for (const [address, reason] of [
      ['terraform_data.many', 'terraform_data.many stands for other objects: terraform_data.many["x"], '],
      ['terraform_data.none', ''],
      ['terraform_data.many["z"]', ''],
    ] as const) {
      const { result } = await remove(address)
      expect(result).toMatchObject({ exit_code: 1, stderr: expect.stringContaining(reason) })
    }
    expect(await managed()).toBe(4)
    expect((await remove('terraform_data.many["y.z"]')).result).toMatchObject({
      exit_code: 0,
      stdout: expect.stringContaining('Removed terraform_data.many["y.z"]'),
    })
    expect((await remove('terraform_data.a')).result.exit_code).toBe(0)
    expect(await managed()).toBe(2)
    for (const address of ['module.m', '-state=x', 'data.a.b', 'a.b c', 'a', 'a.b\n', 'a.b["x', 'a.b[*]']) {
      const json = { workspace_path, ...SCOPE, address }
      expect((await service.request('POST', '/v1/state-rm', { json })).status, address).toBe(422)
    }
  })

  it('hands on what the engine says about wrong code', async () => {
    const workspace_path = await service.workspace({ 'main.tf': 'resource "terraform_data" "a" {\n  inputs = 1\n}\n' })
    await init(workspace_path)
    const job = await service.run('/v1/validate', { workspace_path })
    expect(job).toMatchObject({ status: 'succeeded', error: null, result: { exit_code: 1 } })
    expect(job.result.stderr).toContain('Unsupported argument')
  })

  it('tells name and version', async () => {
    expect((await service.request('GET', '/v1/engine')).body).toMatchObject({
      name: expect.stringMatching(/^(OpenTofu|Terraform)$/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    })
  })
})

describe('a plan with json', () => {
  const GATE = `locals {
  open = false
}
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = local.open
      error_message = "Said:\\n\\nError: another <${'$'}{jsonencode(["key-with-<signs>&1"])}>"
    }
  }
}
`

  it('answers the events of the engine, with its errors as data and credentials masked', async () => {
    const hiding = await startTestService({ SOME_SECRET: 'key-with-<signs>&1' })
    const workspace_path = await hiding.workspace({ 'main.tf': GATE })
    await hiding.run('/v1/init', { workspace_path, ...SCOPE })
    const body = { workspace_path, ...SCOPE, plan_file: 'session.plan', lock: false, json: true }
    const { result } = await hiding.run('/v1/plan', body)
    expect(result).toMatchObject({ exit_code: 1 })
    expect(result.stdout).not.toContain('signs')
    expect(diagnosticsIn(result.stdout)).toEqual([
      expect.objectContaining({
        summary: 'Resource precondition failed',
        detail: expect.stringContaining('Error: another <["(sensitive value)"]>'),
        range: { filename: 'main.tf', start: { line: 7 } },
      }),
    ])
  })

  it('is made and can be applied like any other', async () => {
    const workspace_path = await service.workspace({ 'main.tf': TWO })
    await init(workspace_path)
    const { result } = await plan(workspace_path, { json: true })
    expect(result.exit_code).toBe(0)
    expect(diagnosticsIn(result.stdout)).toEqual([])
    expect((await apply(workspace_path)).result.exit_code).toBe(0)
  })
})

describe('programs on the host', () => {
  const expectRefused = (job: Json, ...texts: string[]) => {
    expect(job).toMatchObject({ status: 'succeeded', error: null, result: { exit_code: 1, stdout: '' } })
    for (const text of [...texts, 'IAC_ALLOW_HOST_PROGRAMS']) expect(job.result.stderr).toContain(text)
  }

  it('are refused in the root, naming file, line and construct', async () => {
    const workspace_path = await service.workspace({ 'main.tf': TWO, 'extra.tf': `# comment\n${EXTERNAL}` })
    await init(workspace_path)
    expectRefused(await plan(workspace_path), 'extra.tf line 2', 'data "external"')
    expect(await exists(join(workspace_path, 'session.plan'))).toBe(false)
  })

  it('are refused in JSON and in files of the other engine', async () => {
    const json = await service.workspace({ 'main.tf.json': '{"data": {"external": {"x": {"program": ["id"]}}}}' })
    expectRefused(await plan(json), 'main.tf.json line 1', 'data "external"')
    const tofu = await service.workspace({ 'main.tofu': EXTERNAL })
    expectRefused(await plan(tofu), 'main.tofu line 1')
  })

  it('are refused in local modules, installed or not, also outside of the root', async () => {
    const workspace = await service.workspace({
      'root/main.tf': 'module "m" {\n  source = "../shared"\n}\n',
      'shared/main.tf': 'module "n" {\n  source = "./deep"\n}\n',
      'shared/deep/main.tf': LOCAL_EXEC.replace('local-exec', 'own'),
      '.platform-workspace': '',
    })
    const workspace_path = join(workspace, 'root')
    expectRefused(await plan(workspace_path), '../shared/deep/main.tf line 2')
    expectRefused(await init(workspace_path), '../shared/deep/main.tf line 2')
    // The modules were installed by an engine elsewhere.
    const engine = await findEngine({ binary: '', path: process.env.PATH ?? '', download: null })
    await run(engine, ['init', '-input=false'], {
      cwd: workspace_path,
      env: { ...process.env, CHECKPOINT_DISABLE: '1' },
    })
    expectRefused(await plan(workspace_path), '../shared/deep/main.tf line 2')
  })

  it('are refused in downloaded modules', async () => {
    const workspace_path = await service.workspace({
      'main.tf': 'module "m" {\n  source = "git::https://git.invalid/m.git"\n}\n',
      '.terraform/modules/modules.json': JSON.stringify({
        Modules: [
          { Key: '', Source: '', Dir: '.' },
          { Key: 'm', Source: 'git::https://git.invalid/m.git', Dir: '.terraform/modules/m' },
        ],
      }),
      '.terraform/modules/m/main.tf': EXTERNAL,
    })
    expectRefused(await plan(workspace_path), '.terraform/modules/m/main.tf line 1')
  })

  it('are refused before an import', async () => {
    const workspace_path = await service.workspace({
      'main.tf': TWO,
      'x.tf': 'data "external" "x" {\n  program = ["touch", "ran"]\n}\n',
    })
    const job = await service.run('/v1/import', {
      workspace_path,
      ...SCOPE,
      address: 'terraform_data.a',
      resource_id: 'i',
    })
    expectRefused(job, 'x.tf line 1')
  })

  it('are refused in a plan that was made elsewhere', async () => {
    const workspace_path = await service.workspace({ 'main.tf': LOCAL_EXEC })
    const options = { cwd: workspace_path, env: { ...process.env, CHECKPOINT_DISABLE: '1' } }
    const engine = await findEngine({ binary: '', path: process.env.PATH ?? '', download: null })
    await run(engine, ['init', '-input=false'], options)
    await run(engine, ['plan', '-input=false', '-out', 'session.plan'], options)
    await writeFile(join(workspace_path, 'main.tf'), TWO)
    expectRefused(await apply(workspace_path), 'main.tf line 2', 'provisioner "local-exec"')
    expect(await exists(join(workspace_path, 'ran'))).toBe(false)
  })

  it('are refused as plugins that lie in the repository', async () => {
    const mirror = await service.workspace({ 'main.tf': TWO, 'terraform.d/plugins/x': '' })
    expectRefused(await init(mirror), 'terraform.d/plugins')
    const beside = await service.workspace({ 'main.tf': TWO, 'terraform-provisioner-file': '' })
    expectRefused(await service.run('/v1/validate', { workspace_path: beside }), 'terraform-provisioner-file')
  })

  it('are not suspected in text, and repaired code plans', async () => {
    const workspace_path = await service.workspace({ 'main.tf': `# ${EXTERNAL.replaceAll('\n', '\n# ')}\n${TWO}` })
    await init(workspace_path)
    expect((await plan(workspace_path)).result.exit_code).toBe(0)
  })

  it('a file that cannot be followed is refused as such', async () => {
    const workspace_path = await service.workspace({ 'main.tf': 'locals {\n  a = "' })
    const job = await plan(workspace_path)
    expect(job.result).toMatchObject({ exit_code: 1, stderr: expect.stringContaining('on main.tf') })
  })

  it('run when the operator allows them', async () => {
    const permissive = await startTestService({ IAC_ALLOW_HOST_PROGRAMS: 'true' })
    const workspace_path = await permissive.workspace({ 'main.tf': LOCAL_EXEC })
    await permissive.run('/v1/init', { workspace_path, ...SCOPE })
    await permissive.run('/v1/plan', { workspace_path, ...SCOPE, plan_file: 'session.plan' })
    const job = await permissive.run('/v1/apply', { workspace_path, ...SCOPE, plan_file: 'session.plan' })
    expect(job.result.exit_code).toBe(0)
    expect(await exists(join(workspace_path, 'ran'))).toBe(true)
  })
})

describe('the plan file', () => {
  it.each(['plan', 'show', 'apply'])('is no link for %s', async (kind) => {
    const workspace_path = await service.workspace({ 'main.tf': TWO })
    const target = join(service.folder, `victim-${kind}`)
    await writeFile(target, 'precious')
    await symlink(target, join(workspace_path, 'session.plan'))
    await init(workspace_path)
    const body = { workspace_path, plan_file: 'session.plan', ...(kind === 'show' ? {} : SCOPE) }
    expect((await service.run(`/v1/${kind}`, body)).result).toMatchObject({
      exit_code: 1,
      stderr: expect.stringContaining('Plan file refused'),
    })
    expect(await readFile(target, 'utf8')).toBe('precious')
  })

  it('is no folder', async () => {
    const workspace_path = await service.workspace({ 'main.tf': TWO })
    await mkdir(join(workspace_path, 'session.plan'))
    expect((await plan(workspace_path)).result.exit_code).toBe(1)
  })
})

it('a backend configuration is handed to init', async () => {
  const configured = await startTestService({ IAC_BACKEND_CONFIG: 'backend.hcl' })
  const workspace_path = await configured.workspace({
    'main.tf': 'terraform {\n  backend "local" {\n  }\n}\n',
    'backend.hcl': 'path = "elsewhere.tfstate"\n',
  })
  expect((await configured.run('/v1/init', { workspace_path, ...SCOPE })).result.exit_code).toBe(0)
  expect(await readFile(join(workspace_path, '.terraform', 'terraform.tfstate'), 'utf8')).toContain('elsewhere.tfstate')
})
