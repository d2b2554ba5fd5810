import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { planOutsideTargets } from '../../../../pipeline/steps/plan/plan.ts'
import { unavailable } from '../../../../src/base/errors.ts'
import { MASK } from '../../../../src/base/masking.ts'
import type { BeyondTargets } from '../../../../src/plan/targets.ts'
import { useFolder } from '../../../helpers/folder.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { REPORT, review } from '../review.ts'
import { calmEngine, createSteps, type EngineScript, ok, type StepWorld, validPlan } from '../support.ts'

const steps = startOnce(createSteps)
const folder = useFolder()

const SECRET = 'sup3r-secret-value'
const change = (address: string, actions: string[], rest = {}) => ({
  address,
  mode: 'managed',
  type: 'a',
  name: 'n',
  change: { actions, ...rest },
})
const document = JSON.stringify({
  format_version: '1.2',
  resource_changes: [
    change('a.asked', ['create']),
    change('a.pending', ['update'], { after: { key: SECRET }, after_sensitive: { key: true } }),
  ],
})
const asked = (world: StepWorld, targets = ['a.asked']) =>
  validPlan(world, [{ address: 'a.asked', actions: ['create'] }], targets)

const HELD = { exit_code: 1, stderr: 'Error: Error acquiring the state lock\n\nLock Info:\n  ID: 1' }

describe('planOutsideTargets', () => {
  it('plans the whole root into another file and tells what only that changes', async () => {
    const world = await steps.world({ engine: calmEngine(document) })
    expect(await planOutsideTargets(world.kit, asked(world))).toEqual({
      made: true,
      changes: [{ address: 'a.pending', type: 'a', action: 'update' }],
      operations: [{ address: 'a.pending', action: 'update resource', changes: { removed: { '': { key: MASK } } } }],
    })
    expect(world.jobs.map(({ kind }) => kind)).toEqual(['plan', 'show'])
    const [plan, show] = world.jobs
    expect(plan?.body).toMatchObject({ targets: [], scope_id: 'acme-test', engine_provider: 'aws' })
    expect(plan?.body.plan_file).toMatch(/^whole-root-[0-9a-f]{8}\.plan$/)
    expect(show?.body.plan_file).toBe(plan?.body.plan_file)
    expect(world.kit.secrets.text(SECRET)).toBe(MASK)
  })

  it('does nothing without targets', async () => {
    const world = await steps.world()
    expect(await planOutsideTargets(world.kit, asked(world, []))).toBeNull()
    expect(world.jobs).toEqual([])
  })

  it('waits while another run holds the state', async () => {
    const engine: EngineScript = (job, number) =>
      job.kind === 'plan' && number === 1 ? HELD : calmEngine(document)(job, number)
    const world = await steps.world({ engine })
    expect(await planOutsideTargets(world.kit, asked(world))).toMatchObject({ made: true })
    expect(world.jobs.map(({ kind }) => kind)).toEqual(['plan', 'plan', 'show'])
  })

  it.each<[string, EngineScript, string]>([
    [
      'that the engine refuses',
      () => ({ exit_code: 1, stderr: `\n╷\n│ Error: Invalid value\n│\n│   on main.tf: ${SECRET}\n╵\n` }),
      `Error: Invalid value on main.tf: ${MASK}`,
    ],
    ['that fails without a word', () => ({ exit_code: 1 }), 'engine plan failed'],
    ['with endless output', () => ({ exit_code: 1, stderr: 'x'.repeat(100_000) }), `${'x'.repeat(300)}…`],
    [
      'that cannot be shown',
      ({ kind }) => ({ exit_code: kind === 'show' ? 1 : 0, stderr: 'no such file' }),
      'no such file',
    ],
    ['that is no document', calmEngine('{"surprise": 1}'), 'Engine plan json output could not be read.'],
  ])('a plan %s is a result', async (_, engine, reason) => {
    const world = await steps.world({ engine })
    world.kit.secrets.add([SECRET])
    expect(await planOutsideTargets(world.kit, asked(world))).toEqual({ made: false, reason })
  })

  it.each([
    [unavailable('iac service unreachable'), 'iac service unreachable'],
    [new TypeError('detail of a library'), 'an unexpected error occurred.'],
  ])('%s is a result, without the text of an unexpected error', async (error, reason) => {
    const world = await steps.world()
    world.run.context.iac.run = () => Promise.reject(error)
    expect(await planOutsideTargets(world.kit, asked(world))).toEqual({ made: false, reason })
  })

  it('leaves no plan file, whatever becomes of it', async () => {
    const root = folder.path
    await writeFile(join(root, 'session.plan'), 'reviewed')
    for (const show of [ok(document), { exit_code: 1, stderr: 'broken' }]) {
      const world = await steps.world({ engine: ({ kind }) => (kind === 'show' ? show : ok()) })
      Object.assign(world.workspace, { iacRoot: root, clone: root })
      const run = world.run.context.iac.run
      world.run.context.iac.run = async (kind, body, options) => {
        if (kind === 'plan' && 'plan_file' in body) await writeFile(join(root, body.plan_file), 'whole')
        return await run(kind, body, options)
      }
      await planOutsideTargets(world.kit, asked(world))
      expect(await readdir(root)).toEqual(['session.plan'])
    }
  })

  it('ends with the run', async () => {
    const stop = new AbortController()
    const world = await steps.world()
    Object.assign(world.run, { signal: stop.signal })
    world.run.context.iac.run = async () => {
      stop.abort(new Error('stopping'))
      throw new Error('cancelled')
    }
    await expect(planOutsideTargets(world.kit, asked(world))).rejects.toThrow('stopping')
  })
})

describe('the report', () => {
  it('is written while the whole root is planned', async () => {
    const model = Promise.withResolvers<void>()
    const generate_engine_plan_report = () => {
      model.resolve()
      return { args: REPORT }
    }
    const world = await steps.world({ scripts: { generate_engine_plan_report } })
    const beyond = model.promise.then((): BeyondTargets => ({ made: true, changes: [] }))
    const { report } = await review(world, asked(world), { beyond })
    expect(report.potential_impact.bullet_points).toEqual([
      { title: 'Outside the targets', description: 'A plan of the whole root changes nothing outside the targets.' },
    ])
  })

  it('that fails lets the engine finish in the workspace first', async () => {
    const order: string[] = []
    const engine = Promise.withResolvers<null>()
    const generate_engine_plan_report = () => {
      order.push('model fails')
      setImmediate(() => {
        order.push('engine is done')
        engine.resolve(null)
      })
      return { error: new Error('model is down') }
    }
    const world = await steps.world({ scripts: { generate_engine_plan_report } })
    await expect(review(world, asked(world), { beyond: engine.promise })).rejects.toThrow('model is down')
    expect(order).toEqual(['model fails', 'engine is done'])
  })
})
