import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { findEngine } from '../../../../sidecars/iac/engine/find.ts'
import { checkHostPrograms } from '../../../../sidecars/iac/host-programs/check.ts'
import { actedIn } from '../../../../sidecars/iac/host-programs/plan-changes.ts'
import { BOXED, HAS_SANDBOX } from '../../../suites/security/sandboxed.ts'
import { type Json, SCOPE, startTestService, type TestService } from '../service.ts'

const service = await startTestService()
const PLAN = { plan_file: 'session.plan' }
const exists = (path: string) => stat(path).then(Boolean, () => false)
const run = (kind: string, workspace_path: string, body: object, at: TestService = service) =>
  at.run(`/v1/${kind}`, { workspace_path, ...body })
const init = (workspace: string, at?: TestService) => run('init', workspace, SCOPE, at)
const plan = (workspace: string, more: object = {}) => run('plan', workspace, { ...SCOPE, ...PLAN, ...more })
const apply = (workspace: string) => run('apply', workspace, { ...SCOPE, ...PLAN })

const ok = (job: Json) => expect(job.result, job.result?.stderr).toMatchObject({ exit_code: 0 })
function refused(job: Json, ...texts: string[]) {
  expect(job.result).toMatchObject({ exit_code: 1, stdout: '' })
  for (const text of texts) expect(job.result.stderr).toContain(text)
}

const module = (input: string) => `variable "x" { default = "1" }
resource "terraform_data" "job" {
  input            = var.x
  triggers_replace = "${input}"
  provisioner "local-exec" {
    command = "touch ran"
  }
}
resource "terraform_data" "plain" {
  input = var.x
}
`
const ROOT = (x: string) => `module "a" {
  source   = "./m"
  for_each = toset(["k\\"]e.y"])
  x        = "${x}"
}
resource "terraform_data" "job" {
  input = "${x}"
}
`

/** Applies with the engine itself, as somebody did before the platform came. */
async function applyElsewhere(workspace: string) {
  const engine = await findEngine({ binary: '', path: process.env.PATH ?? '', download: null })
  const options = { cwd: workspace, env: { ...process.env, CHECKPOINT_DISABLE: '1' } }
  await promisify(execFile)(engine, ['init', '-input=false'], options)
  await promisify(execFile)(engine, ['apply', '-input=false', '-auto-approve'], options)
}

describe('provisioners', () => {
  it('are not refused by jobs that run none', async () => {
    const workspace = await service.workspace({ 'main.tf': module('1') })
    ok(await init(workspace))
    for (const kind of ['validate', 'diagnostics', 'schema', 'import/state-resource-ids'])
      ok(await run(kind, workspace, {}))
    const planned = await plan(workspace)
    ok(planned)
    // Whoever reads the plan learns at once what becomes of it.
    expect(planned.result.stderr).toMatch(
      /^Warning: The apply of this plan would be refused: Program on the engine host/,
    )
    expect(planned.result.stderr).toContain('on main.tf line 5: provisioner "local-exec"')
    ok(await run('show', workspace, PLAN))
    refused(await apply(workspace), 'main.tf line 5', 'provisioner "local-exec"')
    expect(await exists(join(workspace, 'ran'))).toBe(false)
  })

  it('are not refused by an apply that creates and destroys nothing that has one', async () => {
    const workspace = await service.workspace({ 'main.tf': ROOT('1'), 'm/main.tf': module('1') })
    await applyElsewhere(workspace)
    await writeFile(join(workspace, 'main.tf'), ROOT('2'))
    ok(await init(workspace))
    // Both resources are updated in place, and another one of the same name in the root is created.
    const planned = await plan(workspace)
    expect(planned.result).toMatchObject({ exit_code: 0, stderr: '' })
    ok(await apply(workspace))
    await writeFile(join(workspace, 'm/main.tf'), module('2'))
    ok(await plan(workspace))
    refused(await apply(workspace), 'm/main.tf line 5')
    await writeFile(join(workspace, 'main.tf'), '')
    await writeFile(join(workspace, 'm/main.tf'), '')
    ok(await plan(workspace))
    // Without code, the engine has no provisioner to run.
    ok(await apply(workspace))
  })

  it('are refused by an apply that destroys, also through a removed block', async () => {
    const when = '  provisioner "local-exec" {\n    when    = destroy\n    command = "touch ran"\n  }\n'
    const workspace = await service.workspace({ 'main.tf': `resource "terraform_data" "x" {\n${when}}\n` })
    await applyElsewhere(workspace)
    await writeFile(join(workspace, 'main.tf'), `resource "terraform_data" "x" {\n  count = 0\n${when}}\n`)
    ok(await init(workspace))
    ok(await plan(workspace))
    refused(await apply(workspace), 'main.tf line 3')
    const lifecycle = '  lifecycle {\n    destroy = true\n  }\n'
    await writeFile(join(workspace, 'main.tf'), `removed {\n  from = terraform_data.x\n${lifecycle}${when}}\n`)
    ok(await plan(workspace))
    refused(await apply(workspace), 'provisioner "local-exec"')
    expect(await exists(join(workspace, 'ran'))).toBe(false)
  })

  it('of other kinds are refused by every job, because the engine would start a plugin for them', async () => {
    const workspace = await service.workspace({
      'main.tf': 'resource "terraform_data" "x" {\n  provisioner "own" {\n  }\n}\n',
    })
    for (const job of [await init(workspace), await plan(workspace)]) refused(job, 'provisioner "own"')
  })

  it('count as run when the plan is not understood', () => {
    expect(actedIn(Buffer.from([]))).toEqual(new Set())
    const text = (field: number, value: string) => [field * 8 + 2, value.length, ...Buffer.from(value)]
    const change = (address: string, ...action: number[]) => {
      const body = [...text(13, address), 9 * 8 + 2, action.length, ...action]
      return Buffer.from([3 * 8 + 2, body.length, ...body])
    }
    expect(actedIn(change('module.a["x.y"].t.x[0]', 8, 1))).toEqual(new Set(['module.a.t.x']))
    expect(actedIn(change('t.x', 8, 3))).toEqual(new Set())
    // The second of two actions would hide the first.
    expect(actedIn(change('t.x', 8, 1, 8, 0))).toEqual(new Set(['t.x']))
    expect(actedIn(change('t .x', 8, 1))).toBeNull()
    expect(actedIn(change('t.x/**/', 8, 6))).toBeNull()
    expect(actedIn(Buffer.from([3 * 8 + 2, 90, 1]))).toBeNull()
    expect(actedIn(Buffer.from([3 * 8 + 3]))).toBeNull()
  })
})

describe('services that would run the engine elsewhere', () => {
  const CLOUD = 'terraform {\n  cloud {\n    organization = "x"\n    workspaces {\n      name = "y"\n    }\n  }\n}\n'
  const REMOTE =
    'terraform {\n  backend "remote" {\n    organization = "x"\n    workspaces {\n      name = "y"\n    }\n  }\n}\n'
  const OVERRIDE = { 'backend_override.tf': 'terraform {\n  backend "local" {\n    path = "own.tfstate"\n  }\n}\n' }
  const override_sha256 = createHash('sha256').update(OVERRIDE['backend_override.tf']).digest('hex')
  /** A request that names the override file, as the worker does. */
  const asWorker = (kind: string, workspace: string, more: object = {}) =>
    run(kind, workspace, { ...SCOPE, ...more, state: { cloud: null, override_sha256 } })
  const RESOURCE = { 'r.tf': 'resource "terraform_data" "x" {\n}\n' }

  it.each([
    ['cloud', { 'main.tf': CLOUD }],
    ['remote', { 'main.tf': REMOTE }],
    [
      'cloud in JSON',
      { 'main.tf.json': '{"terraform": {"cloud": {"organization": "x", "workspaces": {"name": "y"}}}}' },
    ],
  ])('are replaced by the override file of the platform: %s', async (_title, files) => {
    const workspace = await service.workspace({ ...RESOURCE, ...OVERRIDE, ...files })
    ok(await asWorker('init', workspace))
    ok(await asWorker('plan', workspace, PLAN))
    ok(await asWorker('apply', workspace, PLAN))
    expect(await exists(join(workspace, 'own.tfstate'))).toBe(true)
  })

  it.each([
    ['without an override file', { 'main.tf': CLOUD }],
    ['in a later override file', { ...OVERRIDE, 'z_override.tf': CLOUD }],
    ['beside an override file without backend', { 'main.tf': CLOUD, 'backend_override.tf': 'locals {\n}\n' }],
    ['in the override file', { 'backend_override.tf': REMOTE }],
    ['beside a file that OpenTofu reads instead', { ...OVERRIDE, 'main.tf': CLOUD, 'backend_override.tofu': '' }],
  ])('are refused %s', async (_title, files) => {
    refused(await asWorker('init', await service.workspace({ ...RESOURCE, ...files })), 'another service')
  })

  it('are refused as a remote state, whatever replaces the backend', async () => {
    const state = 'data "terraform_remote_state" "x" {\n  backend = "remote"\n  config  = { organization = "x" }\n}\n'
    refused(await asWorker('init', await service.workspace({ ...OVERRIDE, 'main.tf': state })), 'another service')
  })
})

describe('known credential programs', () => {
  const MAIN = `terraform {
  required_providers {
    kubernetes = { source = "hashicorp/kubernetes" }
  }
}
provider "kubernetes" {
  host = "https://cluster.example.com"
  exec {
    api_version = "client.authentication.k8s.io/v1beta1"
    command     = "aws"
    args        = ["eks", "get-token", "--cluster-name", "c"]
  }
}
`
  const program = 'exec of a provider'

  it('are refused without a sandbox', async () => {
    refused(await init(await service.workspace({ 'main.tf': MAIN })), 'main.tf line 8', program)
  })

  const options = {
    env: {},
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    overrideFilename: 'backend_override.tf',
    overrideSha256: null,
    migrates: false,
    backendConfig: '',
    providerFolders: [],
    allowedHosts: [],
    initialised: false,
    allowed: [],
    repository: undefined,
  }
  const check = (workspace: string, sandboxed: boolean) =>
    checkHostPrograms('plan', workspace, undefined, { ...options, sandboxed })

  it('are allowed by the check of a sandboxed engine, and no others', async () => {
    const known = await service.workspace({ 'main.tf': MAIN })
    expect(await check(known, true)).toBeNull()
    expect((await check(known, false))?.text).toContain(program)
    const other = await check(await service.workspace({ 'main.tf': MAIN.replace('"aws"', '"sh"') }), true)
    expect(other?.text).toContain(program)
  })

  it.each([
    ['the home folder', 'locals {\n  a = substr(pathexpand("~"), 0, 1)\n}\n', true],
    ['a file in it', 'locals {\n  a = file(pathexpand("~/.ssh/id_rsa"))\n}\n', false],
    ['a profile', 'provider "oci" {\n  config_file_profile = "LIVE"\n}\n', true],
    ['a key', 'provider "oci" {\n  private_key_path = "~/.oci/key.pem"\n}\n', false],
  ])('and %s are weighed with the sandbox', async (_, code, harmless) => {
    const workspace = await service.workspace({ 'main.tf': code })
    expect((await check(workspace, true)) === null).toBe(harmless)
    expect(await check(workspace, false)).not.toBeNull()
  })

  it.runIf(HAS_SANDBOX)('are allowed in the sandbox, and no others', async () => {
    const boxed = await startTestService(BOXED)
    // The engine itself answers, whether or not this machine reaches the registry.
    const job = await init(await boxed.workspace({ 'main.tf': MAIN }), boxed)
    expect(job.result.stderr).not.toContain('refused')
    expect(job.result.stdout).toContain('Initializing')
    refused(await init(await boxed.workspace({ 'main.tf': MAIN.replace('"aws"', '"sh"') }), boxed), program)
  })
})
