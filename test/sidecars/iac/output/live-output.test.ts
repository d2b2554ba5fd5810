import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readLiveOutput } from '../../../../sidecars/iac/output/masking.ts'
import { temporaryFolder } from '../service.ts'

const SECRET = 'credential-0123456789-0123456789-0123456789'

async function shown(text: string, bytes: number): Promise<string> {
  const folder = await temporaryFolder()
  const files = { stdout: join(folder, 'stdout'), stderr: join(folder, 'stderr') }
  await writeFile(files.stdout, text)
  return (await readLiveOutput(files, [SECRET], bytes)).stdout
}

it('shows whole lines without credentials', async () => {
  expect(await shown(`a\nkey ${SECRET}\nhalf of a li`, 1_000)).toBe('a\nkey (sensitive value)\n')
  expect(await shown('first\nsecond\nthird\n', 10)).toBe('third\n')
})

it('shows no part of a credential, however much shorter the marks of others make the text', async () => {
  const rest = `\n${`${SECRET}\n`.repeat(4)}last\n`
  const bytes = rest.length - 3
  for (let before = 0; before < SECRET.length; before++) {
    const text = await shown(`${'x'.repeat(500)}${SECRET}${rest}`, bytes + before)
    expect(text).not.toMatch(/\d{3}/)
    expect(text.endsWith('last\n')).toBe(true)
  }
})
