import { afterEach, describe, expect, it, vi } from 'vitest'
import { submitOnce } from '../../../../pipeline/steps/apply/run-once.ts'
import type { Sql } from '../../../../src/data/db/sql.ts'
import { readApplyProgress } from '../../../../src/rounds/applies.ts'
import { claimProject, recordSavedPlan } from '../../../../src/rounds/transitions.ts'
import type { SavedPlan } from '../../../../src/saved-plans/saved-plan.ts'
import { SAVED_PLAN } from '../../../helpers/sessions.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { createSteps, type StepWorld } from '../support.ts'

const steps = startOnce(createSteps)
afterEach(() => {
  vi.restoreAllMocks()
})

const DIRECTORY = { clone: '/pinned', iacRoot: '/pinned/live' }

/** Makes a round that holds its project and its reviewed plan and can submit the job. */
async function ready(): Promise<{ world: StepWorld; seal: SavedPlan }> {
  const world = await steps.world()
  const { round } = world.run
  const seal: SavedPlan = { ...SAVED_PLAN, project_id: `project-${round.id}`, round_id: round.id }
  await recordSavedPlan(steps.database.sql, round, seal)
  await claimProject(steps.database.sql, round, seal.project_id)
  return { world, seal }
}

const progressOf = ({ run }: StepWorld) => readApplyProgress(steps.database.sql, run.round.id)

/** Wraps a connection so that recording the job of an apply fails this many times. */
function failingToRecord(sql: Sql, times: number): Sql {
  let left = times
  return new Proxy(sql, {
    apply: (target, self, args: Parameters<Sql>) => {
      const records = Array.isArray(args[0]) && args[0].join('').includes('SET job_id =')
      if (records && left-- > 0) return Promise.reject(new Error('the database is away'))
      return Reflect.apply(target, self, args)
    },
  })
}

/** Pauses between the attempts, in milliseconds. Other timers, such as those of the database, run as they are. */
const PAUSES = [250, 1_000, 2_000]

/** Submits with a database that fails this many times; the pauses between attempts are noted and left out. */
async function submitWith({ world, seal }: Awaited<ReturnType<typeof ready>>, failures: number) {
  const { run } = world
  run.context.sql = failingToRecord(steps.database.sql, failures)
  const pauses: number[] = []
  const setTimer = globalThis.setTimeout
  const shorten = () =>
    void vi.spyOn(globalThis, 'setTimeout').mockImplementation(((callback: () => void, ms: number) => {
      const isPause = PAUSES.includes(ms)
      if (isPause) pauses.push(ms)
      return setTimer(callback, isPause ? 0 : ms)
    }) as typeof setTimeout)
  const [submitted] = await Promise.allSettled([submitOnce(run, seal, DIRECTORY, shorten)])
  vi.restoreAllMocks()
  return { submitted, pauses }
}

describe('the one job of an apply round', () => {
  it.each([
    [0, []],
    [1, [250]],
    [3, PAUSES],
  ])('is recorded although the database failed %d times in a row', async (failures, expected) => {
    const { world, seal } = await ready()
    const { submitted, pauses } = await submitWith({ world, seal }, failures)
    expect(await progressOf(world)).toMatchObject({ intended: true, job_id: Reflect.get(submitted, 'value') })
    const body = { workspace_path: '/pinned/live', plan_file: 'session.plan' }
    expect(world.jobs).toMatchObject([{ kind: 'apply', body }])
    expect(pauses).toEqual(expected)
  })

  it.each([
    [true, 'a'.repeat(64)],
    [false, undefined],
  ])('names the hash of the reviewed plan where the service can check it (%s)', async (offered, expected) => {
    const { world, seal } = await ready()
    world.run.context.iac.offers = async (addition) => addition === 'plan_sha256' && offered
    await submitOnce(world.run, seal, DIRECTORY, () => {})
    expect(world.jobs[0]?.body.plan_sha256).toBe(expected)
  })

  it('is not submitted when it cannot be told whether the service checks the hash', async () => {
    const { world, seal } = await ready()
    world.run.context.iac.offers = () => Promise.reject(new Error('unreachable'))
    await expect(submitOnce(world.run, seal, DIRECTORY, () => {})).rejects.toThrow('unreachable')
    expect(world.jobs).toEqual([])
    expect((await progressOf(world)).intended).toBe(false)
  })

  it('is not submitted a second time when it cannot be recorded at all', async () => {
    const { world, seal } = await ready()
    const { submitted } = await submitWith({ world, seal }, 4)
    expect(submitted).toMatchObject({ status: 'rejected', reason: { message: 'the database is away' } })
    expect(world.jobs).toHaveLength(1)
    expect(await progressOf(world)).toMatchObject({ intended: true, job_id: null })
  })
})
