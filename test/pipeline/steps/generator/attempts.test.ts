import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createKit } from '../../../../pipeline/kit/kit.ts'
import { createStatementCheck, noteUnmet } from '../../../../pipeline/steps/generate/check-intent.ts'
import { generateAndValidate } from '../../../../pipeline/steps/generator/generate-and-validate.ts'
import type { Validation } from '../../../../pipeline/steps/generator/validation.ts'
import type { ValidPlan } from '../../../../pipeline/steps/plan/plan.ts'
import { createCheckedValidator, createPlanValidator } from '../../../../pipeline/steps/plan/validators.ts'
import { LeaseLost } from '../../../../src/base/errors.ts'
import { MASK } from '../../../../src/base/masking.ts'
import type { Operation } from '../../../../src/base/vocabulary.ts'
import { STOPPING } from '../../../../src/data/queue.ts'
import type { AttemptDetail } from '../../../../src/rounds/attempts.ts'
import type { StatementResult } from '../../../../src/rules/intent/statement.ts'
import { loadAggregate } from '../../../../src/sessions/aggregate.ts'
import { useFolder } from '../../../helpers/folder.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { calmEngine, createSteps, type EngineScript, type StepWorld } from '../support.ts'

const steps = startOnce(createSteps)
const folder = useFolder()

const SECRET = 'planted-S3cret-Passw0rd'
const done = { args: { status: 'done', summary: 'Written.' } }

/** Makes a world in which every attempt changes a file. */
async function worldOf(engine: EngineScript, options: Parameters<typeof steps.world>[0] = {}): Promise<StepWorld> {
  const world = await steps.world({ scripts: { task_complete: done, ...options.scripts }, engine, ...options })
  world.workspace.pendingChanges = async () => [{ path: 'main.tf', new_file: true, content: 'x' }]
  return world
}

async function generate(
  world: StepWorld,
  validate?: () => Promise<Validation<ValidPlan>>,
  { maxAttempts = 3, operation = 'generate' as Operation } = {},
) {
  const task = { query: 'Add a bucket', prompt: 'Please.', conventions: { templates: [], abbreviations: [] } }
  const ended = await generateAndValidate(world.kit, {
    ...task,
    operation,
    forbid: false,
    maxAttempts,
    validate: validate ?? createPlanValidator(world.kit, async () => []),
  }).catch((error: unknown) => error)
  await world.kit.status.settle().catch(() => {})
  return ended
}

async function attemptsOf({ run }: StepWorld): Promise<AttemptDetail[]> {
  const { uuid } = run.round.session
  const session = await loadAggregate(run.context, uuid, { includeHistory: true })
  return session?.rounds.at(-1)?.attempts ?? []
}
/** Generates, and returns the attempts. */
async function attemptsIn(...how: Parameters<typeof generate>): Promise<AttemptDetail[]> {
  await generate(...how)
  return await attemptsOf(how[0])
}
/** Renders the steps that ran, with their number if above one, for example `generate ok, plan failed 2`. */
const ran = (attempt: AttemptDetail | undefined): string =>
  attempt?.steps
    .filter(({ outcome }) => outcome !== 'skipped')
    .map(({ name, outcome, runs }) => `${name} ${outcome}${runs > 1 ? ` ${runs}` : ''}`)
    .join(', ') ?? ''

/** Records an attempt as an earlier run does. */
const record = ({ run }: StepWorld, number: number, outcome: string | null = null) => steps.database.sql`
  INSERT INTO round_attempts (round_id, number, restart, task, outcome)
  SELECT ${run.round.id}, ${number}, 0, 'generate', ${outcome}`

/** Makes an engine in which one step fails with these texts, once for each. */
const failingAt =
  (kind: string, ...words: string[]): EngineScript =>
  (job, number) => {
    const text = job.kind === kind ? words[number - 1] : undefined
    return text === undefined ? calmEngine()(job, number) : { exit_code: 1, stderr: text }
  }
const errorIn = (summary: string, line = 2) =>
  `Error: ${summary}\n\n  on main.tf line ${line}, in resource "a" "b":\n   ${line}:   x = 1\n\nWhat is wrong.\n`

describe('attempts at code', () => {
  it('of which the first is refused by validate: what was found, in which file, and why the next began', async () => {
    const world = await worldOf(failingAt('validate', errorIn('Unsupported argument')))
    Object.assign(world.workspace, { iacRoot: folder.path, clone: folder.path })
    await writeFile(join(folder.path, 'main.tf'), 'resource "a" "b" {\n  x = 1\n}\n')
    const [first, second, ...more] = await attemptsIn(world)
    expect(more).toEqual([])
    expect(first).toMatchObject({ number: 1, restart: 0, task: 'generate', outcome: 'refused', commit: 'commit-1' })
    expect(ran(first)).toBe('generate ok, init ok, validate failed')
    expect(first?.diagnostics).toEqual([
      {
        severity: 'error',
        step: 'validate',
        summary: 'Unsupported argument',
        detail: 'What is wrong.',
        file: 'main.tf',
        line: 2,
        snippet: '    1: resource "a" "b" {\n>   2:   x = 1\n    3: }\n    4:',
        address: null,
        rule: null,
      },
    ])
    expect(first?.next_reason).toBe('The engine does not accept the code: Unsupported argument (main.tf:2).')
    const accepted = { outcome: 'accepted', commit: 'commit-2', diagnostics: [], next_reason: null }
    expect(second).toMatchObject({ number: 2, ...accepted })
    expect(ran(second)).toBe('generate ok, validate ok, plan ok, show ok')
    expect(second?.input_tokens).toBeGreaterThan(0)
  })

  it('take the diagnostics of the engine itself where it offers them, without a job more at the end', async () => {
    let asked = 0
    const range = { filename: 'main.tf', start: { line: 7 } }
    const diagnostics = async () => {
      asked++
      return [
        { severity: 'error', summary: 'Told by the engine', detail: 'd', address: 'a.b', range, snippet: undefined },
      ]
    }
    const words = [errorIn('From the text'), errorIn('From the text')]
    const world = await worldOf(failingAt('validate', ...words), { additions: { diagnostics } })
    const [first, second] = await attemptsIn(world, undefined, { maxAttempts: 2 })
    expect(first?.diagnostics).toMatchObject([{ summary: 'Told by the engine', line: 7, address: 'a.b' }])
    expect(second?.diagnostics).toMatchObject([{ summary: 'From the text', line: 2 }])
    expect(second).toMatchObject({ outcome: 'refused', next_reason: null })
    expect(asked).toBe(1)
  })

  it.each([
    ['init', 'generate ok, init failed', 'The engine could not initialise the code: No such module.'],
    ['plan', 'generate ok, init ok, validate ok, plan failed', 'The code could not be planned: No such module.'],
  ])('of which one fails at %s', async (kind, passed, reason) => {
    const world = await worldOf(failingAt(kind, 'Error: No such module\n\nIt is not there.'))
    const [first, second] = await attemptsIn(world)
    expect(ran(first)).toBe(passed)
    expect(first).toMatchObject({ outcome: 'refused', diagnostics: [{ step: kind, file: null }], next_reason: reason })
    expect(second?.outcome).toBe('accepted')
  })

  it('say with the words of the engine what has no known form', async () => {
    const [first] = await attemptsIn(await worldOf(failingAt('plan', 'panic: it broke\nsomewhere')))
    expect(first?.diagnostics).toMatchObject([{ step: 'plan', summary: 'panic: it broke', detail: 'somewhere' }])
  })

  it('fail when a plan cannot be read, with what the engine said', async () => {
    const world = await worldOf(failingAt('show', 'Error: Failed to read plan\n\nIt is no plan.'))
    const [first, ...more] = await attemptsIn(world)
    expect(more).toEqual([])
    expect(ran(first)).toBe('generate ok, init ok, validate ok, plan ok, show failed')
    expect(first).toMatchObject({ outcome: 'failed', diagnostics: [{ step: 'show', summary: 'Failed to read plan' }] })
  })

  it('fail when the model does not finish, and keep the text of other errors to the log', async () => {
    const world = await worldOf(calmEngine(), { scripts: { task_complete: { text: 'half', finish: 'max_tokens' } } })
    expect(await attemptsIn(world)).toMatchObject([
      { outcome: 'failed', commit: null, diagnostics: [{ step: 'generate', severity: 'error' }] },
    ])
    const broken = await worldOf(calmEngine())
    broken.workspace.commitAndPush = async () => {
      throw new Error('/secret/path of this machine')
    }
    expect(await attemptsIn(broken)).toMatchObject([
      { outcome: 'failed', diagnostics: [{ step: null, summary: 'An unexpected error occurred.' }] },
    ])
  })

  it('have no commit when nothing was changed', async () => {
    const world = await worldOf(calmEngine())
    world.workspace.pendingChanges = async () => []
    expect(await attemptsIn(world)).toMatchObject([{ outcome: 'accepted', commit: null }])
  })

  it('of a second loop say what that one is for, and count on', async () => {
    const world = await worldOf(calmEngine())
    await generate(world)
    expect(await attemptsIn(world, undefined, { operation: 'drift' })).toMatchObject([
      {
        number: 1,
        outcome: 'continued',
        next_reason: 'What differs from the infrastructure has to be written into the code: Add a bucket',
      },
      { number: 2, task: 'drift', outcome: 'accepted', next_reason: null },
    ])
  })

  it('end with the restored one when only an earlier one was good enough', async () => {
    const world = await worldOf(calmEngine())
    const planned = createPlanValidator(world.kit, async () => [])
    let number = 0
    const validate = async (): Promise<Validation<ValidPlan>> => {
      number++
      if (number > 1) return { ok: false, text: '', targets: [], feedback: errorIn('Later'), step: 'validate' }
      const goodEnough = { query: 'Add it.', validateAgain: planned }
      return { ok: false, text: '', targets: [], feedback: 'One part is missing.', goodEnough }
    }
    const attempts = await attemptsIn(world, validate)
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['refused', 'refused', 'refused', 'accepted'])
    expect(attempts[0]).toMatchObject({ diagnostics: [{ step: null, summary: 'One part is missing.' }] })
    expect(attempts[2]?.next_reason).toMatch(/^No later attempt was valid: the code of an earlier one/)
    expect(attempts[3]?.steps[0]).toEqual({ name: 'generate', outcome: 'skipped', seconds: 0, runs: 0 })
    expect(attempts[3]?.steps.find(({ name }) => name === 'plan')?.outcome).toBe('ok')
  })

  it('are refused by the check of the request, with each statement that is unmet', async () => {
    const world = await worldOf(calmEngine())
    const unmet = (text: string, address: string): StatementResult => ({
      statement: { id: text, text, words: 'thrice', kind: 'unchanged', address },
      verdict: 'unmet',
      finding: `${address} is updated, ${SECRET}`,
    })
    world.kit.secrets.add([SECRET])
    const verdicts = [[unmet('Nothing else changes.', 'a.b'), unmet('It stays.', 'a.c')], []]
    const check = { evaluate: async () => verdicts.shift() ?? [], gap: () => null, stop: () => {} }
    const planned = createPlanValidator(world.kit, async () => [])
    const options = { validate: planned, maxAttempts: 3 }
    await generate(world, createCheckedValidator(world.kit, options, [createStatementCheck(world.kit, check)]))
    await noteUnmet(world.kit, [unmet('Still unmet.', 'a.d')])
    const [first, second] = await attemptsOf(world)
    expect(ran(first)).toBe('generate ok, init ok, validate ok, plan ok, show ok, check failed')
    expect(first).toMatchObject({
      outcome: 'refused',
      diagnostics: [
        {
          severity: 'error',
          step: 'check',
          summary: `Expected: Nothing else changes. Found: a.b is updated, ${MASK}`,
          detail: 'The request says: "thrice".',
          address: 'a.b',
        },
        { step: 'check', address: 'a.c' },
      ],
      next_reason: `The plan is not what was asked for. Expected: Nothing else changes. Found: a.b is updated, ${MASK}, and 1 more.`,
    })
    expect(second).toMatchObject({
      outcome: 'accepted',
      diagnostics: [{ severity: 'warning', summary: `Expected: Still unmet. Found: a.d is updated, ${MASK}` }],
      diagnostics_total: 1,
    })
    expect(ran(second)).toContain('check ok')
  })

  it('are all refused when none is valid', async () => {
    const world = await worldOf(failingAt('plan', errorIn('One'), errorIn('Two'), errorIn('Three')))
    expect((await attemptsIn(world)).map(({ outcome, next_reason }) => [outcome, next_reason])).toEqual([
      ['refused', 'The code could not be planned: One (main.tf:2).'],
      ['refused', 'The code could not be planned: Two (main.tf:2).'],
      ['refused', null],
    ])
  })
})

describe('what is recorded of an attempt', () => {
  it('has no secret in it, in no field, also where a line is cut', async () => {
    const pad = 'x'.repeat(190)
    const text = `resource "a" "b" {\n  pad = "${pad}" # ${SECRET}\n  password = "${SECRET}"\n}\n`
    const told =
      `Error: Wrong ${SECRET}\n\n  with a.b["${SECRET}"],\n  on main.tf line 3, in resource "a" "b":\n` +
      `   3:   password = "${SECRET}"\n\nDetail of ${SECRET} in ${folder.path}/main.tf.\n`
    const world = await worldOf(failingAt('validate', told))
    Object.assign(world.workspace, { iacRoot: folder.path, clone: folder.path })
    await writeFile(join(folder.path, 'main.tf'), text)
    world.kit.secrets.add([SECRET])
    const attempts = await attemptsIn(world)
    const stored = await steps.database.sql`SELECT * FROM round_attempts WHERE round_id = ${world.run.round.id}`
    for (const json of [JSON.stringify(attempts), JSON.stringify(stored)]) {
      expect(json).not.toContain(SECRET.slice(0, 8))
      expect(json).not.toContain(folder.path)
    }
    expect(attempts[0]?.diagnostics[0]).toMatchObject({
      summary: `Wrong ${MASK}`,
      detail: `Detail of ${MASK} in ./main.tf.`,
      snippet: expect.stringContaining(`password = "${MASK}"`),
      address: `a.b["${MASK}"]`,
    })
    expect(attempts[0]?.next_reason).toBe(`The engine does not accept the code: Wrong ${MASK} (main.tf:3).`)
  })

  it('is limited in number and size, and says how much was found', async () => {
    const many = Array.from({ length: 40 }, (_, index) => errorIn(`Fault ${index} ${'é'.repeat(5000)}`)).join('\n')
    const [first] = await attemptsIn(await worldOf(failingAt('plan', many)))
    expect(first?.diagnostics).toHaveLength(20)
    expect(first?.diagnostics_total).toBe(40)
    expect(JSON.stringify(first).length).toBeLessThan(30_000)
    expect(first?.next_reason?.length).toBeLessThan(600)
  })

  it('keeps few findings of an attempt that comes after many others', async () => {
    const many = Array.from({ length: 9 }, (_, index) => errorIn(`Fault ${index}`)).join('\n')
    const world = await worldOf(failingAt('plan', many))
    await record(world, 50)
    const late = (await attemptsIn(world)).find(({ number }) => number === 51)
    expect(late?.diagnostics).toHaveLength(3)
    expect(late?.diagnostics_total).toBe(9)
  })
})

describe('the record of attempts', () => {
  it('ends a round that has lost its lease', async () => {
    const world = await worldOf(calmEngine())
    await steps.database.sql`UPDATE sessions SET fence = fence + 1 WHERE id = ${world.run.round.session.id}`
    expect(await generate(world)).toBeInstanceOf(LeaseLost)
    expect(world.jobs).toEqual([])
    expect(await attemptsOf(world)).toEqual([])
  })

  it('keeps no round from its work when the database takes nothing of it', async () => {
    const world = await worldOf(calmEngine())
    await record(world, 2_147_483_647)
    expect(await generate(world)).toMatchObject({ ok: true })
    expect(await attemptsOf(world)).toHaveLength(1)
  })

  it.each([
    ['interrupted', STOPPING],
    ['cancelled', new Error('somebody ended the round')],
    [null, new LeaseLost()],
  ])('says %s when the run ends early', async (outcome, reason) => {
    const stop = new AbortController()
    const world = await worldOf(calmEngine())
    const kit = createKit({ ...world.run, signal: stop.signal })
    const validate = async () => {
      stop.abort(reason)
      throw reason
    }
    expect(await attemptsIn({ ...world, kit }, validate)).toMatchObject([{ outcome, diagnostics: [] }])
  })

  it('says that a round starts again', async () => {
    const world = await worldOf(calmEngine())
    await record(world, 1, 'interrupted')
    const kit = createKit({ ...world.run, round: { ...world.run.round, attempt: 2 } })
    expect(await attemptsIn({ ...world, kit })).toMatchObject([
      { restart: 0, next_reason: 'The round was interrupted and starts again.' },
      { number: 2, restart: 1, outcome: 'accepted' },
    ])
  })
})
