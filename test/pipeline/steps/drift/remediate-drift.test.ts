import { describe, expect, it } from 'vitest'
import { checkDrift } from '../../../../pipeline/modes/generate.ts'
import type { DriftTask } from '../../../../pipeline/steps/drift/genuine-drift.ts'
import { remediateDrift } from '../../../../pipeline/steps/drift/remediate-drift.ts'
import { MASK } from '../../../../src/base/masking.ts'
import type { DriftOperation } from '../../../../src/plan/drift.ts'
import type { Plan } from '../../../../src/plan/plan.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { planOf } from '../../../plan/fixtures.ts'
import { type Script, said } from '../scripted-llm.ts'
import { calmEngine, createSteps, type EngineScript, ok, type StepWorld, validPlan } from '../support.ts'

const steps = startOnce(createSteps)

const ASSESSING = 'Assessing drift on the targeted infrastructure.'
const IN_SYNC = 'No drift found; the targeted infrastructure is synchronized.'
const WAITING = 'Waiting for infrastructure as code to be validated.'
const OWN = "Drift check completed; the remaining differences are this session's own changes."
const EXCEPTED = 'Drift check completed; the remaining differences are covered by the drift exception rules.'

const SPLIT = 'report_decomposed_task_operations'
const operations = (list: string[], explanation = '') => ({ args: { operations: list, explanation } })
const done = { args: { status: 'done', summary: 'Mended.' } }
const UPDATE = { actions: ['update'], before: { size: 1 }, after: { size: 2 } }
const changed = (address: string) => ({ address, ...UPDATE })
const document = (changes: unknown[]) =>
  JSON.stringify({ format_version: '1.2', configuration: {}, resource_changes: changes })
const driftOf = (address: string, change: object = UPDATE) => ({
  address,
  mode: 'managed',
  type: 'a',
  name: 'b',
  change,
})
const drifting = calmEngine(document([driftOf('a.b')]))
const failingAt =
  (kind: string, stderr: string): EngineScript =>
  (job) =>
    job.kind === kind ? { exit_code: 1, stderr } : ok()
const CONVENTIONS = { templates: [], abbreviations: [] }
const planned = (world: StepWorld) => validPlan(world, [changed('a.b')], ['a.b'])

const run = (world: StepWorld, changes: Partial<DriftTask> = {}) =>
  remediateDrift(world.kit, {
    valid: planned(world),
    targets: ['a.b'],
    filterSessionChanges: true,
    conventions: CONVENTIONS,
    maxIterations: 2,
    ...changes,
  })
/** What others have changed, as the plan of the code before the session shows it. */
const OF_OTHERS = planOf([
  changed('a.b'),
  changed('a.written'),
  { address: 'c.d', actions: ['delete'], before: { size: 1 } },
])
const withSplitter = async (script: Script[], engine?: EngineScript, orchestration = {}, base: Plan = OF_OTHERS) => {
  const world = await steps.world({ scripts: { [SPLIT]: script, task_complete: done }, engine, orchestration })
  const read = async (_plan: Plan, _state: unknown, operations: DriftOperation[]) => [
    { operations, reading: { ok: true, plan: base } },
  ]
  Object.assign(world.kit.base, { read })
  return world
}
const messages = async (world: StepWorld) => {
  await world.kit.status.settle()
  return (await world.statuses()).map(([, message]) => message)
}
const driftObjects = (world: StepWorld) =>
  [...world.objects.values()].filter(({ metadata }) => metadata.type === 'drift')

/** Returns the operations in each task of the generator. */
const tasks = ({ llm }: StepWorld): string[][] =>
  llm.of('task_complete').map(({ messages }) => {
    const [, , told = ''] =
      /<<<DATA operations (\w+)\n([\s\S]*?)\n\1 DATA>>>/.exec(messages.at(-1)?.content ?? '') ?? []
    return told.split('\n').map((line) => line.replace(/^- /, ''))
  })

describe('remediateDrift', () => {
  it('says so when there is none', async () => {
    const world = await withSplitter([])
    const result = await run(world, { valid: validPlan(world, [], ['a.b']) })
    expect(result).toMatchObject({ inSync: true, remaining: [], feedback: null, exclusions: [] })
    expect(await messages(world)).toEqual([ASSESSING, IN_SYNC])
    expect(world.jobs).toEqual([])
    expect(driftObjects(world)).toEqual([])
  })

  it('ends when only the session’s own changes are left, and stores the drift', async () => {
    const world = await withSplitter([operations(['change a.b']), operations([])])
    const result = await run(world)
    expect(result).toMatchObject({ inSync: true, remaining: [], feedback: null })
    expect(await messages(world)).toEqual([ASSESSING, OWN])
    expect(driftObjects(world).map(({ body }) => JSON.parse(body))).toEqual([
      [{ address: 'a.b', action: 'update resource', changes: { changed: { size: { old_value: 2, new_value: 1 } } } }],
    ])
    expect(world.llm.of(SPLIT).map(({ role }) => role)).toEqual(['main', 'small'])
    expect(world.llm.of('task_complete')).toEqual([])
  })

  it('ends when exception rules cover the rest, and keeps the note', async () => {
    const world = await withSplitter([operations(['change a.b']), operations([], 'a.b: size, rule tags')])
    const result = await run(world, { filterSessionChanges: false })
    expect(result).toMatchObject({ inSync: true, exclusions: ['a.b: size, rule tags'] })
    expect(await messages(world)).toEqual([ASSESSING, EXCEPTED])
    expect(said(world.llm.of(SPLIT)[1])).toContain('body of aws-guidelines-drift_exceptions')
  })

  it('remediates, plans the same targets and reads again', async () => {
    const world = await withSplitter([operations(['change a.b'])], calmEngine(document([])))
    const result = await run(world)
    expect(result).toMatchObject({ inSync: true, remaining: [], exclusions: [] })
    expect(await messages(world)).toEqual([ASSESSING, 'One sentence.', WAITING, ASSESSING, IN_SYNC])
    expect(world.jobs.find(({ kind }) => kind === 'plan')?.body.targets).toEqual(['a.b'])
    expect(world.jobs.filter(({ kind }) => kind === 'show')).toHaveLength(1)
    expect(said(world.llm.of('task_complete')[0])).not.toContain('forbidden_actions')
    expect(tasks(world)).toEqual([['change a.b']])
    // The user of a generate round asked for something else.
    expect(world.run.conversation).toEqual([])
    expect(world.run.result.summary).toBe('')
  })

  it('stops after the last iteration with what is left', async () => {
    const world = await withSplitter([operations(['change a.b'])], drifting)
    const result = await run(world, { filterSessionChanges: false })
    expect(result.inSync).toBe(false)
    expect(result.remaining).toHaveLength(1)
    const issues = 'Drift resolution completed but issues remain: a.b: size: 2 in the code, 1 in the infrastructure'
    expect(await messages(world)).toEqual([
      ASSESSING,
      'One sentence.',
      WAITING,
      ASSESSING,
      'One sentence.',
      WAITING,
      issues,
    ])
    expect(world.llm.of('task_complete')).toHaveLength(2)
    expect(world.llm.of('status')).toHaveLength(1)
  })

  it.each([
    [2, ['one', 'two', 'three'], [['one', 'two'], ['three']]],
    [8, ['one', 'two', 'three'], [['one', 'two', 'three']]],
    [0, ['one', 'two'], [['one'], ['two']]],
  ])('groups operations by %i', async (drift_group_operations, list, groups) => {
    const world = await withSplitter([operations(list)], calmEngine(), { drift_group_operations })
    await run(world, { filterSessionChanges: false, maxIterations: 1 })
    expect(tasks(world)).toEqual(groups)
  })

  it('lets filters name what stays but never write it', async () => {
    const world = await withSplitter([
      operations(['one', 'two']),
      operations(['invented', '2', 'one', '7']),
      operations(['one (size only)', '2']),
    ])
    await run(world, { maxIterations: 1 })
    const sent = said(world.llm.of(SPLIT)[2])
    expect(sent).toContain('\\"1\\": \\"one\\",')
    expect(sent).not.toContain('invented')
    // The exception filter has not named the first one, but it cannot be told what it meant.
    expect(tasks(world)).toEqual([['one', 'two']])
  })

  it('works on the drift itself when the splitter finds nothing', async () => {
    const world = await withSplitter([operations([]), operations(['change a.b'])])
    await run(world, { filterSessionChanges: false, maxIterations: 1 })
    expect(said(world.llm.of(SPLIT)[1])).toContain('update resource')
    expect(tasks(world)).toHaveLength(1)
  })

  it('drops what a splitter adds, and what goes beyond the limit for each address', async () => {
    const invented = ['Remove c.d, as the tags of a.bc demand', 'Open the firewall']
    const many = Array.from({ length: 40 }, (_, index) => `change ${index} of a.b`)
    const world = await withSplitter([operations([...invented, ...many]), operations([])])
    await run(world, { filterSessionChanges: false, maxIterations: 1 })
    const sent = said(world.llm.of(SPLIT)[1])
    expect(sent).toContain('change 31 of a.b')
    for (const dropped of ['c.d', 'firewall', 'change 32']) expect(sent).not.toContain(dropped)
  })

  it('plans the targets when there is no plan, and ends with the feedback of a plan that fails', async () => {
    const world = await withSplitter([], failingAt('plan', 'Error: no credentials'))
    const result = await run(world, { valid: null, targets: ['x.y'] })
    expect(result).toMatchObject({ inSync: false, feedback: 'Error: no credentials', valid: null })
    expect(world.jobs.at(-1)?.body.targets).toEqual(['x.y'])
  })

  it('plans again when the working tree moved on', async () => {
    const world = await withSplitter([])
    const valid = planned(world)
    world.workspace.current_revision = 'another'
    const result = await run(world, { valid })
    expect(world.jobs.map(({ kind }) => kind)).toEqual(['init', 'validate', 'plan', 'show'])
    expect(result).toMatchObject({ inSync: true, valid: { reference: { revision: 'another', targets: ['a.b'] } } })
  })

  it('tells later attempts what earlier ones were asked and changed, and which difference is theirs', async () => {
    const world = await withSplitter([operations(['change a.b'])], ({ kind }, number) =>
      kind === 'show' ? ok(document([driftOf(number === 1 ? 'a.b' : 'c.d')])) : ok('plan output'),
    )
    world.workspace.changedFiles = async () => ['main.tf']
    const revision = world.workspace.revision
    let asked = 0
    world.workspace.revision = async () => `${await revision()}-${asked++}`
    await run(world, { valid: null, targets: [], filterSessionChanges: false })
    const [first, second] = world.llm.of('task_complete').map((request) => said(request).split('Carry out').at(-1))
    expect(first).not.toContain('Earlier attempts')
    expect(second).toContain('were asked the following, and changed main.tf.')
    expect(second).toMatch(/earlier operations \w+\\n- change a\.b/)
    expect(second).toMatch(/caused differences \w+\\n- .*c\.d/)
  })

  it('tells a plan file that cannot be shown as feedback', async () => {
    const world = await withSplitter([], failingAt('show', 'stale plan'))
    expect(await run(world, { valid: null })).toMatchObject({ feedback: 'stale plan' })
  })

  it('refuses a plan of another workspace', async () => {
    const world = await withSplitter([])
    const valid = validPlan(world, [], [])
    valid.reference.workspace = '/elsewhere'
    await expect(run(world, { valid })).rejects.toThrow('another workspace')
  })

  it('does nothing without iterations', async () => {
    const world = await withSplitter([])
    expect(await run(world, { maxIterations: 0 })).toMatchObject({ inSync: false, remaining: [], feedback: null })
    expect(await messages(world)).toEqual([])
  })

  it('keeps what the last plan before a failure showed, and what was excepted', async () => {
    const two = document([driftOf('a.b'), driftOf('c.d')])
    const world = await withSplitter(
      [operations(['change a.b', 'change c.d']), operations(['change a.b'], 'c.d: rule')],
      ({ kind }, number) => {
        if (kind === 'show') return ok(two)
        return kind === 'plan' && number === 3 ? { exit_code: 1, stderr: 'Error: no credentials' } : ok('plan output')
      },
    )
    const commit = world.workspace.commitAndPush
    let commits = 0
    world.workspace.commitAndPush = async () => {
      commits++
      return commit()
    }
    const revision = world.workspace.revision
    world.workspace.revision = async () => (commits > 0 ? `${await revision()}-${commits++}` : await revision())
    const result = await run(world, { valid: null, targets: [], filterSessionChanges: false })
    expect(result).toMatchObject({
      inSync: false,
      feedback: 'Error: no credentials',
      remaining: [{ address: 'a.b' }],
      excepted: [{ address: 'c.d' }],
      detected: [{ address: 'a.b' }, { address: 'c.d' }],
      exclusions: ['c.d: rule'],
    })
  })

  it('does not take a target that names nothing for a target in sync; a generate round does', async () => {
    const engine = calmEngine(document([]))
    const task = { valid: null, targets: ['x.imagined'] }
    const alone = await run(await withSplitter([], engine), { ...task, filterSessionChanges: false })
    expect(alone).toMatchObject({ inSync: false, valid: null, feedback: expect.stringContaining('x.imagined') })
    expect(await run(await withSplitter([], engine), task)).toMatchObject({ inSync: true, feedback: null })
  })

  it('counts a target that the remediation took out of the code as in sync', async () => {
    const created = driftOf('a.b', { actions: ['create'], before: null, after: { size: 1 } })
    const world = await withSplitter([operations(['remove a.b'])], ({ kind }, number) =>
      kind === 'show' ? ok(document(number === 1 ? [created] : [])) : ok('plan output'),
    )
    expect(await run(world, { valid: null, targets: ['a.b'], filterSessionChanges: false })).toMatchObject({
      inSync: true,
      feedback: null,
      detected: [{ address: 'a.b', action: 'delete resource' }],
    })
  })

  it('hides sensitive values from models and the artifact', async () => {
    const values = { before: { pw: 'topsecret-1' }, after: { pw: 'topsecret-2' } }
    const sensitive = { before_sensitive: { pw: true }, after_sensitive: { pw: true } }
    const changes = [{ actions: ['update'], ...values, ...sensitive }]
    const world = await withSplitter([operations(['change']), operations([])], undefined, {}, planOf(changes))
    const valid = validPlan(world, changes)
    await world.kit.secrets.learn(valid.plan)
    await run(world, { valid })
    expect(driftObjects(world)[0]?.body).toContain(MASK)
    expect(JSON.stringify([driftObjects(world), world.llm.requests])).not.toContain('topsecret')
  })
})

describe('checkDrift', () => {
  const check = (world: StepWorld, given = planned(world)) => checkDrift(world.kit, given, CONVENTIONS)

  it('goes on with the plan it was given when only own changes are left', async () => {
    const world = await withSplitter([operations(['change a.b']), operations([])])
    expect(await check(world)).toMatchObject({ ok: true, text: 'plan text' })
  })

  it('goes on with the plan of the last remediation, after at most two passes', async () => {
    const world = await withSplitter([operations(['change a.b'])], drifting)
    expect(await check(world)).toMatchObject({ ok: true, text: 'plan output' })
    expect((await messages(world)).filter((message) => message === ASSESSING)).toHaveLength(2)
  })

  it('tells what others changed and the round wrote into the code', async () => {
    const own = { actions: ['update'], before: { own: 1 }, after: { own: 2 } }
    const engine = calmEngine(document([driftOf('a.b', own)]))
    const world = await withSplitter([operations(['change a.b', 'add c.d'])], engine)
    world.workspace.changedFiles = async () => ['main.tf']
    const changes = [
      { address: 'a.b', actions: ['update'], before: { size: 1, own: 1 }, after: { size: 2, own: 2 } },
      { address: 'c.d', actions: ['delete'], before: { size: 1 } },
      changed('e.f'),
    ]
    await check(world, validPlan(world, changes))
    expect(world.run.result.drift).toEqual([
      'c.d: added to the code, since the infrastructure has it (main.tf)',
      'a.b: size 2 → 1, as the infrastructure has it (main.tf)',
    ])
  })

  it('tells nothing when no file was changed', async () => {
    const world = await withSplitter([operations(['change a.b'])], calmEngine())
    await check(world)
    expect(world.run.result.drift).toEqual([])
  })

  it('fails the round with the words of the engine', async () => {
    const world = await withSplitter([], failingAt('plan', 'Error: state is locked'))
    const given = planned(world)
    world.workspace.current_revision = 'another'
    await expect(check(world, given)).rejects.toThrow('Error: state is locked')
  })
})

describe('drift after an import', () => {
  it('of what was imported is genuine; the rest passes the filter of the session’s own changes', async () => {
    const answers = [['change a.imported'], ['change a.written'], [], ['change a.imported']]
    const world = await withSplitter(answers.map((list) => operations(list)))
    const valid = validPlan(world, [changed('a.imported'), changed('a.written')])
    await run(world, { valid, targets: [], imported: new Set(['a.imported']), maxIterations: 1 })
    const asked = world.llm.of(SPLIT).map((request) => ({ role: request.role, text: said(request) }))
    expect(asked.map(({ role }) => role)).toEqual(['main', 'main', 'small', 'small'])
    const [imported, written, filter, exceptions] = asked.map(({ text }) => text)
    expect(imported).toContain('a.imported')
    expect(imported).not.toContain('a.written')
    expect(written).not.toContain('a.imported')
    expect(filter).not.toContain('a.imported')
    expect(exceptions).not.toContain('a.written')
    expect(world.llm.of('task_complete')[0]?.messages.at(-1)?.content).toContain('\n- change a.imported\n')
  })
})
