import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { iacService } from '../../../../sidecars/iac/main.ts'
import { readSettings } from '../../../../sidecars/iac/settings.ts'
import { startService } from '../../../../sidecars/shared/run-service.ts'
import { silentLogger } from '../../../../src/base/log.ts'
import { parsePlan } from '../../../../src/plan/plan.ts'
import { readBlock } from '../../../../src/plan/schema/read-schema.ts'
import { sensitiveLiterals } from '../../../../src/plan/sensitive.ts'
import { createIacClient } from '../../../../src/services/iac/client.ts'
import { SMALL } from '../tools/pinned-providers.ts'

const folder = await realpath(await mkdtemp(join(tmpdir(), 'world-providers-')))
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  PLATFORM_PORT: '0',
  PLATFORM_HOST: '127.0.0.1',
  PLATFORM_IAC_TOKEN: 'token-of-the-iac-sidecar',
  IAC_DATA_DIR: join(folder, 'iac'),
  IAC_PROVIDER_MIRROR: process.env.WORLD_MIRROR,
  IAC_OFFLINE: 'true',
}
const sidecar = await startService(iacService({ env, fetch }), readSettings(env), silentLogger)
const access = {
  endpoint: sidecar.url,
  token: env.PLATFORM_IAC_TOKEN,
  timeout: 60,
  job_poll_interval: 1,
  job_timeout: 300,
}
const iac = createIacClient(access as Parameters<typeof createIacClient>[0], { fetch, log: silentLogger })
afterAll(async () => {
  await sidecar.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Those that this machine could have; the part names the others. */
const NAMES = (process.env.WORLD_PROVIDERS ?? '').split(',')
const has = (...names: string[]) => names.every((name) => NAMES.includes(name))
const REQUIREMENTS = `terraform {\n  required_providers {\n${NAMES.map(
  (name) => `    ${name} = {\n      source = "${SMALL[name]?.namespace ?? 'hashicorp'}/${name}"\n    }\n`,
).join('')}  }\n}\n`
const BLOCKS: Record<string, string> = {
  random: `resource "random_password" "database" {
  length = 24
}
`,
  tls: `resource "tls_private_key" "deploy" {
  algorithm = "ED25519"
}
`,
  local: `variable "content" {
  sensitive = true
  default   = "planted-Zq7-very-secret"
}
resource "local_sensitive_file" "key" {
  filename = "\${path.module}/out/key"
  content  = var.content
}
`,
  time: `resource "time_static" "now" {}
`,
  null: `resource "null_resource" "marker" {
  triggers = { at = "once" }
}
`,
  archive: `data "archive_file" "code" {
  type                    = "zip"
  source_content          = "exports.handler = 1"
  source_content_filename = "index.js"
  output_path             = "\${path.module}/code.zip"
}
`,
}
const MAIN = NAMES.map((name) => BLOCKS[name] ?? '').join('')
const workspaceWith = async (name: string, files: Record<string, string>) => {
  const path = join(folder, name)
  await mkdir(path)
  for (const [file, text] of Object.entries(files)) await writeFile(join(path, file), text)
  return path
}
const scoped = (workspace_path: string) => ({ workspace_path, scope_id: 'world', engine_provider: 'aws' as const })

it.runIf(has('local', 'tls', 'random'))(
  'a plan of all of them is drawn up from the mirror alone, and what is sensitive in it is known',
  async () => {
    const path = await workspaceWith('all', { 'versions.tf': REQUIREMENTS, 'main.tf': MAIN })
    const init = await iac.run('init', scoped(path))
    expect(init).toMatchObject({ exit_code: 0 })
    expect(await iac.run('plan', { ...scoped(path), plan_file: 'first.plan' })).toMatchObject({ exit_code: 0 })
    const shown = await iac.run('show', { workspace_path: path, plan_file: 'first.plan' })
    const plan = parsePlan(shown.stdout)
    expect([...sensitiveLiterals(plan)]).toContain('planted-Zq7-very-secret')
    const parts = await iac.schema({ workspace_path: path, resource_types: ['tls_private_key', 'random_password'] })
    const [tls] = Object.values(parts?.providers ?? {}).filter(
      ({ resource_schemas }) => 'tls_private_key' in resource_schemas,
    )
    expect(readBlock(tls?.resource_schemas.tls_private_key)?.attributes).toMatchObject({
      algorithm: { required: true },
      private_key_pem: { computed: true, sensitive: true },
    })
  },
)

it.runIf(has('tls', 'random'))('ephemeral types of the real providers are named and described', async () => {
  const path = await workspaceWith('ephemeral', { 'versions.tf': REQUIREMENTS })
  expect(await iac.run('init', scoped(path))).toMatchObject({ exit_code: 0 })
  const names = await iac.schema({ workspace_path: path })
  const ephemeral = Object.values(names?.providers ?? {}).flatMap(({ ephemeral_types }) => ephemeral_types)
  expect(ephemeral).toEqual(expect.arrayContaining(['random_password', 'tls_private_key']))
  const parts = await iac.schema({ workspace_path: path, ephemeral_types: ['random_password'] })
  const [random] = Object.values(parts?.providers ?? {})
  expect(Object.keys(random?.resource_schemas ?? {})).toEqual([])
  expect(readBlock(random?.ephemeral_resource_schemas.random_password)?.attributes).toMatchObject({
    length: { required: true },
    result: { computed: true, sensitive: true },
  })
})

it.each(
  [
    ['http', 'data "http" "x" {\n  url = "http://127.0.0.1:1/"\n}\n', 'this machine'],
    ['tls', 'data "tls_certificate" "x" {\n  url = "https://127.0.0.1:1"\n}\n', 'this machine'],
    ['local', 'resource "local_file" "x" {\n  filename = "/etc/x"\n  content = ""\n}\n', 'absolute'],
  ].filter(([name = '']) => has(name)) as [string, string, string][],
)('what leaves the workspace is refused: %s', async (_, text, why) => {
  const path = await workspaceWith(crypto.randomUUID(), { 'versions.tf': REQUIREMENTS, 'main.tf': text })
  const { exit_code, stderr } = await iac.run('init', scoped(path))
  expect(exit_code).not.toBe(0)
  expect(stderr).toContain(why)
})
