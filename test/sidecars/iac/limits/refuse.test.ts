import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { measureDiskUse } from '../../../../sidecars/iac/limits/refuse.ts'
import { lockFileOf, SCOPE, startFakeService, temporaryFolderWith } from '../service.ts'

const service = await startFakeService({ IAC_ALLOWED_PROVIDERS: 'hashicorp/*', IAC_MAX_WORKSPACE_MIB: '1' })

describe('disk use', () => {
  it('counts files and follows no link', async () => {
    const folder = await temporaryFolderWith({ a: 'x'.repeat(1000) })
    await mkdir(join(folder, 'deep/er'), { recursive: true })
    await writeFile(join(folder, 'deep/er/b'), 'x'.repeat(500))
    await symlink('/usr', join(folder, 'link'))
    expect(await measureDiskUse(folder, 1e9)).toBe(1500)
    expect(await measureDiskUse(folder, 400)).toBeGreaterThanOrEqual(400)
    expect(await measureDiskUse(join(folder, 'missing'), 1e9)).toBe(0)
  })
})

describe('a restricted service', () => {
  const plan = (workspace_path: string) => service.run('/v1/plan', { workspace_path, plan_file: 'p.plan', ...SCOPE })

  it('runs no provider that is not allowed', async () => {
    const workspace = await service.workspace({
      'command.sh': 'echo ran',
      '.terraform.lock.hcl': lockFileOf('evil.example.com/x/y'),
    })
    const { result } = await plan(workspace)
    expect(result).toMatchObject({ exit_code: 1, stdout: '' })
    expect(result.stderr).toContain('evil.example.com/x/y')
  })

  it('gives the engine its configuration', async () => {
    const workspace = await service.workspace({
      'command.sh': 'cat "$TF_CLI_CONFIG_FILE"',
      '.terraform.lock.hcl': lockFileOf('registry.terraform.io/hashicorp/aws'),
    })
    expect((await plan(workspace)).result.stdout).toContain('include = ["hashicorp/*"]')
    expect(await readFile(join(service.folder, 'data/engine.tfrc'), 'utf8')).toContain('hashicorp')
  })

  it('does not plan what is too large', async () => {
    const workspace = await service.workspace({ 'command.sh': 'echo ran', large: 'x'.repeat(1024 * 1024) })
    expect((await plan(workspace)).result).toMatchObject({ exit_code: 1, stderr: expect.stringContaining('1 MiB') })
  })
})
