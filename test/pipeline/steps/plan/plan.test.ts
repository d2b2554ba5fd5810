import { describe, expect, it } from 'vitest'
import { createKit } from '../../../../pipeline/kit/kit.ts'
import { planTargets } from '../../../../pipeline/steps/plan/plan.ts'
import { LeaseLost } from '../../../../src/base/errors.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { claimForRun } from '../../../../src/rounds/claim.ts'
import type { EngineResult } from '../../../../src/services/iac/contract.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { changesJson, changesText } from '../../../plan/fixtures.ts'
import { calmEngine, createSteps, type EngineScript, ok } from '../support.ts'

const steps = startOnce(createSteps)

/** Makes an engine that fails a job of this kind, the first or as `when` says, and is calm otherwise. */
const failing =
  (
    kind: string,
    result: Partial<EngineResult>,
    when: (number: number) => boolean = (number) => number === 1,
  ): EngineScript =>
  (job, number) =>
    job.kind === kind && when(number) ? { exit_code: 1, ...result } : calmEngine()(job, number)
const kinds = (jobs: { kind: string }[]) => jobs.map(({ kind }) => kind)

describe('planTargets', () => {
  it('initialises, validates, plans with the targets and reads the plan', async () => {
    const { kit, run, jobs } = await steps.world()
    const result = await planTargets(kit, ['terraform_data.a'])
    const root = { workspace_path: '/clone/root', repository: 'github.com/acme/infra' }
    const scoped = { ...root, scope_id: 'acme-test', engine_provider: 'aws' }
    expect(jobs).toEqual([
      { kind: 'init', body: scoped },
      { kind: 'validate', body: { ...root, json: true } },
      { kind: 'plan', body: { ...scoped, plan_file: 'session.plan', targets: ['terraform_data.a'] } },
      { kind: 'show', body: { ...root, plan_file: 'session.plan' } },
    ])
    const reference = { workspace: '/clone/root', plan_file: 'session.plan' }
    expect(result).toMatchObject({
      ok: true,
      text: 'plan output',
      reference: { ...reference, targets: ['terraform_data.a'], revision: 'revision-0', plan_sha256: null },
    })
    expect(run.meter.usage().engine_s).toBeGreaterThanOrEqual(0)
  })

  it('initialises once a run, and validates before every plan', async () => {
    const { kit, jobs } = await steps.world()
    await planTargets(kit, [])
    await planTargets(kit, [])
    expect(kinds(jobs)).toEqual(['init', 'validate', 'plan', 'show', 'validate', 'plan', 'show'])
  })

  it('validates code that was not valid once more', async () => {
    const { kit, jobs } = await steps.world({ engine: failing('validate', {}) })
    await planTargets(kit, [])
    await planTargets(kit, [])
    expect(kinds(jobs)).toEqual(['init', 'validate', 'validate', 'plan', 'show'])
  })

  it.each([
    ['Error: Module not installed\n\nRun "terraform init" to install all modules.'],
    ['Error: Required plugins are not installed'],
    ['Error: Backend initialization required, please run "tofu init"'],
  ])('initialises again when the engine asks for it: %s', async (stderr) => {
    const engine = failing('validate', { stderr }, (number) => number === 2)
    const { kit, jobs, workspace } = await steps.world({ engine })
    await planTargets(kit, [])
    workspace.current_revision = 'revision-1'
    const result = await planTargets(kit, [])
    expect(result.ok).toBe(true)
    expect(kinds(jobs)).toEqual(['init', 'validate', 'plan', 'show', 'validate', 'init', 'validate', 'plan', 'show'])
  })

  it('initialises again once only', async () => {
    const engine = failing('validate', { stderr: 'run terraform init' }, (number) => number > 1)
    const { kit, jobs, workspace } = await steps.world({ engine })
    await planTargets(kit, [])
    workspace.current_revision = 'revision-1'
    expect(await planTargets(kit, [])).toMatchObject({ ok: false, feedback: 'run terraform init' })
    expect(kinds(jobs).filter((kind) => kind === 'init')).toHaveLength(2)
  })

  it('does not repeat an init that has just been made', async () => {
    const { kit, jobs } = await steps.world({ engine: failing('validate', { stderr: 'please run terraform init' }) })
    await planTargets(kit, [])
    expect(kinds(jobs)).toEqual(['init', 'validate'])
  })

  it.each<[string, Partial<EngineResult>, string, string]>([
    ['init', { stderr: 'no backend' }, 'no backend', ''],
    ['init', {}, 'engine init failed', ''],
    ['validate', { stdout: 'listing', stderr: '  ' }, 'engine validate failed', ''],
    ['plan', { stdout: 'half a plan', stderr: 'Error: no' }, 'Error: no', 'half a plan'],
    ['plan', { exit_code: 2 }, 'engine plan failed', ''],
  ])('answers a failing %s as feedback: %o', async (step, result, feedback, text) => {
    const { kit } = await steps.world({ engine: failing(step, result) })
    expect(await planTargets(kit, [])).toEqual({ ok: false, text, feedback, step, targets: [] })
  })

  it('plans the whole root, and says so, when the engine refuses every choice of targets', async () => {
    const refusal =
      'Error: Moved resource instances excluded by targeting\n\nAdd the following:\n  -target="x.b"\n\nNote.\n'
    const { kit, run, jobs } = await steps.world({
      engine: (job, number) =>
        job.kind === 'plan' && (job.body.targets as string[]).length > 0
          ? { exit_code: 1, stderr: refusal }
          : calmEngine()(job, number),
    })
    expect(await planTargets(kit, ['x.a'])).toMatchObject({ ok: true, reference: { targets: [] } })
    const planned = jobs.filter(({ kind }) => kind === 'plan').map(({ body }) => body.targets)
    expect(planned).toEqual([['x.a'], ['x.a', 'x.b'], []])
    expect(kinds(jobs).filter((kind) => kind === 'validate')).toHaveLength(1)
    expect(run.result.notes).toEqual(['The whole root was planned, because the engine refused to plan parts of it.'])
  })

  it('leaves out a target that nothing has when others remain, and keeps it otherwise', async () => {
    const document = JSON.stringify({
      format_version: '1.2',
      configuration: { root_module: { resources: [{ address: 'x.a' }] } },
    })
    const { kit, run } = await steps.world({ engine: calmEngine(document) })
    expect(await planTargets(kit, ['x.a', 'x.none'])).toMatchObject({ reference: { targets: ['x.a'] } })
    expect(run.result.notes).toEqual(['The target x.none was left out: neither the code nor the state has it.'])
    expect(await planTargets(kit, ['x.none'])).toMatchObject({ reference: { targets: ['x.none'] } })
  })

  it('initialises on the next plan when the init failed', async () => {
    const { kit, jobs } = await steps.world({ engine: failing('init', {}) })
    await planTargets(kit, [])
    expect((await planTargets(kit, [])).ok).toBe(true)
    expect(kinds(jobs)).toEqual(['init', 'init', 'validate', 'plan', 'show'])
  })

  it('masks text and later feedback with what the plan marks sensitive', async () => {
    let plans = 0
    const { kit } = await steps.world({
      engine: ({ kind }) => {
        if (kind === 'show') return ok(changesJson)
        if (kind !== 'plan') return ok()
        return ++plans === 1
          ? ok(changesText)
          : { exit_code: 1, stdout: 'S3cret-Passw0rd!', stderr: 'bad value "tok-ABCDEF-123456"' }
      },
    })
    const first = await planTargets(kit, [])
    expect(first.text).not.toContain('S3cret-Passw0rd!')
    const expected = { ok: false, text: MASK, feedback: `bad value "${MASK}"`, step: 'plan', targets: [] }
    expect(await planTargets(kit, [])).toEqual(expected)
  })

  it('fails the run when a plan cannot be read', async () => {
    const broken = await steps.world({ engine: calmEngine('not JSON') })
    await expect(planTargets(broken.kit, [])).rejects.toMatchObject({ status: 502 })
    const unshown = await steps.world({ engine: failing('show', {}) })
    const unreadable = { code: 'EnginePlanUnreadable', message: 'engine show failed' }
    await expect(planTargets(unshown.kit, [])).rejects.toMatchObject(unreadable)
    const future = await steps.world({ engine: calmEngine('{"format_version": "2.0"}') })
    await expect(planTargets(future.kit, [])).rejects.toThrow('Engine plan json output major format change.')
  })

  it('records every job, and stops when the round was taken over', async () => {
    const { kit, run } = await steps.world()
    await planTargets(kit, [])
    const [row] = await steps.database.sql`SELECT jobs FROM rounds WHERE id = ${run.round.id}`
    expect(Object.keys(row?.jobs ?? {}).toSorted()).toEqual(['init-1', 'plan-1', 'show-1', 'validate-1'])
    await steps.database.sql`UPDATE rounds SET lease_until = NULL WHERE id = ${run.round.id}`
    await claimForRun(steps.database.sql, run.round.id)
    await expect(planTargets(kit, [])).rejects.toBeInstanceOf(LeaseLost)
  })

  it('waits for the jobs of an interrupted attempt before it submits its own', async () => {
    const { run, jobs } = await steps.world()
    const waited: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    run.context.iac.wait = async (id) => {
      waited.push(id)
      if (id === 'still-running') await promise
      if (id === 'lost') throw new Error('Unknown or expired job')
      return ok()
    }
    const round = { ...run.round, attempt: 2, jobs: { 'plan-1': 'still-running', 'init-1': 'lost' } }
    const planning = planTargets(createKit({ ...run, round }), [])
    await new Promise(setImmediate)
    expect(waited.toSorted()).toEqual(['lost', 'still-running'])
    expect(jobs).toEqual([])
    resolve()
    expect((await planning).ok).toBe(true)
  })
})
