import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readKey } from 'openpgp'
import { expect, it } from 'vitest'
import { verifySignature } from '../../../dev/engine/download.ts'
import { createKey } from './releases.ts'

const bytes = async (path: string) => new Uint8Array(await readFile(join(import.meta.dirname, path)))
const KEY = '../../../dev/engine/opentofu.asc'
/** The list that OpenTofu has published for its version 1.8.5. */
const LIST = 'fixtures/tofu_1.8.5_SHA256SUMS'
const text = async (path: string) => new TextDecoder().decode(await bytes(path))

it('the key is the one whose fingerprint the project publishes', async () => {
  const key = await readKey({ armoredKey: await text(KEY) })
  expect(key.getFingerprint().toUpperCase()).toBe('E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80')
  expect(key.isPrivate()).toBe(false)
})

it('the list of a real release carries the signature of that key', async () => {
  await verifySignature(await bytes(LIST), await bytes(`${LIST}.gpgsig`), await text(KEY))
})

it.each([
  'one digit of it is another',
  'something follows it',
  'it is empty',
])('the list of a real release is refused when %s', async (how) => {
  const list = await bytes(LIST)
  if (how === 'one digit of it is another') list[0] = (list[0] as number) ^ 1
  const changed = { 'something follows it': new Uint8Array([...list, 10]), 'it is empty': new Uint8Array() }[how]
  await expect(verifySignature(changed ?? list, await bytes(`${LIST}.gpgsig`), await text(KEY))).rejects.toThrow(
    /Signed digest did not match/,
  )
})

it('a signature of another key is refused, and what is no signature', async () => {
  const other = await createKey()
  const list = await bytes(LIST)
  await expect(verifySignature(list, await bytes(`${LIST}.gpgsig`), other.publicKey)).rejects.toThrow(/key/i)
  const foreign = new Uint8Array(await other.sign(Buffer.from(list)))
  await expect(verifySignature(list, foreign, await text(KEY))).rejects.toThrow(/key/i)
  for (const rubbish of [new Uint8Array(), new Uint8Array(566), (await bytes(`${LIST}.gpgsig`)).subarray(0, 200)])
    await expect(verifySignature(list, new Uint8Array(rubbish), await text(KEY))).rejects.toThrow()
})
