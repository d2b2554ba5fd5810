import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPENTOFU } from '../../../../dev/engine/release.ts'
import { createMasker } from '../../../../src/base/masking.ts'
import { listChanges } from '../../../../src/plan/change-list.ts'
import { parseDiagnostics } from '../../../../src/plan/diagnostics/parse.ts'
import { parsePlan } from '../../../../src/plan/plan.ts'
import { plannedChanges } from '../../../../src/plan/planned-changes.ts'
import { createSecretRegister } from '../../../../src/plan/sensitive.ts'
import { readApplyOutput } from '../../../../src/reports/settle-apply.ts'
import { startTestService, type TestService } from '../../../sidecars/iac/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.close())

const SCOPE = { scope_id: 'world', engine_provider: 'aws' }
const PLAN = 'session.plan'

/** Runs a job and answers its result. */
async function job(kind: string, workspace_path: string, more: object = {}) {
  const scoped = ['init', 'plan', 'apply', 'import'].includes(kind) ? SCOPE : {}
  const { status, result } = await service.run(`/v1/${kind}`, { workspace_path, ...scoped, ...more })
  expect(status).toBe('succeeded')
  return result as { exit_code: number; stdout: string; stderr: string }
}

/** A job that must go well. */
async function good(kind: string, path: string, more: object = {}) {
  const result = await job(kind, path, more)
  expect(result, `${kind}: ${result.stderr}`).toMatchObject({ exit_code: 0 })
  return result
}

async function planned(path: string) {
  await good('init', path)
  const { stdout, stderr } = await good('plan', path, { plan_file: PLAN })
  const plan = parsePlan((await good('show', path, { plan_file: PLAN })).stdout)
  return { plan, stdout, stderr }
}

const applied = async (path: string) => {
  await planned(path)
  return good('apply', path, { plan_file: PLAN })
}

describe('the engine', () => {
  it('is the pinned release, chosen before Terraform', async () => {
    const { body } = await service.request('GET', '/v1/engine')
    expect(body).toMatchObject({ name: 'OpenTofu', version: OPENTOFU })
  })

  it('writes plans in a format that is read', async () => {
    const path = await service.workspace({ 'main.tf': 'resource "terraform_data" "a" {\n  input = "x"\n}\n' })
    const { plan } = await planned(path)
    expect(plan.document).toMatchObject({ format_version: expect.stringMatching(/^1\./), terraform_version: OPENTOFU })
    expect(plannedChanges(plan)).toEqual([{ address: 'terraform_data.a', type: 'terraform_data', action: 'create' }])
  })

  it('answers the schema of the built-in provider', async () => {
    const path = await service.workspace({ 'main.tf': 'resource "terraform_data" "a" {}\n' })
    await good('init', path)
    const { stdout } = await good('schema', path, { resource_types: ['terraform_data', 'nothing_here'] })
    const answer = JSON.parse(stdout)
    expect(answer.missing).toEqual(['nothing_here'])
    const block = answer.providers['terraform.io/builtin/terraform'].resource_schemas.terraform_data.block
    expect(Object.keys(block.attributes)).toEqual(expect.arrayContaining(['id', 'input', 'output', 'triggers_replace']))
  })

  it('names a registry of its own when a provider cannot be had', async () => {
    const path = await service.workspace({ 'main.tf': 'resource "nosuch_thing" "a" {}\n' })
    const { exit_code, stderr } = await job('init', path)
    expect(exit_code).toBe(1)
    const [first] = parseDiagnostics(stderr)
    expect(first).toMatchObject({ severity: 'error', summary: expect.stringMatching(/provider/i) })
    expect(stderr).toContain('hashicorp/nosuch')
  })

  it('formats as before', async () => {
    const texts = [{ form: 'tf', text: 'resource "a" "b" {\n  x=1\n long = 2\n}\n' }]
    const { status, body } = await service.request('POST', '/v1/fmt', {
      json: { workspace_path: await service.workspace(), texts },
    })
    expect([status, JSON.stringify(body)]).toEqual([expect.any(Number), expect.any(String)])
  })
})

describe('diagnostics', () => {
  const BROKEN = `variable "size" {}
resource "terraform_data" "a" {
  input  = var.sise
  colour = "red"
}
`

  it('of validate -json and of the printed text say the same', async () => {
    const path = await service.workspace({ 'main.tf': BROKEN })
    await good('init', path)
    const { stdout } = await job('diagnostics', path)
    const { valid, diagnostics } = JSON.parse(stdout)
    expect(valid).toBe(false)
    const { exit_code, stderr } = await job('validate', path)
    expect(exit_code).toBe(1)
    const printed = parseDiagnostics(stderr)
    const place = (file: string | null | undefined, line: number | null | undefined) => `${file}:${line}`
    expect(printed.map(({ severity, summary, file, line }) => [severity, summary, place(file, line)])).toEqual(
      diagnostics.map((entry: Told) => [
        entry.severity,
        entry.summary,
        place(entry.range?.filename, entry.range?.start.line),
      ]),
    )
    expect(printed.map(({ detail }) => detail.replaceAll(/\s+/g, ' '))).toEqual(
      diagnostics.map(({ detail }: Told) => detail.replaceAll(/\s+/g, ' ').trim()),
    )
  })

  it('of a broken file have its place', async () => {
    const path = await service.workspace({ 'main.tf': 'resource "terraform_data" "a" {\n  input = \n}\n' })
    const { exit_code, stderr } = await job('init', path)
    expect(exit_code).toBe(1)
    expect(parseDiagnostics(stderr)[0]).toMatchObject({ severity: 'error', file: 'main.tf', line: 2 })
  })

  it('of a plan that a condition refuses name the resource', async () => {
    const path = await service.workspace({
      'main.tf': `variable "size" {
  default = 1
}
resource "terraform_data" "a" {
  input = 1
  lifecycle {
    precondition {
      condition     = var.size == 2
      error_message = "never"
    }
  }
}
`,
    })
    await good('init', path)
    const { exit_code, stderr } = await job('plan', path, { plan_file: PLAN })
    expect(exit_code).toBe(1)
    expect(parseDiagnostics(stderr)).toEqual([
      expect.objectContaining({ summary: 'Resource precondition failed', file: 'main.tf', line: 8, detail: 'never' }),
    ])
  })

  it('warn of what is deprecated, and the plan goes on', async () => {
    const path = await service.workspace({
      'main.tf': 'module "old" {\n  source = "./old"\n}\noutput "x" {\n  value = module.old.name\n}\n',
      'old/main.tf': 'output "name" {\n  value      = "a"\n  deprecated = "use other"\n}\n',
    })
    await good('init', path)
    const { stdout, stderr } = await good('plan', path, { plan_file: PLAN })
    const warnings = parseDiagnostics(`${stdout}\n${stderr}`)
    expect(warnings).toEqual([expect.objectContaining({ severity: 'warning', file: 'main.tf', line: 5 })])
    expect(warnings[0]?.detail).toContain('use other')
  })
})

interface Told {
  severity: string
  summary: string
  detail: string
  range?: { filename: string; start: { line: number } }
}

describe('what OpenTofu can and Terraform cannot', () => {
  it('an object that is left where it is: planned, applied, told', async () => {
    const path = await service.workspace({
      'main.tf': `resource "terraform_data" "kept" {
  triggers_replace = 1
  lifecycle {
    destroy = false
  }
}
resource "terraform_data" "gone" {}
`,
    })
    await applied(path)
    await writeFile(
      `${path}/main.tf`,
      `resource "terraform_data" "kept" {
  triggers_replace = 2
  lifecycle {
    destroy = false
  }
}
removed {
  from = terraform_data.gone
  lifecycle {
    destroy = false
  }
}
`,
    )
    const { plan, stdout } = await planned(path)
    expect(plan.resource_changes.map(({ address, change }) => [address, change.actions])).toEqual(
      expect.arrayContaining([
        ['terraform_data.kept', ['forget', 'create']],
        ['terraform_data.gone', ['forget']],
      ]),
    )
    expect(stdout).toContain('to forget')
    expect(plannedChanges(plan)).toEqual([
      { address: 'terraform_data.kept', type: 'terraform_data', action: 'replace', keeps_old: true },
    ])
    expect(listChanges(plan, createMasker([])).counts).toMatchObject({ replace: 1, forget: 1, delete: 0 })
    const told = await good('apply', path, { plan_file: PLAN })
    expect(told.stdout).toMatch(/Apply complete! Resources: 1 added, 0 changed, 0 destroyed, \d forgotten\./)
    expect(readApplyOutput(told.stdout, told.stderr).counts).toEqual({ created: 1, updated: 0, destroyed: 0 })
  })

  it('resources and modules that are switched off', async () => {
    const path = await service.workspace({
      'main.tf': `variable "on" {
  default = false
}
resource "terraform_data" "a" {
  input = "x"
  lifecycle {
    enabled = var.on
  }
}
resource "terraform_data" "b" {
  input = "y"
  lifecycle {
    enabled = !var.on
  }
}
`,
    })
    const { plan } = await planned(path)
    expect(plannedChanges(plan).map(({ address }) => address)).toEqual(['terraform_data.b'])
  })

  it('variables in places that are read early', async () => {
    const path = await service.workspace({
      'main.tf': `variable "folder" {
  default = "a"
}
module "m" {
  source = "./\${var.folder}"
}
`,
      'a/main.tf': 'resource "terraform_data" "a" {}\n',
    })
    // The check of what an engine command may reach reads no variables: it says what to write instead.
    const { exit_code, stderr } = await job('init', path)
    expect([exit_code, stderr]).toEqual([1, expect.stringContaining('is not written literally')])
  })

  it('values that are never stored', async () => {
    const path = await service.workspace({
      'main.tf': `variable "token" {
  type      = string
  ephemeral = true
  default   = "ephemeral-token-value"
}
locals {
  length = ephemeralasnull(var.token)
}
resource "terraform_data" "a" {
  input = local.length == null ? "none" : "some"
}
`,
    })
    const { plan } = await planned(path)
    // The engine writes it into the plan document all the same, so that only the mark hides it.
    const register = createSecretRegister()
    await register.learn(plan)
    expect(register.text(JSON.stringify(plan.document))).not.toContain('ephemeral-token-value')
    await good('apply', path, { plan_file: PLAN })
    expect((await good('import/state-resource-ids', path)).stdout).not.toContain('ephemeral-token-value')
  })

  it('the newest blocks and arguments', async () => {
    const path = await service.workspace({
      'main.tf': `language {
  compatible_with {
    opentofu = ">= 1.12"
  }
}
variable "guard" {
  const   = true
  default = true
}
resource "terraform_data" "a" {
  lifecycle {
    prevent_destroy = var.guard
  }
}
`,
    })
    const { plan } = await planned(path)
    expect(plannedChanges(plan)).toHaveLength(1)
  })

  it('files of its own, which win over those of the same name', async () => {
    const path = await service.workspace({
      'main.tf': 'resource "terraform_data" "of_terraform" {}\n',
      'main.tofu': 'resource "terraform_data" "of_opentofu" {}\n',
    })
    const { plan } = await planned(path)
    expect(plannedChanges(plan).map(({ address }) => address)).toEqual(['terraform_data.of_opentofu'])
  })

  it.each([
    ['key_provider "external" "x" {\n      command = ["touch", "ran"]\n    }', 'key_provider "external"'],
    ['method "external" "x" {\n      encrypt_command = ["touch", "ran"]\n    }', 'method "external"'],
  ])('programs that encrypt: refused', async (block, construct) => {
    const path = await service.workspace({ 'main.tf': `terraform {\n  encryption {\n    ${block}\n  }\n}\n` })
    const { exit_code, stderr } = await job('init', path)
    expect([exit_code, stderr]).toEqual([1, expect.stringContaining(construct)])
  })
})

describe('an encrypted state', () => {
  const code = (passphrase: string) => `terraform {
  encryption {
    key_provider "pbkdf2" "main" {
      passphrase = "${passphrase}"
      iterations = 200000
    }
    method "aes_gcm" "main" {
      keys = key_provider.pbkdf2.main
    }
    state {
      method   = method.aes_gcm.main
      enforced = true
    }
  }
}
resource "terraform_data" "a" {
  input = "x"
}
`

  it('is read by the jobs that read states', async () => {
    const path = await service.workspace({ 'main.tf': code('a-first-passphrase-1') })
    await applied(path)
    expect(JSON.parse((await good('import/state-resource-ids', path)).stdout)).toHaveLength(1)
  })

  it('that cannot be opened is told as the engine tells it, without the passphrase', async () => {
    const path = await service.workspace({ 'main.tf': code('a-first-passphrase-1') })
    await applied(path)
    await writeFile(`${path}/main.tf`, code('another-passphrase-2'))
    const { exit_code, stdout, stderr } = await job('plan', path, { plan_file: PLAN })
    expect(exit_code).toBe(1)
    const [first] = parseDiagnostics(stderr)
    expect(first).toMatchObject({ severity: 'error', summary: expect.any(String) })
    expect(`${stdout}${stderr}`).not.toContain('passphrase-')
  })

  it('whose passphrase is too short is refused at once, without it', async () => {
    const path = await service.workspace({ 'main.tf': code('short-secret') })
    const { exit_code, stderr } = await job('init', path)
    expect(exit_code).toBe(1)
    expect(stderr).not.toContain('short-secret')
  })
})
