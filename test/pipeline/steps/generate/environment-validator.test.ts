import { describe, expect, it } from 'vitest'
import {
  createEnvironmentValidator,
  type EnvironmentResult,
} from '../../../../pipeline/steps/generate/plan-environments.ts'
import type { Validation } from '../../../../pipeline/steps/generator/generate-and-validate.ts'
import type { ValidPlan } from '../../../../pipeline/steps/plan/plan.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { readBlocks } from '../../../prompts/blocks.ts'
import { createSteps, validPlan } from '../support.ts'

const steps = startOnce(createSteps)

/** Runs attempts with this verdict of the validator, and counts how often the environments were requested. */
async function attempts(count: number, verdict: EnvironmentResult['verdict'], maxAttempts = 5, valid = true) {
  const world = await steps.world()
  let asked = 0
  const environment = { path: 'prod.tfvars', text: '', names: [], before: new Map() }
  const result: EnvironmentResult = { environment, verdict, facts: 'odd', output: 'Error: odd' }
  const plan: Validation<ValidPlan> = valid
    ? { ok: true, text: 't', targets: ['a.b'], value: validPlan(world, []) }
    : { ok: false, text: 't', targets: ['a.b'], feedback: 'own' }
  const check = {
    results: async () => {
      asked++
      return [result]
    },
    notes: async () => [],
  }
  const validate = createEnvironmentValidator(world.kit, check, { validate: async () => plan, maxAttempts })
  const answers: Validation<ValidPlan>[] = []
  for (let index = 0; index < count; index++) answers.push(await validate())
  return { answers, asked }
}

describe('createEnvironmentValidator', () => {
  it('sends a plan back once that breaks an environment, as data and good enough', async () => {
    const { answers } = await attempts(2, 'broken')
    expect(answers.map(({ ok }) => ok)).toEqual([false, true])
    const [first] = answers
    if (!first || first.ok) throw new Error('the first attempt is accepted')
    expect(first).toMatchObject({ targets: ['a.b'], feedback: 'With prod.tfvars:\nError: odd' })
    const query = first.goodEnough?.writeQuery(first.feedback) ?? ''
    expect(readBlocks(query).map(({ content }) => content.trim())).toEqual([first.feedback])
    expect(await first.goodEnough?.validateAgain()).toMatchObject({ ok: true, targets: ['a.b'] })
  })

  it.each(['valid', 'failing', 'unknown'] as const)('accepts an environment that is %s', async (verdict) => {
    expect((await attempts(1, verdict)).answers[0]?.ok).toBe(true)
  })

  it('accepts the last attempt without asking', async () => {
    expect(await attempts(1, 'broken', 1)).toMatchObject({ answers: [{ ok: true }], asked: 0 })
  })

  it('passes a failure of the plan itself on', async () => {
    expect(await attempts(1, 'broken', 5, false)).toMatchObject({ answers: [{ feedback: 'own' }], asked: 0 })
  })
})
