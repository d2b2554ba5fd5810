import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { platformFor } from '../../../src/access/audit/record.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { type SendingQueue, startSendingQueue } from '../../../src/data/queue/pg-boss.ts'
import { acceptRound } from '../../../src/rounds/accept.ts'
import { cancelRound } from '../../../src/rounds/cancel.ts'
import { createIacClient } from '../../../src/services/iac/client.ts'
import type { LoggingProcess } from '../../helpers/logging-process.ts'
import { createUser, openSession } from '../../helpers/sessions.ts'
import { applyJobs, applyReports, contextOf, leftOfPlan, managedState, sessionWithPlan } from '../modes/apply-world.ts'
import { ADDED, accept, done, MAIN, targets, write } from '../modes/scripts.ts'
import { type Stack, startStack } from '../modes/stack.ts'
import { type ChaosModel, oneEdit, startChaosModel } from './model.ts'
import { createProcesses, type Processes } from './processes.ts'
import { commitsOn, sessionFolder, within } from './world.ts'

let stack: Stack
let processes: Processes
let queue: SendingQueue
let model: ChaosModel
beforeEach(async () => {
  stack = await startStack()
  processes = await createProcesses(stack)
  queue = await startSendingQueue(stack.database.sql, silentLogger)
  model = await startChaosModel({
    status: { text: 'One sentence.' },
    requests_filter: accept,
    construct_information: { args: { templates: [], abbreviations: [] } },
    task_complete: oneEdit(write('second.tf', ADDED), done('Added a second greeting.')),
    generate_engine_targets: targets('terraform_data.second'),
  })
})
afterEach(async () => {
  await queue.close()
  await processes.close()
  await model.close()
  await stack.close()
})

const CANCELLED = { in_flight: false, status: 'uncompleted', message: 'Cancelled by ada@example.org.', ends: 1 }

async function ended(uuid: string) {
  return await within(async () => {
    const [row] = await stack.database.sql<{ finished: boolean; branch: string }[]>`
      SELECT s.in_flight, s.last_status AS status, s.last_message AS message, w.branch,
             r.finished_at IS NOT NULL AS finished, r.attempts,
             (SELECT count(*) FROM statuses t WHERE t.round_id = r.id
              AND t.status IN ('completed', 'uncompleted', 'failed')) AS ends
      FROM sessions s JOIN rounds r ON r.session_id = s.id AND r.number = s.round_count
      JOIN workspaces w ON w.session_id = s.id WHERE s.uuid = ${uuid}`
    expect(row?.finished).toBe(true)
    return row
  })
}

/** The worker is frozen when the round is cancelled, and then killed. */
async function killBetween(worker: LoggingProcess, uuids: readonly string[]): Promise<void> {
  worker.child.kill('SIGSTOP')
  for (const uuid of uuids)
    expect(
      await cancelRound(contextOf(stack, { queue }), {
        session_uuid: uuid,
        by: 'ada@example.org',
        actor: platformFor(null),
      }),
    ).toBe('requested')
  worker.child.kill('SIGKILL')
  await once(worker.child, 'exit')
}

it('a worker that is killed between the cancellation and the end of generate rounds: another one ends them, and starts none', async () => {
  const { sql } = stack.database
  const user = await createUser(sql, crypto.randomUUID())
  const context = contextOf(stack, { queue })
  const repo_uri = await stack.repository({ 'main.tf': MAIN })
  const uuids = [
    await openSession(context, user.id, { repo_uri, query: 'Add a second greeting' }),
    await openSession(context, user.id, { repo_uri, query: 'Add a second greeting' }),
  ]
  const sidecar = await processes.sidecar()
  // One round waits for the model, the other one for the engine.
  model.hold(['task_complete'])
  await processes.closeGate('plan')
  const first = await processes.worker(sidecar.url, { modelUrl: model.url })
  await within(() => {
    expect(model.held()).toEqual(['task_complete'])
    expect(existsSync(processes.mark)).toBe(true)
  })
  await within(async () => {
    expect(await sql`SELECT 1 FROM rounds WHERE jobs ? 'plan-1'`).toHaveLength(1)
  })
  await killBetween(first, uuids)
  const second = await processes.worker(sidecar.url, { modelUrl: model.url })
  await second.said('round is cancelled')
  await processes.openGate()
  for (const uuid of uuids) {
    const session = await ended(uuid)
    expect(session).toMatchObject({ ...CANCELLED, attempts: 2 })
    expect(await leftOfPlan(stack, uuid)).toEqual({ directory: false, plans: 0 })
    expect(await commitsOn(stack, repo_uri, session?.branch ?? '')).toBeLessThanOrEqual(1)
  }
  expect(second.lines.filter(({ message }) => message === 'round ends')).toHaveLength(2)
  // The state is not locked: an engine was waited for, and none was left.
  const jobs = await sql`SELECT 1 FROM rounds WHERE finished_at IS NULL`
  expect(jobs).toEqual([])
  expect(
    uuids.flatMap((uuid) => readdirSync(sessionFolder(stack, uuid)).filter((name) => name === 'saved-plan')),
  ).toEqual([])
})

it('a worker that is killed between the cancellation and the end of an apply: another one reports what the engine did', async () => {
  await processes.closeGate('apply')
  const sidecar = await processes.sidecar()
  const iac = createIacClient(
    { ...stack.config.services.iac, endpoint: sidecar.url, job_poll_interval: 0.2 },
    { fetch, log: silentLogger },
  )
  const context = contextOf(stack, { iac, queue })
  const { uuid, repo_uri } = await sessionWithPlan(stack, context)
  const first = await processes.worker(sidecar.url)
  await acceptRound(context, { session_uuid: uuid, mode: 'apply', query: 'Engine apply.', is_partial: false })
  await within(async () => {
    expect(existsSync(processes.mark)).toBe(true)
    expect(await stack.database.sql`SELECT 1 FROM applies WHERE job_id IS NOT NULL`).toHaveLength(1)
  })
  await killBetween(first, [uuid])
  const second = await processes.worker(sidecar.url)
  await second.said('round is cancelled')
  await processes.openGate()

  expect(await ended(uuid)).toMatchObject({ ...CANCELLED, attempts: 2 })
  expect(applyJobs(stack, uuid, processes.jobs_folder)).toHaveLength(1)
  const reports = await applyReports(stack, uuid)
  expect(reports).toHaveLength(1)
  // Whether the engine was interrupted in time or not, the report says what it did.
  expect(await managedState(context, repo_uri)).toHaveLength(reports[0]?.summary.created ?? -1)
  expect(await leftOfPlan(stack, uuid)).toEqual({ directory: false, plans: 0 })
})
