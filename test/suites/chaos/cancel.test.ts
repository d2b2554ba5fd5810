import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { platformFor } from '../../../src/access/audit/record.ts'
import { cancelRound } from '../../../src/rounds/cancel.ts'
import type { LoggingProcess } from '../../helpers/logging-process.ts'
import { applyJobs, applyReports, contextOf, DISCARDED, leftOfPlan, managedState } from '../modes/apply-world.ts'
import { ADDED, done, MAIN, targets, write } from '../modes/scripts.ts'
import { oneEdit } from './model.ts'
import { type Chaos, commitsOn, ended, sessionFolder, startChaos, waitingApply, within } from './world.ts'

let chaos: Chaos
beforeEach(async () => {
  chaos = await startChaos({
    task_complete: oneEdit(write('second.tf', ADDED), done('Added a second greeting.')),
    generate_engine_targets: targets('terraform_data.second'),
  })
})
afterEach(() => chaos.close())

const CANCELLED = { in_flight: false, status: 'uncompleted', message: 'Cancelled by ada@example.org.', ends: 1 }

/** Freezes the worker, cancels the round, and then kills the worker. */
async function killBetween(worker: LoggingProcess, uuids: readonly string[]): Promise<void> {
  worker.child.kill('SIGSTOP')
  for (const uuid of uuids)
    expect(
      await cancelRound(contextOf(chaos.stack, { queue: chaos.queue }), {
        session_uuid: uuid,
        by: 'ada@example.org',
        actor: platformFor(null),
      }),
    ).toBe('requested')
  worker.child.kill('SIGKILL')
  await once(worker.child, 'exit')
}

it('a worker that is killed between the cancellation and the end of generate rounds: another one ends them, and starts none', async () => {
  const { sql } = chaos.stack.database
  const repo_uri = await chaos.stack.repository({ 'main.tf': MAIN })
  const request = { repo_uri, query: 'Add a second greeting' }
  const uuids = [await chaos.open(request), await chaos.open(request)]
  const sidecar = await chaos.processes.sidecar()
  // One round waits for the model, the other one for the engine.
  chaos.model.hold(['task_complete'])
  await chaos.processes.closeGate('plan')
  const first = await chaos.processes.worker(sidecar.url, { modelUrl: chaos.model.url })
  await within(() => {
    expect(chaos.model.held()).toEqual(['task_complete'])
    expect(existsSync(chaos.processes.mark)).toBe(true)
  })
  await within(async () => {
    expect(await sql`SELECT 1 FROM rounds WHERE jobs ? 'plan-1'`).toHaveLength(1)
  })
  await killBetween(first, uuids)
  const second = await chaos.processes.worker(sidecar.url, { modelUrl: chaos.model.url })
  await second.said('round is cancelled')
  await chaos.processes.openGate()
  for (const uuid of uuids) {
    const session = await ended(chaos.stack, uuid)
    expect(session).toMatchObject({ ...CANCELLED, attempts: 2 })
    expect(await leftOfPlan(chaos.stack, uuid)).toEqual(DISCARDED)
    expect(await commitsOn(chaos.stack, repo_uri, session.branch)).toBeLessThanOrEqual(1)
  }
  expect(second.lines.filter(({ message }) => message === 'round ends')).toHaveLength(2)
  // The state is not locked: the worker waited for the engine to end.
  const jobs = await sql`SELECT 1 FROM rounds WHERE finished_at IS NULL`
  expect(jobs).toEqual([])
  expect(
    uuids.flatMap((uuid) => readdirSync(sessionFolder(chaos.stack, uuid)).filter((name) => name === 'pinned')),
  ).toEqual([])
})

it('a worker that is killed between the cancellation and the end of an apply: another one reports what the engine did', async () => {
  const { sidecar, worker, context, uuid, repo_uri } = await waitingApply(chaos)
  await killBetween(worker, [uuid])
  const second = await chaos.processes.worker(sidecar.url)
  await second.said('round is cancelled')
  await chaos.processes.openGate()

  expect(await ended(chaos.stack, uuid)).toMatchObject({ ...CANCELLED, attempts: 2 })
  expect(applyJobs(chaos.stack, uuid, chaos.processes.jobs_folder)).toHaveLength(1)
  const reports = await applyReports(chaos.stack, uuid)
  expect(reports).toHaveLength(1)
  // The report says what the engine did, interrupted or not.
  expect(await managedState(context, repo_uri)).toHaveLength(reports[0]?.summary.created ?? -1)
  expect(await leftOfPlan(chaos.stack, uuid)).toEqual(DISCARDED)
})
