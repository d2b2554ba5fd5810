import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../../../eval/emulator.ts'
import { fits } from '../../../../src/rules/intent/glob.ts'
import { dataSetReferences } from './cases.ts'
import { type OwnPlans, startOwnPlans, type Verdict } from './own-plan.ts'
import { describeFound, type Proof, startProof } from './proof.ts'

const { WORLD_CI, WORLD_IAC_EVAL_DATA = '', WORLD_IAC_EVAL_ONLY = '*', WORLD_IAC_EVAL_VERDICTS = '' } = process.env
const { WORLD_IAC_EVAL_COUNTERPART = '', WORLD_MIRROR, WORLD_MOTO } = process.env

/**
 * The short form: a case of each difficulty. The second is wrong by its own policy; the fourth to sixth look up zones
 * and images, and the policies of two of them ask for the region; in the last, providers have aliases.
 */
const SAMPLE = ['d1-case_171', 'd2-case_119', 'd3-case_247', 'd4-case_131', 'd5-case_211', 'd6-case_201', 'd6-case_003']
  .map((name) => `iac-eval/${name}`)
  .join('|')
/** The share of the references that can be planned which meet their own policy, at least. */
const RIGHT = 0.7
/** The share of the references that a round and its judge have to leave as right or wrong as they are. */
const AGREEMENT = 0.97

const all = await dataSetReferences(WORLD_IAC_EVAL_DATA)
const chosen = all.filter(({ scenario }) => fits(WORLD_CI ? SAMPLE : WORLD_IAC_EVAL_ONLY, scenario.name))
const verdicts = new Map<string, Verdict>()
const running = new AbortController()
let folder: string
let emulator: Emulator | null = null
let plans: OwnPlans

describe.skipIf(chosen.length === 0)('the solutions of the data set, odd numbers', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'world-data-set-'))
    emulator = WORLD_MOTO ? await startEmulator(folder, running.signal) : null
    plans = await startOwnPlans({
      ...{ folder, counterpart: WORLD_IAC_EVAL_COUNTERPART, kept: WORLD_IAC_EVAL_VERDICTS, signal: running.signal },
      emulator_url: emulator?.url ?? null,
    })
  })
  afterAll(async () => {
    await emulator?.close()
    await rm(folder, { recursive: true, force: true })
  })

  it.each(chosen)('$scenario.name by its own plan', { timeout: 300_000 }, async (reference) => {
    const verdict = await plans.of(reference)
    verdicts.set(reference.scenario.name, verdict)
    expect(verdict.fault ?? 'planned').not.toMatch(/panic|crash/)
  })

  it('meet their own policies, most of them', () => {
    const planned = [...verdicts.values()].filter(({ fault }) => fault === null)
    const right = planned.filter(({ failures }) => failures.length === 0)
    console.log(`${right.length} of ${planned.length} meet their policy; ${verdicts.size - planned.length} not planned`)
    for (const { name, fault } of verdicts.values()) if (fault !== null) console.log(`  not planned: ${name}: ${fault}`)
    expect(right.length / planned.length).toBeGreaterThanOrEqual(RIGHT)
  })

  describe('in a round', () => {
    let proof: Proof
    beforeAll(async () => {
      proof = await startProof(chosen, WORLD_MIRROR, {}, emulator?.url)
    }, 300_000)
    afterAll(() => proof?.stop())

    it.each(chosen)('$scenario.name', { timeout: 300_000 }, async (reference) => {
      const { fault, failures } = verdicts.get(reference.scenario.name) ?? expect.fail('it was not planned before')
      if (fault === null) await proof.of(reference, failures)
      else proof.found.left.set(reference.scenario.name, fault)
    })

    it('are judged by the evaluation as by their own plans', () => {
      const { agreed, different } = proof.found
      console.log(describeFound(proof.found))
      expect(agreed.length / (agreed.length + different.length)).toBeGreaterThanOrEqual(AGREEMENT)
    })
  })
})
