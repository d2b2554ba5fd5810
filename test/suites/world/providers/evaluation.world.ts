import { afterAll, beforeAll, expect, it } from 'vitest'
import { ownReferences } from '../iac-eval/cases.ts'
import { describeFound, type Proof, startProof } from '../iac-eval/proof.ts'

const providers = (process.env.WORLD_PROVIDERS ?? '').split(',')
const references = await ownReferences(providers)
let proof: Proof

beforeAll(async () => {
  proof = await startProof(references, process.env.WORLD_MIRROR)
})
afterAll(() => proof?.stop())

it.each(references)('the evaluation plays $scenario.name', (reference) => proof.of(reference))

it('its scenarios agree with their references, one of each provider, and see every planted fault', () => {
  console.log(describeFound(proof.found))
  const { agreed, different, missed, left } = proof.found
  expect({ different, missed, left: [...left.keys()] }).toEqual({ different: [], missed: [], left: [] })
  expect(agreed.map((name) => name.split('/')[0]).sort()).toEqual([...providers].sort())
})
