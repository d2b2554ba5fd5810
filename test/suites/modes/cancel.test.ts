import { describe, expect, it } from 'vitest'
import { platformFor } from '../../../src/access/audit/record.ts'
import type { Context } from '../../../src/context.ts'
import type { LlmClient } from '../../../src/llm/inference.ts'
import { cancelRound } from '../../../src/rounds/cancel.ts'
import { findSavedPlan } from '../../../src/saved-plans/saved-plan.ts'
import type { EngineResult, IacClient, IacJobKind } from '../../../src/services/iac/contract.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { untilAborted } from '../../helpers/until-aborted.ts'
import { type Script, scriptedLlm } from '../../pipeline/steps/scripted-llm.ts'
import {
  applyJobs,
  applyReports,
  applyRound,
  applyScripts,
  DISCARDED,
  leftOfPlan,
  managedState,
  requestApply,
  sessionWithPlan,
} from './apply-world.ts'
import { importLlm, QUERY, withScope } from './import-world.ts'
import { ADDED, done, GATES, goodLlm, goodRound, MAIN, THIRD, targets, write } from './scripts.ts'
import { dyingWorker, firstRound, lapse, nextRound, runWaiting, type SessionView, startStack } from './stack.ts'

const stack = startOnce(startStack)

const CANCELLED = 'Cancelled by ada@example.org.'
/** Cancels the round of the newest session, because an earlier failed test may have left its own. */
const cancelIn = async (context: Context) => {
  const [session] = await context.sql<{ uuid: string }[]>`
    SELECT uuid FROM sessions WHERE in_flight ORDER BY id DESC LIMIT 1`
  if (!session) throw new Error('no round runs')
  return await cancelRound(context, { session_uuid: session.uuid, by: 'ada@example.org', actor: platformFor(null) })
}

/** Makes a model whose first call by this chain cancels the round and is never answered. */
function hangingAt(context: () => Context, chain: string, scripts: Record<string, Script | Script[]>): LlmClient {
  const llm = scriptedLlm(scripts)
  return {
    ...llm,
    complete: async (request) => {
      if ((request.tools?.at(-1)?.name ?? 'status') !== chain) return await llm.complete(request)
      await cancelIn(context())
      if (!request.signal) throw new Error('the request cannot be ended')
      await untilAborted(request.signal)
      throw request.signal.reason
    },
  }
}

/** Makes an engine whose first job of a kind runs until it is cancelled. `happened` lists the events in order. */
function endlessJob(iac: IacClient, kind: IacJobKind, whenRunning: () => Promise<unknown>) {
  const happened: string[] = []
  const interrupted = Promise.withResolvers<EngineResult>()
  let begun = false
  const changed: IacClient = {
    ...iac,
    run: async (asked, body, options) => {
      if (asked !== kind || begun) return await iac.run(asked, body, options)
      begun = true
      await options?.onSubmitted?.('job-that-never-ends')
      happened.push('submitted')
      await whenRunning()
      const result = await interrupted.promise
      happened.push('ended')
      return result
    },
    cancel: async (jobId) => {
      happened.push(`cancel ${jobId}`)
      setTimeout(() => interrupted.resolve({ exit_code: 1, stdout: '', stderr: 'Interrupt received.' }), 50)
      return true
    },
  }
  return { iac: changed, happened }
}

function expectCancelled(session: SessionView) {
  expect(session).toMatchObject({ in_flight: false, failures: [] })
  expect([session.statuses.at(-1), session.messages.at(-1)]).toEqual(['uncompleted', CANCELLED])
  expect(session.statuses.filter((status) => ['completed', 'uncompleted', 'failed'].includes(status))).toHaveLength(1)
}

describe('a generate round that is cancelled', () => {
  it.each([
    'init',
    'plan',
    'show',
  ] as const)('while the engine works on %s interrupts it and waits for it', async (kind) => {
    const base = stack.context(goodLlm())
    const { iac, happened } = endlessJob(base.iac, kind, () => cancelIn(base))
    const session = await firstRound(stack, { ...base, iac })
    expectCancelled(session)
    expect(happened).toEqual(['submitted', 'cancel job-that-never-ends', 'ended'])
  })

  it('with an iac service that cannot stop a job waits for its own end', async () => {
    const base = stack.context(goodLlm())
    const happened: string[] = []
    const asked = Promise.withResolvers<void>()
    const run: IacClient['run'] = async (kind, body, options) => {
      const job = base.iac.run(kind, body, options)
      if (kind === 'validate') {
        await cancelIn(base)
        await asked.promise
      }
      const result = await job
      happened.push(kind)
      return result
    }
    const cancel = async () => {
      asked.resolve()
      return false
    }
    expectCancelled(await firstRound(stack, { ...base, iac: { ...base.iac, run, cancel } }))
    expect(happened.at(-1)).toBe('validate')
  })

  it('leaves the pin, the lock and the commit of the round before, and the next round begins at that commit', async () => {
    const { context, uuid, repo_uri } = await sessionWithPlan(stack)
    const before = await findSavedPlan(context.sql, await idOf(context, uuid))
    const llm = hangingAt(() => changed, 'report_compliance_findings', goodRound(THIRD))
    const changed: Context = stack.context(llm, { orchestration: GATES })
    const session = await nextRound(stack, changed, uuid, 'A third one')
    expectCancelled(session)
    expect(await findSavedPlan(context.sql, await idOf(context, uuid))).toEqual(before)
    expect(await leftOfPlan(stack, uuid)).toEqual({ directory: true, plans: 1 })
    expect(session.history.at(-1)?.assistant).toContain(CANCELLED)
    expect(await stack.git(repo_uri, 'ls-tree', '--name-only', session.branch)).toContain('third.tf')

    const applied = await applyRound(stack, context, uuid)
    expect(applied.statuses.at(-1)).toBe('completed')
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
    const fourth = goodLlm({
      task_complete: [write('fourth.tf', ADDED.replace('second', 'fourth')), done('Fourth.')],
      generate_engine_targets: targets(),
    })
    const next = await nextRound(stack, stack.context(fourth), uuid, 'A fourth one')
    expect(next.messages.at(-1)).toBe('GENERATE')
    const files = await stack.git(repo_uri, 'ls-tree', '--name-only', session.branch)
    expect(files).toContain('fourth.tf')
    expect(files).not.toContain('third.tf')
  })

  it('while it stores the copy of its pin leaves no half of a seal, nor its lock', async () => {
    const { context, uuid } = await sessionWithPlan(stack)
    const before = await findSavedPlan(context.sql, await idOf(context, uuid))
    const base = stack.context(goodLlm(THIRD))
    const sealing: Context = {
      ...base,
      config: { ...base.config, worker: { ...base.config.worker, pin_key: 'ab'.repeat(32) } },
      storage: {
        ...base.storage,
        put: async (key, body, options) => {
          if (!key.includes('saved-plans')) return await base.storage.put(key, body, options)
          await context.sql`UPDATE rounds SET lock_before = true WHERE finished_at IS NULL`
          await cancelIn(base)
          return 1
        },
        delete: async () => {},
      },
    }
    const session = await nextRound(stack, sealing, uuid, 'A third one')
    expectCancelled(session)
    expect(session.is_blocked).toBe(true)
    expect(await findSavedPlan(context.sql, await idOf(context, uuid))).toEqual(before)
    expect(await leftOfPlan(stack, uuid)).toEqual({ directory: true, plans: 1 })
  })

  it('before its worker was killed: the next one stops what still runs, and does not begin', async () => {
    const { signal, die } = dyingWorker()
    const base = stack.context(goodLlm())
    const run: IacClient['run'] = async (kind, body, options) => {
      const isOwnPlan = kind === 'plan' && !('lock' in body && body.lock === false)
      if (!isOwnPlan) return await base.iac.run(kind, body, options)
      await options?.onSubmitted?.('job-of-the-dead')
      await cancelIn(base)
      return die()
    }
    const killed = await firstRound(stack, { ...base, iac: { ...base.iac, run } }, {}, signal)
    expect(killed.in_flight).toBe(true)
    await lapse(stack, killed.uuid)
    const asked: string[] = []
    const iac: IacClient = {
      ...base.iac,
      cancel: async (jobId) => asked.push(`cancel ${jobId}`) > 0,
      wait: async (jobId) => {
        asked.push(`wait ${jobId}`)
        return { exit_code: 1, stdout: '', stderr: '' }
      },
      run: async () => Promise.reject(new Error('nothing is to run')),
    }
    const session = await runWaiting(stack, { ...base, iac }, killed.uuid)
    expectCancelled(session)
    expect(asked).toEqual(expect.arrayContaining(['cancel job-of-the-dead', 'wait job-of-the-dead']))
    expect(session.messages).not.toContain('The round was interrupted and starts again.')
  })
})

const idOf = async (context: Context, uuid: string) => {
  const [row] = await context.sql<{ id: number }[]>`SELECT id FROM sessions WHERE uuid = ${uuid}`
  return row?.id ?? 0
}

describe('an apply that is cancelled', () => {
  it.each<['engine' | 'offers', (iac: IacClient) => unknown]>([
    ['engine', (iac) => iac.engine()],
    ['offers', () => false],
  ])('before its job is submitted (%s) applies nothing and stays possible', async (at, answer) => {
    const { context, uuid, repo_uri } = await sessionWithPlan(stack)
    await requestApply(context, uuid)
    const cancelling = async () => {
      await cancelIn(context)
      return await answer(context.iac)
    }
    expectCancelled(await runWaiting(stack, { ...context, iac: { ...context.iac, [at]: cancelling } }, uuid))
    expect(applyJobs(stack, uuid)).toEqual([])
    expect(await applyReports(stack, uuid)).toEqual([])
    expect(await leftOfPlan(stack, uuid)).toEqual({ directory: true, plans: 1 })
    const applied = await applyRound(stack, context, uuid)
    expect(applied.statuses.at(-1)).toBe('completed')
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
  })

  /** Runs an apply whose job ends with this after its cancellation, and not before. */
  async function cancelledApply(end: (jobId: string, context: Context) => Promise<EngineResult>) {
    const { context, uuid, repo_uri } = await sessionWithPlan(stack)
    await requestApply(context, uuid)
    const asked: string[] = []
    const interrupted = Promise.withResolvers<void>()
    const iac: IacClient = {
      ...context.iac,
      wait: async (jobId) => {
        await cancelIn(context)
        await interrupted.promise
        return await end(jobId, context)
      },
      cancel: async (jobId) => {
        asked.push(jobId)
        interrupted.resolve()
        return true
      },
    }
    const session = await runWaiting(stack, { ...context, iac }, uuid)
    return { context, uuid, repo_uri, session, asked }
  }

  it('while the engine works is interrupted, and reports what was applied and what was not', async () => {
    const { uuid, session, asked } = await cancelledApply(async () => ({
      exit_code: 1,
      stdout: 'terraform_data.second: Creating...\n',
      stderr: 'Error: execution halted\n',
    }))
    expectCancelled(session)
    expect(asked).toEqual([applyJobs(stack, uuid)[0]?.job_id])
    const [report] = await applyReports(stack, uuid)
    expect(report).toMatchObject({ status: 'Failed', summary: { created: 0, failed: 1 } })
    expect(report?.execution_summary).toMatch(/^Cancelled by ada@example\.org\. /)
    expect(await leftOfPlan(stack, uuid)).toEqual(DISCARDED)
    expect(session.history.at(-1)?.assistant).toContain(CANCELLED)
  })

  it('too late tells that everything was applied', async () => {
    const { uuid, session, repo_uri, context } = await cancelledApply((jobId, { iac }) => iac.wait(jobId))
    expectCancelled(session)
    expect(await applyReports(stack, uuid)).toMatchObject([{ status: 'Success', summary: { created: 1 } }])
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.second'])
    expect(await leftOfPlan(stack, uuid)).toEqual(DISCARDED)
  })

  it('while the report is written ends without the model', async () => {
    const llm = hangingAt(() => context, 'generate_engine_apply_report', applyScripts())
    const context: Context = stack.context(llm)
    const { uuid } = await sessionWithPlan(stack, context)
    const session = await applyRound(stack, context, uuid)
    expect([session.statuses.at(-1), session.messages.at(-1)]).toEqual(['uncompleted', CANCELLED])
    expect(await applyReports(stack, uuid)).toMatchObject([{ status: 'Success' }])
  })

  it('before its worker was killed: the next one interrupts the recorded job, and reports', async () => {
    const { context, uuid } = await sessionWithPlan(stack)
    await requestApply(context, uuid)
    const { signal, die } = dyingWorker()
    const wait: IacClient['wait'] = async () => {
      await cancelIn(context)
      return die()
    }
    // A dying worker may still be notified of the cancellation, but none of its requests arrive.
    const dying: IacClient = { ...context.iac, wait, cancel: async () => false }
    const killed = await runWaiting(stack, { ...context, iac: dying }, uuid, signal)
    expect(killed.in_flight).toBe(true)
    await lapse(stack, uuid)
    const asked: string[] = []
    const cancel = async (jobId: string) => asked.push(jobId) > 0
    const session = await runWaiting(stack, { ...context, iac: { ...context.iac, cancel } }, uuid)
    expectCancelled(session)
    expect(asked).toEqual([applyJobs(stack, uuid)[0]?.job_id])
    expect(await applyReports(stack, uuid)).toMatchObject([{ status: 'Success' }])
    expect(applyJobs(stack, uuid)).toHaveLength(1)
  })
})

it('an import that is cancelled while the engine works: the branch keeps the code that the state needs', async () => {
  const repo_uri = await stack.repository({ 'main.tf': MAIN })
  const base = stack.context(importLlm())
  const asked: string[] = []
  const scoped = withScope(stack, ['id-a', 'id-b'])
  const interrupted = Promise.withResolvers<void>()
  const run: IacClient['run'] = async (kind, body, options) => {
    const result = await scoped.run(kind, body, options)
    if (kind !== 'import') return result
    await cancelIn(base)
    await interrupted.promise
    return result
  }
  const cancel = async (jobId: string) => {
    asked.push(jobId)
    interrupted.resolve()
    return true
  }
  const context = { ...base, iac: { ...scoped, run, cancel } }
  const session = await firstRound(stack, context, { repo_uri, mode: 'import', query: QUERY })
  expectCancelled(session)
  expect(asked).toHaveLength(1)
  expect(scoped.imports()).toEqual([['terraform_data.a', 'id-a']])
  const tip = (await stack.git(repo_uri, 'rev-parse', session.branch)).trim()
  const [row] = await base.sql`SELECT last_commit, reviewed_commit FROM sessions WHERE uuid = ${session.uuid}`
  expect(row).toEqual({ last_commit: tip, reviewed_commit: '' })
  expect(await managedState(base, repo_uri)).toEqual(['terraform_data.a'])
})
