import { afterEach, beforeEach, expect, it } from 'vitest'
import { applyJobs, applyReports, DISCARDED, leftOfPlan, managedState } from '../modes/apply-world.ts'
import { type Chaos, ended, startChaos, waitingApply } from './world.ts'

let chaos: Chaos
beforeEach(async () => {
  chaos = await startChaos()
})
afterEach(() => chaos.close())

it.each([
  ['killed', 'SIGKILL'],
  ['told to stop', 'SIGTERM'],
] as const)('a worker that is %s in the middle of an apply: another one waits for the same job', async (_, signal) => {
  const { sidecar, worker, context, uuid, repo_uri } = await waitingApply(chaos)
  const second = await chaos.processes.worker(sidecar.url)
  worker.child.kill(signal)
  expect(await second.said('round starts')).toMatchObject({ session_id: uuid, attempt: 2, mode: 'apply' })
  await chaos.processes.openGate()
  expect(await ended(chaos.stack, uuid)).toMatchObject({ status: 'completed', message: 'GENERATE' })
  expect(applyJobs(chaos.stack, uuid, chaos.processes.jobs_folder)).toHaveLength(1)
  expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
  const summary = { created: 1, failed: 0 }
  expect(await applyReports(chaos.stack, uuid)).toMatchObject([{ status: 'Success', summary }])
  expect(await leftOfPlan(chaos.stack, uuid)).toEqual(DISCARDED)
})

it.each([
  ['sidecar and worker are', true],
  ['a sidecar is', false],
])('%s killed in the middle of an apply: nothing is applied again, and the report says that nobody knows', async (_, both) => {
  const { sidecar, worker, context, uuid, repo_uri } = await waitingApply(chaos)
  sidecar.child.kill('SIGKILL')
  if (both) worker.child.kill('SIGKILL')
  await chaos.processes.sidecar(new URL(sidecar.url).port)
  if (both) await chaos.processes.worker(sidecar.url)

  const { status, message } = await ended(chaos.stack, uuid)
  expect([status, message]).toEqual(['failed', expect.stringMatching(/^runner failed: /)])
  const [report] = await applyReports(chaos.stack, uuid)
  expect(report).toMatchObject({ status: 'Failed', resource_changes: [] })
  expect(report?.execution_summary).toContain('It is not known what this apply changed')
  expect(report?.execution_summary).toContain('The state is the one from before the apply.')
  expect(applyJobs(chaos.stack, uuid, chaos.processes.jobs_folder)).toMatchObject([{ status: 'failed' }])
  expect(await managedState(context, repo_uri)).toEqual([])
  expect(await leftOfPlan(chaos.stack, uuid)).toEqual(DISCARDED)
})
