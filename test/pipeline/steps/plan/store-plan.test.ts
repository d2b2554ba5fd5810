import { describe, expect, it } from 'vitest'
import { completePlanDocument, storePlan } from '../../../../pipeline/steps/plan/store-plan.ts'
import { badGateway, PlatformError } from '../../../../src/base/errors.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { createSteps, type StepWorld, validPlan } from '../support.ts'

const steps = startOnce(createSteps)

const planOf = (world: StepWorld) => validPlan(world, [{ address: 'a.asked', actions: ['create'] }], ['a.asked'])
const keysOf = (world: StepWorld) => [...world.objects.keys()].filter((key) => key.startsWith('plans/'))
const documentOf = (world: StepWorld) => {
  const key = keysOf(world).find((name) => name.endsWith('.json'))
  return key === undefined ? null : JSON.parse(world.objects.get(key)?.body ?? '')
}
const rowsOf = (world: StepWorld) => steps.database.sql<{ document_artifact_id: number | null }[]>`
  SELECT document_artifact_id FROM engine_plans WHERE round_id = ${world.run.round.id}`

describe('the document of a plan', () => {
  it('stands beside the text, is written again after the review, and asks for the engine once', async () => {
    let asked = 0
    const world = await steps.world()
    world.run.context.iac.engine = async () => {
      asked++
      return { name: 'OpenTofu', version: '1.10.6' }
    }
    const plan = planOf(world)
    await storePlan(world.kit, { text: plan.text, targets: ['a.asked'], plan })
    expect(documentOf(world)).toMatchObject({ checked: { request: false }, outside_targets: null })
    await completePlanDocument(world.kit, plan, { beyond: { made: true, changes: [] }, checked: [] })
    expect(documentOf(world)).toMatchObject({
      engine: { name: 'OpenTofu', version: '1.10.6' },
      targets: ['a.asked'],
      resources: [expect.objectContaining({ address: 'a.asked', action: 'create' })],
      outside_targets: { made: true, changes: [] },
    })
    expect(keysOf(world)).toHaveLength(2)
    expect(await rowsOf(world)).toEqual([{ document_artifact_id: expect.any(Number) }])
    expect(asked).toBe(1)
  })

  it('is made without the name of the engine when the iac service does not answer', async () => {
    const world = await steps.world()
    world.run.context.iac.engine = async () => {
      throw badGateway('The iac service does not answer.')
    }
    const plan = planOf(world)
    await storePlan(world.kit, { text: plan.text, targets: [], plan })
    expect(documentOf(world)).toMatchObject({ engine: { name: null }, summary: { create: 1 } })
  })

  it('is left out when it cannot be stored: the text is there and the round goes on', async () => {
    const world = await steps.world()
    const { storage } = world.run.context
    const { put } = storage
    storage.put = async (key, body, options) => {
      if (key.endsWith('.json')) throw new PlatformError('StorageError', 502, 'The object store does not answer.')
      return await put(key, body, options)
    }
    const plan = planOf(world)
    await storePlan(world.kit, { text: plan.text, targets: [], plan })
    expect(keysOf(world)).toEqual([expect.stringMatching(/\.txt$/)])
    expect(await rowsOf(world)).toEqual([{ document_artifact_id: null }])
  })

  it('is not made of a plan that failed, nor of one without a text', async () => {
    const world = await steps.world()
    await storePlan(world.kit, { text: 'Error: no', targets: [] })
    await storePlan(world.kit, { text: '', targets: [], plan: planOf(world) })
    expect(keysOf(world)).toEqual([expect.stringMatching(/\.txt$/)])
  })
})
