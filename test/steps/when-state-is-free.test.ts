import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { planTargets } from '../../pipeline/steps/plan.ts'
import { calmEngine, createSteps, type EngineScript } from './support.ts'

let steps: Awaited<ReturnType<typeof createSteps>>
beforeAll(async () => {
  steps = await createSteps()
})
afterAll(() => steps.close())

const REFUSED = `╷
│ Error: Error acquiring the state lock
│ 
│ Error message: operation error S3: PutObject, https response error
│ StatusCode: 412, api error PreconditionFailed: the object exists`
const HELD = `${REFUSED}
│ Lock Info:
│   ID:        0d1f3c52-6a4f-1c3b-9a4a-0c8a7c1f2d3e
│   Operation: OperationTypePlan
│ `

/** Plans fail this way until the given one. */
const locked =
  (stderr: string, until: number): EngineScript =>
  (job, number) =>
    job.kind === 'plan' && number < until ? { exit_code: 1, stderr } : calmEngine()(job, number)

describe('a plan while another round holds the lock of the state', () => {
  it('is asked for again until the lock is free, without another init or validate', async () => {
    const { kit, jobs } = await steps.world({ engine: locked(HELD, 3) })
    expect(await planTargets(kit, [])).toMatchObject({ ok: true })
    expect(jobs.map(({ kind }) => kind)).toEqual(['init', 'validate', 'plan', 'plan', 'plan', 'show'])
  })

  it('ends the round, and asks no model for a repair, when the lock stays', async () => {
    const { kit, run } = await steps.world({ engine: locked(HELD, 1_000) })
    run.context.config.services.iac.job_timeout = 0.3
    await expect(planTargets(kit, [])).rejects.toMatchObject({
      status: 504,
      message: 'The engine state stayed locked by another run for 0.3s.',
    })
  })

  it('ends with the run', async () => {
    const { kit, run } = await steps.world({ engine: locked(HELD, 1_000) })
    const stopped = { ...kit, run: { ...run, signal: AbortSignal.abort(new Error('handed back')) } }
    await expect(planTargets(stopped, [])).rejects.toThrow()
  })

  it('is feedback as any other when the backend refuses the lock without a holder', async () => {
    const { kit, jobs } = await steps.world({ engine: locked(REFUSED, 2) })
    expect(await planTargets(kit, [])).toMatchObject({ ok: false, feedback: REFUSED })
    expect(jobs.filter(({ kind }) => kind === 'plan')).toHaveLength(1)
  })
})
