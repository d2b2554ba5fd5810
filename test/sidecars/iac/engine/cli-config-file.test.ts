import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withoutMissingCliConfig } from '../../../../sidecars/iac/engine/command.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { fakeEngine, startTestService, temporaryFolder, temporaryFolderWith } from '../service.ts'

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
    const engine = await fakeEngine(folder)
    const service = await startTestService({ IAC_BINARY: engine, TF_CLI_CONFIG_FILE: join(folder, 'none.tfrc') })
    try {
      const told = () => service.log.filter((line) => line.includes('TF_CLI_CONFIG_FILE names no file'))
      expect(told()).toHaveLength(1)
      const workspace_path = await service.workspace({
        'main.tf': '',
        'command.sh': 'echo "config: $TF_CLI_CONFIG_FILE."',
      })
      const job = await service.run('/v1/init', { workspace_path, scope_id: 'scope-1', engine_provider: 'aws' })
      expect(JSON.stringify(job)).toContain('config: .')
      expect(told()).toHaveLength(1)
    } finally {
      await service.close()
    }
  })
})
