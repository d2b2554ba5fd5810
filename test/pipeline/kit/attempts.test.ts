import { expect, it } from 'vitest'
import { createStepTimes } from '../../../pipeline/kit/attempts.ts'

it('lists every step of the loop in order, with all of its runs and the outcome of the last one', async () => {
  let clock = 0
  const steps = createStepTimes(() => clock)
  const taking =
    (ms: number, isOk = true) =>
    async () => {
      clock += ms
      return isOk
    }
  await steps.measure('plan', taking(1000, false), Boolean)
  expect(steps.failed()).toBe('plan')
  await steps.measure('init', taking(250))
  await steps.measure('plan', taking(500), Boolean)
  expect(steps.failed()).toBeNull()
  await expect(
    steps.measure('generate', async () => {
      clock += 20
      throw new Error('no answer')
    }),
  ).rejects.toThrow('no answer')
  expect(steps.failed()).toBe('generate')
  expect(steps.read('generate')).toEqual([
    { name: 'generate', outcome: 'failed', seconds: 0.02, runs: 1 },
    { name: 'init', outcome: 'ok', seconds: 0.25, runs: 1 },
    { name: 'validate', outcome: 'skipped', seconds: 0, runs: 0 },
    { name: 'plan', outcome: 'ok', seconds: 1.5, runs: 2 },
    { name: 'show', outcome: 'skipped', seconds: 0, runs: 0 },
    { name: 'check', outcome: 'skipped', seconds: 0, runs: 0 },
  ])
  expect(steps.read('import').map(({ name }) => name)).toContain('import')
})
