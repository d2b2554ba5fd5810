import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Context } from '../../../src/context.ts'
import { STOPPING } from '../../../src/data/queue.ts'
import { claimForRun } from '../../../src/rounds/claim.ts'
import type { IacClient } from '../../../src/services/iac/contract.ts'
import { startOnce } from '../../helpers/start-once.ts'
import {
  applyJobs,
  applyReports,
  contextOf,
  DISCARDED,
  leftOfPlan,
  managedState,
  requestApply,
  sessionWithPlan,
  withNotifications,
} from './apply-world.ts'
import { dyingWorker, lapse, planPath, runWaiting, startStack } from './stack.ts'

const stack = startOnce(startStack)

/** Runs the waiting apply round with a worker that ends at one point, before the round is finished. */
async function interrupted(
  context: Context,
  uuid: string,
  at: 'before submission' | 'after submission' | 'while waiting' | 'while reporting',
  reason?: unknown,
) {
  const { signal, die } = dyingWorker(reason)
  const { iac } = context
  const dying: Partial<IacClient> = {
    'before submission': { submit: async () => die() },
    'after submission': {
      submit: async (...args: Parameters<IacClient['submit']>) => {
        await iac.submit(...args)
        return die()
      },
    } as Partial<IacClient>,
    'while waiting': { wait: async () => die() },
    'while reporting': {},
  }[at]
  const llm: Context['llm'] =
    at === 'while reporting'
      ? {
          ...context.llm,
          complete: async (call) =>
            call.tools?.at(-1)?.name === 'generate_engine_apply_report' ? die() : context.llm.complete(call),
        }
      : context.llm
  const session = await runWaiting(stack, { ...context, llm, iac: { ...iac, ...dying } }, uuid, signal)
  expect(session).toMatchObject({ in_flight: true, failures: [] })
  await lapse(stack, uuid)
}

describe('a round that is taken up again', () => {
  it.each([
    ['handed back', STOPPING],
    ['dead', new Error('killed')],
  ])('%s while the report was written: the result is on record', async (_, reason) => {
    const { context, uuid } = await sessionWithPlan(stack)
    await requestApply(context, uuid)
    await interrupted(context, uuid, 'while reporting', reason)
    // The sidecar may have forgotten the job by now.
    const wait: IacClient['wait'] = async () => Promise.reject(new Error('not to be asked'))
    const session = await runWaiting(stack, { ...context, iac: { ...context.iac, wait } }, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(await applyReports(stack, uuid)).toMatchObject([{ status: 'Success' }])
    expect(applyJobs(stack, uuid)).toHaveLength(1)
  })

  it.each([
    ['before the job was submitted', 'before submission', 0, ' The state is the one from before the apply.'],
    [
      'after it was submitted',
      'after submission',
      1,
      ' The state was written after the plan was made. Since then: added terraform_data.second.',
    ],
  ] as const)('dead %s, and its id on no record: the outcome is unknown, and nothing is submitted again', async (_, at, jobs, trace) => {
    const { context, sent } = withNotifications(contextOf(stack))
    const { uuid, repo_uri } = await sessionWithPlan(stack, context)
    await requestApply(context, uuid)
    await interrupted(context, uuid, at)
    const [job] = applyJobs(stack, uuid)
    if (job) await context.iac.wait(job.job_id)

    const session = await runWaiting(stack, context, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(applyJobs(stack, uuid)).toHaveLength(jobs)
    expect(await managedState(context, repo_uri)).toHaveLength(jobs)
    const [report] = await applyReports(stack, uuid)
    expect(report).toMatchObject({ status: 'Failed', resource_changes: [] })
    expect(report?.execution_summary).toContain('It is not known what this apply changed: the worker was interrupted')
    expect(report?.execution_summary).toContain(trace)
    expect(report?.recommendations.join(' ')).toContain('terraform_data.second')
    expect(sent.map(({ kind }) => kind)).toEqual(['iac.apply.failure'])
    expect(await leftOfPlan(stack, uuid)).toEqual(DISCARDED)
  })

  it('and the sidecar no longer knows the job: the outcome is unknown', async () => {
    const { context, sent } = withNotifications(contextOf(stack))
    const { uuid } = await sessionWithPlan(stack, context)
    await requestApply(context, uuid)
    await interrupted(context, uuid, 'while waiting')
    const unknown = crypto.randomUUID()
    await stack.database
      .sql`UPDATE applies SET job_id = ${unknown} WHERE job_id = ${applyJobs(stack, uuid)[0]?.job_id ?? ''}`
    const session = await runWaiting(stack, context, uuid)
    expect(session.messages.at(-1)).toBe(`runner failed: IaC job ${unknown} was lost by the iac service.`)
    expect((await applyReports(stack, uuid))[0]?.execution_summary).toContain(
      `It is not known what this apply changed: IaC job ${unknown} was lost by the iac service.`,
    )
    expect(sent).toEqual([])
    expect(await leftOfPlan(stack, uuid)).toEqual(DISCARDED)
    expect(applyJobs(stack, uuid)).toHaveLength(1)
  })

  it('before anything was on record starts over, and applies', async () => {
    const { context, uuid, repo_uri } = await sessionWithPlan(stack)
    await requestApply(context, uuid)
    const { signal, die } = dyingWorker(STOPPING)
    const iac = { ...context.iac, engine: async () => die() }
    const stopped = await runWaiting(stack, { ...context, iac }, uuid, signal)
    expect(stopped.in_flight).toBe(true)
    expect(await leftOfPlan(stack, uuid)).toEqual({ directory: true, plans: 1 })
    const session = await runWaiting(stack, context, uuid)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
    expect(applyJobs(stack, uuid)).toHaveLength(1)
  })
})

it('a worker that lost the round leaves the pin alone, and the id of its job on record', async () => {
  const { context, uuid } = await sessionWithPlan(stack)
  await requestApply(context, uuid)
  const { iac } = context
  const submit: IacClient['submit'] = async (kind, body, signal) => {
    const job_id = await iac.submit(kind, body, signal)
    await lapse(stack, uuid)
    const [round] = await stack.database.sql<{ id: number }[]>`
        SELECT r.id FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid} AND finished_at IS NULL`
    expect(await claimForRun(stack.database.sql, round?.id ?? 0)).not.toBeNull()
    return job_id
  }
  const slow = await runWaiting(stack, { ...context, iac: { ...iac, submit } }, uuid)
  expect(slow.in_flight).toBe(true)
  expect(existsSync(planPath(stack, uuid))).toBe(true)
  expect(await applyReports(stack, uuid)).toEqual([])

  await lapse(stack, uuid)
  const session = await runWaiting(stack, context, uuid)
  expect(session.statuses.at(-1)).toBe('completed')
  expect(await applyReports(stack, uuid)).toMatchObject([{ status: 'Success' }])
  expect(applyJobs(stack, uuid)).toHaveLength(1)
})

it.each([
  ['after its job was submitted', 'while waiting', 1],
  ['before its job was on record', 'before submission', 0],
] as const)('a round that is given up %s tells that the outcome is unknown, and leaves nothing pinned', async (_, at, jobs) => {
  const { context, sent } = withNotifications(contextOf(stack))
  const { uuid } = await sessionWithPlan(stack, context)
  await requestApply(context, uuid)
  await interrupted(context, uuid, at)
  await stack.database.sql`
      UPDATE rounds SET attempts = 9 WHERE finished_at IS NULL AND session_id = (SELECT id FROM sessions WHERE uuid = ${uuid})`
  const session = await runWaiting(stack, context, uuid)
  expect(session.messages.at(-1)).toBe('runner failed: the round was interrupted 9 times and is given up.')
  expect((await applyReports(stack, uuid))[0]?.execution_summary).toContain('It is not known what this apply changed')
  // The frame notifies of the failed round.
  expect(sent).toEqual([])
  expect(applyJobs(stack, uuid)).toHaveLength(jobs)
  expect(await leftOfPlan(stack, uuid)).toEqual(DISCARDED)
  expect(session.in_flight).toBe(false)
})
