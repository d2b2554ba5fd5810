import { beforeAll, expect, it } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { createIacClient } from '../../../src/services/iac/client.ts'
import type { IacClient } from '../../../src/services/iac/contract.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { startTestService, TOKEN } from '../../sidecars/iac/service.ts'

const SCOPED = { scope_id: 's', engine_provider: 'kubernetes' as const }
const service = startOnce(startTestService)
let client: IacClient
beforeAll(() => {
  const limits = { timeout: 30, job_poll_interval: 5, job_timeout: 60 }
  const config = { endpoint: service.url, token_env: 'T', token: TOKEN, ...limits }
  client = createIacClient(config, { fetch, log: silentLogger })
})

it('plans and applies through the bundled sidecar', async () => {
  const workspace_path = await service.workspace({
    'main.tf': 'resource "terraform_data" "a" {\n  input = "ä \\" €"\n}\n',
  })
  expect(await client.healthy()).toBe(true)
  expect(await client.engine()).toMatchObject({ version: expect.stringMatching(/^\d/) })
  expect((await client.run('init', { workspace_path, ...SCOPED })).exit_code).toBe(0)
  expect((await client.run('validate', { workspace_path })).exit_code).toBe(0)
  expect((await client.run('plan', { workspace_path, ...SCOPED, plan_file: 'p.plan', targets: [] })).exit_code).toBe(0)
  const shown = await client.run('show', { workspace_path, plan_file: 'p.plan' })
  expect(JSON.parse(shown.stdout).resource_changes[0].change.after.input).toBe('ä " €')
  expect((await client.run('apply', { workspace_path, ...SCOPED, plan_file: 'p.plan' })).exit_code).toBe(0)
  expect(JSON.parse((await client.run('state_resource_ids', { workspace_path })).stdout)).toHaveLength(1)
  expect(await client.run('scope_resource_ids', { workspace_path, ...SCOPED })).toMatchObject({
    exit_code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^no Kubernetes cluster configured/),
  })
})

it('a missing workspace is told without its path', async () => {
  const error = await client.run('validate', { workspace_path: '/none/of/it' }).catch((cause) => cause)
  expect(error).toMatchObject({ status: 502 })
  expect(error.message).not.toContain('/none')
})
