import { describe, expect, it } from 'vitest'
import { findForeignProviders, renderCliConfig } from '../../../../sidecars/iac/limits/providers.ts'
import { lockFileOf, temporaryFolderWith } from '../service.ts'

describe('allowed providers', () => {
  it.each([
    [['hashicorp/*'], 'registry.terraform.io/hashicorp/aws', true],
    [['hashicorp/aws'], 'registry.opentofu.org/hashicorp/aws', true],
    [['hashicorp/aws'], 'registry.terraform.io/hashicorp/google', false],
    [['hashicorp/*'], 'evil.example.com/hashicorp/aws', false],
    [['*/*'], 'evil.example.com/hashicorp/aws', false],
    [['mirror.example.com/*/*'], 'mirror.example.com/team/thing', true],
    [['mirror.example.com/*/*'], 'registry.terraform.io/team/thing', false],
    [['hashicorp/a'], 'terraform.io/builtin/terraform', true],
    [[], 'evil.example.com/x/y', true],
  ])('%j and %s: %s', async (allowed, source, fine) => {
    const folder = await temporaryFolderWith({ '.terraform.lock.hcl': lockFileOf(source) })
    expect(await findForeignProviders(folder, allowed)).toEqual(fine ? [] : [source])
  })

  it.each([
    '/* */ provider "evil.example.com/x/y" {\n}',
    'provider /* " */ "evil.example.com/x/y" {\n}',
    '# "\nprovider /**/ "evil.example.com/x/y" {\n}',
    'provider "evil.example.com\\u002fx\\u002fy" {\n}',
  ])('are found in a lock file of any form: %j', async (text) => {
    const folder = await temporaryFolderWith({ '.terraform.lock.hcl': text })
    expect(await findForeignProviders(folder, ['hashicorp/*'])).not.toEqual([])
  })

  it('are not mixed up with versions and hashes', async () => {
    const hashes =
      `  constraints = "~> 5.0"\n  hashes = [\n    "h1:${'a/+'.repeat(14)}b=",\n    "zh:${'0a'.repeat(32)}",\n` +
      '  ]\n'
    const text =
      '# by "terraform init".\n' +
      'provider "registry.terraform.io/hashicorp/aws" {\n  version = "5.1.0"\n' +
      `${hashes}}\n`
    const folder = await temporaryFolderWith({ '.terraform.lock.hcl': text })
    expect(await findForeignProviders(folder, ['hashicorp/*'])).toEqual([])
  })

  it('are enforced by the engine where it installs', () => {
    expect(renderCliConfig({ allowed: [], mirror: '', offline: false })).toBeNull()
    expect(renderCliConfig({ allowed: ['hashicorp/*', 'a/b'], mirror: '', offline: false })).toBe(
      'provider_installation {\n  direct {\n    include = ["hashicorp/*", "a/b"]\n  }\n}\ndisable_checkpoint = true\n',
    )
    expect(renderCliConfig({ allowed: [], mirror: '/mirror', offline: true })).toBe(
      'provider_installation {\n  filesystem_mirror {\n    path = "/mirror"\n  }\n}\ndisable_checkpoint = true\n',
    )
    expect(renderCliConfig({ allowed: [], mirror: '/mirror', offline: false }, ['a.b/c/d'])).toBe(
      'provider_installation {\n  filesystem_mirror {\n    path = "/mirror"\n  }\n' +
        '  direct {\n    exclude = ["a.b/c/d"]\n  }\n}\ndisable_checkpoint = true\n',
    )
  })
})
