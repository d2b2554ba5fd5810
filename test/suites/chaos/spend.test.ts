import { once } from 'node:events'
import { expect, it } from 'vitest'
import { ADDED, done, findings, MAIN, operations, report, write } from '../modes/scripts.ts'
import { oneEdit } from './model.ts'
import { ended, lockTable, startChaos, within } from './world.ts'

/** Tokens of an answer of the model. */
const CALL = 110

const SCRIPTS = {
  task_complete: oneEdit(write('second.tf', ADDED), done('Added a second greeting.')),
  report_decomposed_task_operations: operations([]),
  generate_engine_plan_report: report(),
  report_compliance_findings: findings(),
}

it('books every answer once when a worker is killed between an answer and its sum', async () => {
  const chaos = await startChaos(SCRIPTS)
  const { stack, processes, model } = chaos
  const { sql } = stack.database
  try {
    const uuid = await chaos.open({ repo_uri: await stack.repository({ 'main.tf': MAIN }), query: 'Add a greeting' })
    const sidecar = await processes.sidecar()
    const changes = { modelUrl: model.url, concurrency: 1 }
    const lock = await lockTable(stack, 'round_spend')
    const first = await processes.worker(sidecar.url, changes)
    // The sentence of the status and the verdict of the filter, beside each other.
    await within(async () => {
      const waiting = await sql`
        SELECT 1 FROM pg_locks WHERE relation = 'round_spend'::regclass AND NOT granted`
      expect([waiting.length, model.answered()]).toEqual([2, 2])
    })
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    expect(await sql`SELECT 1 FROM round_spend`).toHaveLength(0)
    await lock.release()
    await processes.worker(sidecar.url, changes)
    expect(await ended(stack, uuid)).toMatchObject({ status: 'completed', attempts: 2, ends: 1 })
    // Calls that are left over after the last status are booked too.
    await within(async () => {
      const [sums] = await sql`
        SELECT (SELECT sum(input_tokens + output_tokens)::integer FROM round_spend) AS round,
               (SELECT sum(input_tokens + output_tokens)::integer FROM user_spend) AS day`
      const all = model.answered() * CALL
      expect(sums).toEqual({ round: all, day: all })
    })
    expect(model.answered()).toBeGreaterThan(6)
  } finally {
    await chaos.close()
  }
})
