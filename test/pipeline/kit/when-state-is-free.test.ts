import { describe, expect, it } from 'vitest'
import { planTargets } from '../../../pipeline/steps/plan/plan.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { calmEngine, createSteps, type EngineScript } from '../steps/support.ts'

const steps = startOnce(createSteps)

const TITLE = `╷
│ Error: Error acquiring the state lock
│ 
│ Error message: operation error S3: PutObject, https response error`
const REFUSED = `${TITLE} StatusCode: 403, api error AccessDenied: no`
const GONE = `${TITLE} StatusCode: 412, api error PreconditionFailed: the object exists
│ Unable to retrieve item from S3: NoSuchKey`
const HELD = `Error: Error acquiring the state lock

Error message: resource temporarily unavailable
Lock Info:
  ID:        ada62244-0648-236f-0f08-6e882bc31eda
  Operation: OperationTypeApply
`

/** Makes plans fail this way until the given one. */
const locked =
  (stderr: string, until: number): EngineScript =>
  (job, number) =>
    job.kind === 'plan' && number < until ? { exit_code: 1, stderr } : calmEngine()(job, number)

describe('a plan while another round holds the lock of the state', () => {
  it.each([
    ['named', HELD],
    ['gone already', GONE],
  ])('is asked for again until the lock is free, its holder being %s, without another init or validate', async (_, stderr) => {
    const { kit, jobs } = await steps.world({ engine: locked(stderr, 3) })
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

  it('is feedback as any other when the backend refuses the lock to everybody', async () => {
    const { kit, jobs } = await steps.world({ engine: locked(REFUSED, 2) })
    expect(await planTargets(kit, [])).toMatchObject({ ok: false, feedback: REFUSED })
    expect(jobs.filter(({ kind }) => kind === 'plan')).toHaveLength(1)
  })
})
