import { existsSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Context } from '../../../src/context.ts'
import type { LoggingProcess } from '../../helpers/logging-process.ts'
import { applyJobs, applyReports, DISCARDED, leftOfPlan, managedState } from '../modes/apply-world.ts'
import { type Chaos, startChaos, waitingApply, within } from './world.ts'

let chaos: Chaos
beforeEach(async () => {
  chaos = await startChaos()
})
afterEach(() => chaos.close())

/**
 * Waits until the engine of the apply is at the gate and is recorded: its process by the sidecar, its job by the
 * worker. The engine may reach the gate before that.
 */
const asked = (uuid: string) =>
  within(async () => {
    expect(existsSync(chaos.processes.mark)).toBe(true)
    const [job] = applyJobs(chaos.stack, uuid, chaos.processes.jobs_folder)
    expect(job?.process).toBeTruthy()
    const known = await chaos.stack.database.sql`SELECT 1 FROM applies WHERE job_id = ${job?.job_id ?? null}`
    expect(known).toHaveLength(1)
  })

async function ended(uuid: string) {
  return await within(async () => {
    const [round] = await chaos.stack.database.sql<{ finished: boolean; status: string; message: string }[]>`
      SELECT finished_at IS NOT NULL AS finished, last_status AS status, last_message AS message
      FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid} AND mode = 'apply'`
    expect(round?.finished).toBe(true)
    return round
  })
}

async function appliedOnce(context: Context, uuid: string, repo_uri: string) {
  expect(await ended(uuid)).toMatchObject({ status: 'completed', message: 'GENERATE' })
  expect(applyJobs(chaos.stack, uuid, chaos.processes.jobs_folder)).toHaveLength(1)
  expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
  expect(await applyReports(chaos.stack, uuid)).toMatchObject([
    { status: 'Success', summary: { created: 1, failed: 0 } },
  ])
  expect(await leftOfPlan(chaos.stack, uuid)).toEqual(DISCARDED)
}

it.each([
  ['killed', 'SIGKILL'],
  ['told to stop', 'SIGTERM'],
] as const)('a worker that is %s in the middle of an apply: another one waits for the same job', async (_, signal) => {
  const { sidecar, context, uuid, repo_uri, accept } = await waitingApply(chaos)
  const first = await chaos.processes.worker(sidecar.url)
  await accept()
  await asked(uuid)
  const second: LoggingProcess = await chaos.processes.worker(sidecar.url)
  first.child.kill(signal)
  expect(await second.said('round starts')).toMatchObject({ session_id: uuid, attempt: 2, mode: 'apply' })
  await chaos.processes.openGate()
  await appliedOnce(context, uuid, repo_uri)
})

it('sidecar and worker are killed in the middle of an apply: nothing is applied again, and the report says that nobody knows', async () => {
  const { sidecar, context, uuid, repo_uri, accept } = await waitingApply(chaos)
  const first = await chaos.processes.worker(sidecar.url)
  await accept()
  await asked(uuid)
  sidecar.child.kill('SIGKILL')
  first.child.kill('SIGKILL')
  await chaos.processes.sidecar(new URL(sidecar.url).port)
  await chaos.processes.worker(sidecar.url)

  expect(await ended(uuid)).toMatchObject({ status: 'failed' })
  const [report] = await applyReports(chaos.stack, uuid)
  expect(report).toMatchObject({ status: 'Failed', resource_changes: [] })
  expect(report?.execution_summary).toContain('It is not known what this apply changed')
  expect(report?.execution_summary).toContain('The state is the one from before the apply.')
  expect(applyJobs(chaos.stack, uuid, chaos.processes.jobs_folder)).toMatchObject([{ status: 'failed' }])
  expect(await managedState(context, repo_uri)).toEqual([])
  expect(await leftOfPlan(chaos.stack, uuid)).toEqual(DISCARDED)
})

it('a sidecar that is killed in the middle of an apply and comes back', async () => {
  const { sidecar, uuid, accept } = await waitingApply(chaos)
  await chaos.processes.worker(sidecar.url)
  await accept()
  await asked(uuid)
  sidecar.child.kill('SIGKILL')
  await chaos.processes.sidecar(new URL(sidecar.url).port)
  expect((await ended(uuid))?.message).toMatch(/^runner failed: /)
  expect((await applyReports(chaos.stack, uuid))[0]?.execution_summary).toContain(
    'It is not known what this apply changed',
  )
  expect(applyJobs(chaos.stack, uuid, chaos.processes.jobs_folder)).toHaveLength(1)
  expect(await leftOfPlan(chaos.stack, uuid)).toEqual(DISCARDED)
})
