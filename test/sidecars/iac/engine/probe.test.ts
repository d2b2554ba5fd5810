import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { probeEngine } from '../../../../sidecars/iac/engine/find.ts'
import { silentLogger } from '../../../../src/base/log.ts'
import { temporaryFolder } from '../service.ts'

const probe = async (output: string) => {
  const binary = join(await temporaryFolder(), 'engine')
  await writeFile(binary, `#!/bin/sh\ncat <<'END'\n${output}\nEND\n`)
  await chmod(binary, 0o755)
  const { name, version } = await probeEngine(binary, { PATH: process.env.PATH }, silentLogger)
  return `${name} ${version}`
}

describe('the version of an engine', () => {
  it.each([
    ['OpenTofu v1.12.6\non linux_amd64', 'OpenTofu 1.12.6'],
    ['Terraform v1.11.4\non linux_amd64\n\nYour version is out of date!', 'Terraform 1.11.4'],
    ['\nWarning: Unable to open CLI configuration file\n\nIt does not exist.\nOpenTofu v1.12.6', 'OpenTofu 1.12.6'],
    ['something else', 'something else unknown'],
    ['', 'unknown unknown'],
  ])('is read from %j', async (output, expected) => {
    expect(await probe(output)).toBe(expected)
  })
})
