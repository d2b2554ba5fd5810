import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readLockFile } from '../../../../sidecars/iac/schema/job.ts'
import { temporaryFolder } from '../service.ts'

const SOURCE = 'registry.terraform.io/hashicorp/aws'

async function versions(text: string) {
  const folder = await temporaryFolder()
  await writeFile(join(folder, '.terraform.lock.hcl'), text)
  const lock = await readLockFile(folder, { name: 'terraform', version: '1.11.4', binary: 'terraform' })
  return [...(lock?.versions ?? [])]
}

it.each(['\n  ', ' \r\n\t', '\n\n\n'])('finds the version behind blanks: %j', async (blanks) => {
  expect(await versions(`provider "${SOURCE}" {${blanks}version     = "5.1.0"\n}\n`)).toEqual([[SOURCE, '5.1.0']])
})

it('takes blanks that never end in reasonable steps', async () => {
  expect(await versions(`provider "${SOURCE}" {${'\n'.repeat(1_000_000)}`)).toEqual([])
})
