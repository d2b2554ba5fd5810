import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasOpa } from '../../../../eval/iac-eval.ts'
import { CLOUDS } from '../../../../src/base/vocabulary.ts'
import { ownReferences, publishedReferences } from './cases.ts'
import { describeFound, type Proof, startProof } from './proof.ts'

/** The share of the references that has to be judged as they are. */
const AGREEMENT = 0.97
const { WORLD_IAC_EVAL = '', WORLD_MIRROR } = process.env

const published = await publishedReferences(WORLD_IAC_EVAL)
const own = await ownReferences([...CLOUDS.filter((cloud) => cloud !== 'azure'), 'builtin'])
const folder = await mkdtemp(join(tmpdir(), 'world-iac-eval-'))
let proof: Proof

beforeAll(async () => {
  proof = await startProof([...published, ...own], WORLD_MIRROR, await madeUpAccount())
}, 300_000)
afterAll(async () => {
  await proof?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** The provider of this cloud reads a key before it plans; none of these four belongs to anybody. */
async function madeUpAccount(): Promise<Record<string, string>> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const path = join(folder, 'made-up.pem')
  await writeFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  return {
    OCI_TENANCY_OCID: 'ocid1.tenancy.oc1..example',
    OCI_USER_OCID: 'ocid1.user.oc1..example',
    OCI_FINGERPRINT: Array.from({ length: 16 }, () => 'ab').join(':'),
    OCI_PRIVATE_KEY_PATH: path,
  }
}

describe('the evaluation', () => {
  it('has what it needs', async () => {
    expect(await hasOpa()).toBe(true)
    expect(own.length).toBeGreaterThan(15)
    if (WORLD_IAC_EVAL) expect(published.length).toBeGreaterThan(8)
  })

  it.each([...published, ...own])('plays $scenario.name', { timeout: 300_000 }, (reference) => proof.of(reference))

  it('agrees with the references, and sees every planted fault', () => {
    const { agreed, different, missed, caught } = proof.found
    console.log(describeFound(proof.found))
    expect(agreed.length / (agreed.length + different.length)).toBeGreaterThanOrEqual(AGREEMENT)
    expect(missed).toEqual([])
    expect(caught.statements.length + caught.policy.length).toBeGreaterThanOrEqual(agreed.length)
  })
})
