import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { describeState } from '../../../pipeline/workspace/backend-override.ts'
import { storageConfig } from '../../data/storage/config.ts'
import { fakeEngine, SCOPE, startTestService, temporaryFolder } from '../../sidecars/iac/service.ts'
import { attack } from './attack.ts'
import { attackSandbox, BOXED } from './sandboxed.ts'

const GROUP = 'keys of the state store'
const OVERRIDE = 'terraform {\n  backend "s3" {\n    bucket = "b"\n    key = "k"\n    region = "r"\n  }\n}\n'
const ELSEWHERE = 'terraform {\n  backend "gcs" {\n    bucket = "b"\n  }\n}\n'
const LOCAL = 'terraform {\n  backend "local" {}\n}\n'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

attackSandbox(GROUP, 'an engine rewrites the override file, to get the keys of another cloud next time', async () => {
  const folder = await temporaryFolder()
  const service = await startTestService({
    ...BOXED,
    IAC_BINARY: await fakeEngine(folder),
    AWS_SECRET_ACCESS_KEY: 'secret-of-the-session-4711',
    GOOGLE_CREDENTIALS: 'secret-of-another-cloud-0815',
  })
  try {
    const files = { 'backend_override.tf': OVERRIDE, 'command.sh': 'env | cut -d= -f1; cp evil backend_override.tf' }
    const workspace_path = await service.workspace({ ...files, evil: ELSEWHERE })
    const plan = async (more: object = {}): Promise<string> =>
      (await service.run('/v1/plan', { workspace_path, ...SCOPE, plan_file: 'session.plan', ...more })).result.stdout
    const names = [await plan(), await plan()]
    expect(await readFile(join(workspace_path, 'backend_override.tf'), 'utf8')).toBe(ELSEWHERE)
    for (const shown of names) {
      expect(shown).toContain('AWS_SECRET_ACCESS_KEY')
      expect(shown).not.toContain('GOOGLE_CREDENTIALS')
    }
    // The worker alone says which cloud the state needs.
    expect(await plan({ state: { cloud: 'gcp', override_sha256: sha256(OVERRIDE) } })).toContain('GOOGLE_CREDENTIALS')
    return 'the cloud of the state comes from the request; nothing in the workspace changes it'
  } finally {
    await service.close()
  }
})

attack(GROUP, 'an engine rewrites the override file, to send the state to this machine', async () => {
  const service = await startTestService()
  try {
    const state = { cloud: null, override_sha256: sha256(OVERRIDE) }
    const workspace_path = await service.workspace({
      'main.tf': '',
      'backend_override.tf': OVERRIDE.replace('region =', 'endpoints = { s3 = "http://127.0.0.1:1" }\n    region ='),
    })
    const { result } = await service.run('/v1/init', { workspace_path, ...SCOPE, state })
    expect(result).toMatchObject({ exit_code: 1, stdout: '' })
    expect(result.stderr).toContain('backend_override.tf line 5')
    return result.stderr
  } finally {
    await service.close()
  }
})

attack(
  GROUP,
  'an engine rewrites the recorded backend, so that another state is copied into the managed one',
  async () => {
    const service = await startTestService()
    try {
      const state = { cloud: null, override_sha256: sha256(LOCAL) }
      const workspace_path = await service.workspace({ 'main.tf': '', 'backend_override.tf': LOCAL })
      const first = await service.run('/v1/init', { workspace_path, ...SCOPE, state })
      expect(first.result.exit_code).toBe(0)
      const recorded = join(workspace_path, '.terraform', 'terraform.tfstate')
      const config = { address: 'http://169.254.169.254/latest/user-data' }
      await writeFile(recorded, JSON.stringify({ version: 3, backend: { type: 'http', config, hash: 1 } }))
      const { result } = await service.run('/v1/init', { workspace_path, ...SCOPE, state, migrate_state: true })
      expect(result).toMatchObject({ exit_code: 1, stdout: '' })
      expect(result.stderr).toContain('the metadata of the cloud')
      return result.stderr
    } finally {
      await service.close()
    }
  },
)

attackSandbox(GROUP, 'a repository declares a backend of another cloud in a session that keeps it', async () => {
  const folder = await temporaryFolder()
  const service = await startTestService({
    ...BOXED,
    IAC_BINARY: await fakeEngine(folder),
    AWS_SECRET_ACCESS_KEY: 'secret-of-another-cloud-0815',
  })
  try {
    const files = { 'main.tf': OVERRIDE, 'command.sh': 'env | cut -d= -f1' }
    const workspace_path = await service.workspace(files)
    const workspace = { uri: 'https://git.example.com/a/b', branch: 'main', root_path: null }
    const scope = { scope_id: 'cluster', provider: 'kubernetes' as const }
    const kept = await describeState({ storage: storageConfig() }, { ...scope, workspace, state_choice: 'keep' })
    const body = { workspace_path, scope_id: 'cluster', engine_provider: 'kubernetes', ...kept }
    const plan = await service.run('/v1/plan', { ...body, plan_file: 'session.plan' })
    expect(plan.result.stdout).toContain('PATH')
    expect(plan.result.stdout).not.toContain('AWS_SECRET_ACCESS_KEY')
    return 'the engine gets the credentials of the cloud of the session alone'
  } finally {
    await service.close()
  }
})
