import { describe, expect, it } from 'vitest'
import { createStatementCheck, startIntentCheck } from '../../../../pipeline/steps/generate/check-intent.ts'
import { generateAndValidate } from '../../../../pipeline/steps/generator/generate-and-validate.ts'
import type { ValidPlan } from '../../../../pipeline/steps/plan/plan.ts'
import { createCheckedValidator, createPlanValidator } from '../../../../pipeline/steps/plan/validators.ts'
import { createLogger } from '../../../../src/base/log.ts'
import { MASK } from '../../../../src/base/masking.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { readBlocks } from '../../../prompts/blocks.ts'
import { type Reply, type Script, said } from '../scripted-llm.ts'
import { createSteps, type EngineScript, ok, type StepWorld, validPlan } from '../support.ts'

const steps = startOnce(createSteps)

const done = (summary: string): Reply => ({ args: { status: 'done', summary } })
const COUNT = { kind: 'resource_count', type: 'a_bucket', action: 'create', op: 'at_least', value: '2' }
const two = { ...COUNT, text: 'Two buckets', words: 'two buckets' }
const statements = (...list: object[]): Reply => ({ args: { statements: list } })

/** Makes the `show -json` of a plan that creates this many buckets. */
const planJson = (count: number, after: object = {}) =>
  JSON.stringify({
    format_version: '1.2',
    resource_changes: Array.from({ length: count }, (_, index) => ({
      address: `a_bucket.b[${index}]`,
      mode: 'managed',
      type: 'a_bucket',
      name: 'b',
      change: { actions: ['create'], after, after_sensitive: { key: true } },
    })),
  })

/** Makes an engine whose `show` returns one document after the other: a number of buckets, or null for a failure. */
function engine(...counts: (number | null)[]): EngineScript {
  let shown = 0
  return ({ kind }, number) => {
    if (kind === 'plan' && counts[number - 1] === null) return { exit_code: 1, stderr: 'Error: broken' }
    if (kind === 'plan') shown = counts[number - 1] ?? counts.at(-1) ?? 0
    return kind === 'show' ? ok(planJson(shown)) : ok(`${kind} output`)
  }
}

const summaries = [done('First.'), done('Second.'), done('Third.'), done('Fourth.')]
const world = (intent: Script | Script[], counts: (number | null)[], generator: Script[] = summaries) =>
  steps.world({
    scripts: { task_complete: generator, report_intent_statements: intent },
    engine: engine(...counts),
    query: 'Add two buckets',
  })

async function round({ kit }: StepWorld, maxAttempts = 5, maxMs?: number) {
  const check = startIntentCheck(kit, Promise.resolve('main.tf (1 B): resource a_bucket.old'), maxMs)
  const planned = createPlanValidator(kit, async () => ['a_bucket.b'])
  const validate = createCheckedValidator(kit, { validate: planned, maxAttempts }, [createStatementCheck(kit, check)])
  const task = { query: 'Add two buckets', prompt: 'Add two buckets', operation: 'generate', forbid: false } as const
  const conventions = { templates: [], abbreviations: [] }
  const value: ValidPlan = await generateAndValidate(kit, { ...task, conventions, maxAttempts, validate })
  return { value, results: await check.evaluate(value.plan), gap: check.gap() }
}
const verdicts = ({ results }: Awaited<ReturnType<typeof round>>) => results.map(({ verdict }) => verdict)

describe('a plan that leaves a statement unmet', () => {
  it('is repaired, the generator being told what is missing as data', async () => {
    const one = await world(statements(two), [1, 2])
    expect(verdicts(await round(one))).toEqual(['met'])
    expect(one.run.meter.usage().validation_attempts).toBe(2)
    expect(one.llm.of('task_complete')[1]?.messages.at(-1)?.content).toMatch(
      /<<<DATA missing (\w+)\n- Expected: Two buckets\. Found: 1 a_bucket to create\. The request says: "two buckets"\.\n\1 DATA>>>/,
    )
    expect(one.run.result).toMatchObject({
      summary: 'First.',
      repairs: [
        expect.stringMatching(
          /^Attempt 1 was valid, but not what was asked for: .*; attempt 2 changed nothing: Second\.$/,
        ),
      ],
    })
  })

  it.each([
    [1, 1],
    [2, 2],
    [5, 3],
  ])('is never worth the last of %i attempts, and two at the most: %i', async (maxAttempts, attempts) => {
    const one = await world(statements(two), [1])
    expect(verdicts(await round(one, maxAttempts))).toEqual(['unmet'])
    expect(one.run.meter.usage().validation_attempts).toBe(attempts)
  })

  it('is gone back to when nothing better comes', async () => {
    const one = await world(statements(two), [1, null, null, 1])
    const restored: string[] = []
    one.workspace.restore = async (commit) => void restored.push(commit)
    const result = await round(one, 3)
    expect(verdicts(result)).toEqual(['unmet'])
    expect(restored).toEqual(['commit-1'])
    expect(result.value.reference.targets).toEqual(['a_bucket.b'])
    expect(one.run.result).toMatchObject({ summary: 'First.', repairs: [] })
  })

  it('is taken before a later one that has lost what it had', async () => {
    const none = { kind: 'resource_count', type: 'a_bucket', action: 'create', op: 'at_most', value: '1' }
    const one = await world(statements(two, { ...none, text: 'One bucket at most', words: 'one' }), [1, 2, 1])
    const restored: string[] = []
    one.workspace.restore = async (commit) => void restored.push(commit)
    const result = await round(one)
    expect(verdicts(result)).toEqual(['unmet', 'met'])
    expect(restored).toEqual(['commit-1'])
    const told = String(one.llm.of('task_complete')[2]?.messages.at(-1)?.content)
    expect(told).toMatch(/^This is attempt 3 of 5\. The last attempt was not taken/)
    expect(readBlocks(told)[0]?.content).toBe('- One bucket at most')
    expect(told).toContain('The files are again as attempt 1 left them')
    expect(one.run.result.notes).toEqual([
      'Attempts: 1 was valid, but not what was asked for: Expected: Two buckets. Found: 1 a_bucket to create. The request ' +
        'says: "two buckets"; 2 was not taken, because it lost: One bucket at most; 3 was accepted, ' +
        'although it lacks: Two buckets.',
    ])
  })

  it('is gone back to when the generator gives up', async () => {
    const givesUp: Reply = { text: 'half a', finish: 'max_tokens', raw: 'length' }
    const one = await world(statements(two), [1], [done('First.'), givesUp])
    expect(verdicts(await round(one))).toEqual(['unmet'])
  })

  it('does not hide why the loop failed when it does not hold any more', async () => {
    const one = await world(statements(two), [1, null, null])
    await expect(round(one, 2)).rejects.toThrow('Validation loop exceeded.')
  })

  it('costs no attempt when it names a type that no provider has', async () => {
    const one = await world(statements({ ...two, type: 'a_bukket' }), [1])
    one.kit.engine.schema.names = async () => ({ resource: ['a_bucket'], data: [], ephemeral: [] })
    expect(verdicts(await round(one))).toEqual(['unknown'])
    expect(one.run.meter.usage().validation_attempts).toBe(1)
  })

  it('shows no sensitive value', async () => {
    const absent = { kind: 'attribute', type: 'a_bucket', path: 'key', op: 'absent' }
    const key = { ...absent, text: 'The key is S3cret-Value-1', words: '' }
    const show = planJson(1, { key: 'S3cret-Value-1' })
    const one = await steps.world({
      scripts: { task_complete: summaries, report_intent_statements: statements(key) },
      engine: ({ kind }) => (kind === 'show' ? ok(show) : ok()),
    })
    expect(verdicts(await round(one))).toEqual(['unmet'])
    const asked = said(one.llm.of('task_complete')[1])
    expect(asked).toContain(MASK)
    expect(asked).not.toContain('S3cret-Value-1')
  })
})

describe('a check that goes wrong', () => {
  it.each<[string, Script | Script[]]>([
    ['answers texts', { text: 'I would rather not.' }],
    ['answers nonsense', { args: { statements: 'two buckets' } }],
    ['calls other tools', { calls: [['task_complete', { status: 'done', summary: 'x' }]] }],
    ['fails', { error: new Error('down') }],
    ['has nothing to say', statements()],
    ['states nothing that fits', statements({ kind: 'other', text: 'x' })],
  ])('because the model %s costs the round nothing', async (_, intent) => {
    const one = await world(intent, [1])
    expect((await round(one)).results).toEqual([])
    expect(one.run.meter.usage().validation_attempts).toBe(1)
    expect(one.llm.of('report_intent_statements').length).toBeLessThanOrEqual(3)
  })

  it('is logged', async () => {
    const lines: string[] = []
    const log = createLogger({ write: (line) => lines.push(line) })
    const one = await world({ error: new Error('down') }, [1])
    Object.assign(one.run, { log })
    await round(one)
    expect(lines.some((line) => line.includes('the request is not checked against the plan'))).toBe(true)
  })

  it.each<[string, Script | Script[], number | undefined, string | null]>([
    ['never answers', 'hang', undefined, 'the plan was ready before the statements.'],
    ['does not answer in time', 'hang', 1, 'the model made no statements of it within 0.001 seconds.'],
    ['fails', { error: new Error('down') }, undefined, 'the model made no statements of it.'],
    ['finds nothing to state', statements(), undefined, null],
  ])('because the model %s is told', async (_, intent, maxMs, reason) => {
    const { results, gap } = await round(await world(intent, [1]), 5, maxMs)
    expect(results).toEqual([])
    expect(gap).toBe(reason === null ? null : `The plan was not checked against the request: ${reason}`)
  })

  it('ends with the round', async () => {
    const one = await world('hang', [1])
    const check = startIntentCheck(one.kit, Promise.resolve(''))
    check.stop()
    expect(await check.evaluate(validPlan(one, []).plan)).toEqual([])
  })
})

describe('the model that makes statements', () => {
  it('is the small one; it sees request, conversation and blocks as data, and counts in the usage', async () => {
    const one = await world(statements(two), [2])
    one.run.conversation.push({ user: 'Add a network', assistant: 'Added.' })
    await round(one)
    const [request] = one.llm.of('report_intent_statements')
    expect(request?.role).toBe('small')
    expect(request?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(request?.messages.at(-1)?.content).toMatch(
      /<<<DATA request (\w+)\nAdd two buckets\n\1 DATA>>>\n\n<<<DATA repository (\w+)\nmain\.tf/,
    )
    expect(one.run.meter.usage().chains.INTENT_CHECK?.calls).toBe(1)
  })
})
