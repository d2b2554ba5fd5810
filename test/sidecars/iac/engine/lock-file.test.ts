import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createChecksums } from '../../../../sidecars/iac/engine/lock-file.ts'
import { temporaryFolder } from '../service.ts'

const SOURCE = 'registry.terraform.io/hashicorp/null'
const H1 = `h1:${'a'.repeat(43)}=`
const ZH = ['0', '1'].map((digit) => `zh:${digit.repeat(64)}`)
const entry = (hashes: readonly string[], version = '3.2.3') =>
  `provider "${SOURCE}" {\n  version     = "${version}"\n  constraints = "~> 3.0"\n` +
  `  hashes = [\n${hashes.map((hash) => `    "${hash}",\n`).join('')}  ]\n}\n`
const HEAD = '# This file is maintained automatically by "terraform init".\n\n'

async function world() {
  const [cache, workspace] = [await temporaryFolder(), await temporaryFolder()]
  const lock = join(workspace, '.terraform.lock.hcl')
  const checksums = createChecksums(cache)
  await writeFile(lock, HEAD + entry([H1, ...ZH]))
  await checksums.remember(workspace, [{ source: SOURCE, version: '3.2.3' }])
  return { checksums, workspace, lock, read: () => readFile(lock, 'utf8') }
}

it('completes a new entry by the checksums of the download', async () => {
  const { checksums, workspace, lock, read } = await world()
  const other = entry([H1]).replace('null', 'random')
  await writeFile(lock, HEAD + other + entry([H1]))
  await checksums.complete(workspace, HEAD + other)
  expect(await read()).toBe(HEAD + other + entry([H1, ...ZH]))
})

it.each([
  ['that the lock file had before', entry([H1]), entry([H1])],
  ['of another version', entry([H1], '3.2.2'), ''],
  ['with a checksum that the download did not have', entry([`h1:${'b'.repeat(43)}=`]), ''],
  ['in a form that the engine does not write', entry([H1]).replaceAll('  ', '\t'), ''],
])('leaves an entry %s', async (_, text, before) => {
  const { checksums, workspace, lock, read } = await world()
  await writeFile(lock, text)
  await checksums.complete(workspace, before)
  expect(await read()).toBe(text)
})

it('follows no link', async () => {
  const { checksums, workspace, lock } = await world()
  const outside = join(await temporaryFolder(), 'file')
  await writeFile(outside, entry([H1]))
  await writeFile(`${lock}.old`, '')
  const linked = join(await temporaryFolder(), '.terraform.lock.hcl')
  await symlink(outside, linked)
  await checksums.complete(join(linked, '..'), '')
  expect(await readFile(outside, 'utf8')).toBe(entry([H1]))
  expect(workspace).not.toBe('')
})
