import { beforeEach, describe, expect, it } from 'vitest'
import type { Context } from '../../../src/context.ts'
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
  withNotifications,
} from './apply-world.ts'
import { MAIN } from './scripts.ts'
import { dyingWorker, firstRound, lapse, runWaiting, startStack } from './stack.ts'

const stack = startOnce(startStack)
let context: Context
/** Two sessions on one project, both with a reviewed plan. */
let first: string
let second: string
let repo_uri: string
const offered: number[] = []

beforeEach(async () => {
  const queue = {
    enqueue: async (_: unknown, round_id: number) => void offered.push(round_id),
    healthy: async () => true,
  }
  context = contextOf(stack, { queue })
  repo_uri = await stack.repository({ 'main.tf': MAIN })
  // Scripts count their calls, so each session has its own model.
  first = (await firstRound(stack, contextOf(stack, { queue }), { repo_uri })).uuid
  second = (await firstRound(stack, contextOf(stack, { queue }), { repo_uri })).uuid
  for (const uuid of [first, second]) await requestApply(context, uuid)
  offered.length = 0
})

const roundOf = async (uuid: string) => {
  const [row] = await stack.database.sql<
    { id: number; parked: boolean; attempts: number; handed_back: number; held: boolean }[]
  >`
    SELECT r.id, r.parked, r.attempts, r.handed_back, coalesce(r.lease_until > clock_timestamp(), false) AS held
    FROM rounds r JOIN sessions s ON s.id = r.session_id WHERE s.uuid = ${uuid} AND r.mode = 'apply'`
  if (!row) throw new Error('no apply round')
  return row
}

/** Runs the first session's apply; `meanwhile` runs while its engine works. */
async function applyFirst(meanwhile: () => Promise<void>) {
  const { iac } = context
  const wait: IacClient['wait'] = async (job_id, options) => {
    await meanwhile()
    return await iac.wait(job_id, options)
  }
  return await runWaiting(stack, { ...context, iac: { ...iac, wait } }, first)
}

describe('two sessions that apply to the same infrastructure', () => {
  it('do so one after the other: the second one waits without a place, is woken, and finds that the state moved', async () => {
    let parked: (string | null)[] = []
    const done = await applyFirst(async () => {
      const waiting = await runWaiting(stack, context, second)
      parked = waiting.messages
      expect(waiting).toMatchObject({ in_flight: true, failures: [] })
      expect(await roundOf(second)).toMatchObject({ parked: true, attempts: 1, handed_back: 1, held: true })
      expect(await leftOfPlan(stack, second)).toEqual({ directory: true, plans: 1 })
      expect(offered).toEqual([])
      // A repeated message finds nothing to claim.
      await runWaiting(stack, context, second)
      expect(await roundOf(second)).toMatchObject({ attempts: 1 })
    })
    expect(done.statuses.at(-1)).toBe('completed')
    expect(parked.at(-1)).toBe(`Waiting for session ${first}, which applies to the same infrastructure.`)
    const { id } = await roundOf(second)
    expect(offered).toEqual([id])

    const session = await runWaiting(stack, context, second)
    expect(session.statuses).toEqual(['started', 'apply', 'apply', 'apply', 'report', 'completed'])
    const [report] = await applyReports(stack, second)
    expect(report).toMatchObject({ status: 'Failed', summary: { created: 0 } })
    expect(report?.execution_summary).toContain('Since then: added terraform_data.second.')
    expect([applyJobs(stack, first).length, applyJobs(stack, second).length]).toEqual([1, 0])
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
    expect(await leftOfPlan(stack, second)).toEqual(DISCARDED)
  })

  it('the wait has an end, with a report that names the session', async () => {
    const { context: noted, sent } = withNotifications(context)
    await applyFirst(async () => {
      await runWaiting(stack, noted, second)
      const { id } = await roundOf(second)
      await stack.database
        .sql`UPDATE applies SET waiting_since = waiting_since - interval '601 seconds' WHERE round_id = ${id}`
      await lapse(stack, second)
      const session = await runWaiting(stack, noted, second)
      expect(session.statuses.at(-1)).toBe('completed')
      expect((await applyReports(stack, second))[0]?.execution_summary).toBe(
        `Nothing was applied: session ${first} applied to the same infrastructure for all of the 600 s that this ` +
          'round waited.',
      )
      expect(sent.map(({ kind }) => kind)).toEqual(['iac.apply.failure'])
      expect(await leftOfPlan(stack, second)).toEqual(DISCARDED)
    })
    expect(applyJobs(stack, second)).toEqual([])
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
  })

  it('a round that ended without giving the project back holds it no longer', async () => {
    const { id } = await roundOf(first)
    const [seal] = await stack.database.sql<{ project_id: string }[]>`
      SELECT project_id FROM saved_plans JOIN sessions s ON s.id = session_id WHERE ended_at IS NULL AND s.uuid = ${first}`
    await stack.database
      .sql`INSERT INTO project_applies (project_id, round_id) VALUES (${seal?.project_id ?? ''}, ${id})`
    await stack.database.sql`UPDATE rounds SET finished_at = clock_timestamp() WHERE id = ${id}`
    const session = await runWaiting(stack, context, second)
    expect(session.statuses.at(-1)).toBe('completed')
    expect(applyJobs(stack, second)).toHaveLength(1)
  })

  it('a round that is taken up again still holds its project', async () => {
    const { signal, die } = dyingWorker()
    await runWaiting(stack, { ...context, iac: { ...context.iac, wait: async () => die() } }, first, signal)
    await runWaiting(stack, context, second)
    expect(await roundOf(second)).toMatchObject({ parked: true })
    await lapse(stack, first)
    expect((await runWaiting(stack, context, first)).statuses.at(-1)).toBe('completed')
    expect(offered).toEqual([(await roundOf(second)).id])
  })

  it('when both begin at once, one waits for the other', async () => {
    await Promise.all([runWaiting(stack, context, first), runWaiting(stack, context, second)])
    for (const uuid of [first, second]) if ((await roundOf(uuid)).parked) await runWaiting(stack, context, uuid)
    expect(applyJobs(stack, first).length + applyJobs(stack, second).length).toBe(1)
    const reports = [...(await applyReports(stack, first)), ...(await applyReports(stack, second))]
    expect(reports.map(({ status }) => status).sort()).toEqual(['Failed', 'Success'])
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
  })
})

it('sessions on different roots of a repository do not wait for each other', async () => {
  const other = await stack.repository({ 'a/main.tf': MAIN, 'b/main.tf': MAIN })
  const both = await Promise.all(
    ['a', 'b'].map(async (iac_path) => (await firstRound(stack, contextOf(stack), { repo_uri: other, iac_path })).uuid),
  )
  for (const uuid of both) await requestApply(context, uuid)
  const sessions = await Promise.all(both.map((uuid) => runWaiting(stack, context, uuid)))
  expect(sessions.map(({ statuses }) => statuses.at(-1))).toEqual(['completed', 'completed'])
  expect(both.flatMap((uuid) => applyJobs(stack, uuid))).toHaveLength(2)
})
