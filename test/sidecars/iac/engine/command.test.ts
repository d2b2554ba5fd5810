import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { engineEnvironment, withoutMissingCliConfig } from '../../../../sidecars/iac/engine/command.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { SCOPE, startFakeService, temporaryFolder, temporaryFolderWith } from '../service.ts'

describe('environment of an engine', () => {
  const of = (options: Partial<Parameters<typeof engineEnvironment>[3]>, env = {}) =>
    engineEnvironment(
      { IAC_OFFLINE: 'true', HTTPS_PROXY: 'http://proxy:1', ...env },
      'init',
      { workspace_path: '/w' },
      { cliConfig: null, offline: false, offlineHosts: '', pluginCache: null, ...options },
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

const lines: string[] = []
const log = createLogger({ write: (line) => lines.push(JSON.parse(line).message) })

async function kept(env: Record<string, string>) {
  lines.length = 0
  return { env: await withoutMissingCliConfig(env, log), lines: [...lines] }
}

describe('the configuration of the engine itself', () => {
  it('is kept when it is a file', async () => {
    const file = join(await temporaryFolderWith({ 'engine.tfrc': '' }), 'engine.tfrc')
    for (const path of [file, '/dev/null'])
      expect(await kept({ TF_CLI_CONFIG_FILE: path, A: 'b' })).toEqual({
        env: { TF_CLI_CONFIG_FILE: path, A: 'b' },
        lines: [],
      })
  })

  it('is left out and told once when there is no such file', async () => {
    const folder = await temporaryFolder()
    for (const path of [join(folder, 'none.tfrc'), folder])
      expect(await kept({ TF_CLI_CONFIG_FILE: path, A: 'b' })).toEqual({
        env: { A: 'b' },
        lines: ['TF_CLI_CONFIG_FILE names no file; engines run without it'],
      })
    expect(await kept({ TERRAFORM_CONFIG: 'engine.tfrc' })).toEqual({
      env: {},
      lines: ['TERRAFORM_CONFIG must be an absolute path; engines run without it'],
    })
    expect(await kept({ TF_CLI_CONFIG_FILE: ' ' })).toEqual({ env: {}, lines: [] })
  })

  it('is told at the start of the service, and no job hears of it', async () => {
    const folder = await temporaryFolder()
    const service = await startFakeService({ TF_CLI_CONFIG_FILE: join(folder, 'none.tfrc') })
    const told = () => service.log.filter((line) => line.includes('TF_CLI_CONFIG_FILE names no file'))
    expect(told()).toHaveLength(1)
    const files = { 'main.tf': '', 'command.sh': 'echo "config: $TF_CLI_CONFIG_FILE."' }
    const workspace_path = await service.workspace(files)
    const job = await service.run('/v1/init', { workspace_path, ...SCOPE })
    expect(JSON.stringify(job)).toContain('config: .')
    expect(told()).toHaveLength(1)
  })
})
