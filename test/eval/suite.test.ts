import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../dev/demo/api.ts'
import type { SampleMeasurement } from '../../eval/sample.ts'
import { readScenario, type Scenario } from '../../eval/scenario/scenario.ts'
import { findReachedCap, openResults, type ResultStore, runSuite, type SuiteOptions } from '../../eval/suite.ts'
import { renderTable, summarise } from '../../eval/summary.ts'
import { temporaryFolder } from '../helpers/folder.ts'

const folder = temporaryFolder()

const scenario = (name: string, request = 'Add it'): Scenario =>
  readScenario(name, {
    cloud: 'aws',
    request,
    repository: { files: { 'main.tf': '' } },
    expect: { status: 'completed' },
  })
const passing: SampleMeasurement = {
  passed: true,
  failures: [],
  status: 'completed',
  session_id: 's',
  attempts: 1,
  input_tokens: 900,
  cached_tokens: 0,
  output_tokens: 100,
  cost_usd: 0.5,
  duration_s: 2,
}
const file = () => join(folder, `${crypto.randomUUID()}.jsonl`)
const suite = (store: ResultStore, changes: Partial<SuiteOptions> = {}) =>
  runSuite({
    scenarios: [scenario('a/one'), scenario('a/two')],
    samples: 2,
    concurrency: 1,
    model: 'test/model',
    max_cost: null,
    max_tokens: null,
    store,
    run: async () => passing,
    progress: () => {},
    now: () => new Date(0),
    signal: new AbortController().signal,
    ...changes,
  })

describe('a suite', () => {
  it('runs the first sample of every scenario before the second of any', async () => {
    const order: string[] = []
    const { results, stopped } = await suite(await openResults(file()), {
      progress: ({ scenario: name, sample }, done, total) => order.push(`${name} ${sample} ${done}/${total}`),
    })
    expect(order).toEqual(['a/one 1 1/4', 'a/two 1 2/4', 'a/one 2 3/4', 'a/two 2 4/4'])
    expect(results).toHaveLength(4)
    expect(stopped).toBeNull()
  })

  it('goes on where an earlier run was cut off, also in the middle of a line', async () => {
    const path = file()
    await suite(await openResults(path), { samples: 1 })
    const lines = (await readFile(path, 'utf8')).trim().split('\n')
    await appendFile(path, lines[0]?.slice(0, 40) ?? '')
    const run: string[] = []
    const { results } = await suite(await openResults(path), {
      run: async ({ name }) => {
        run.push(name)
        return passing
      },
    })
    expect(run).toEqual(['a/one', 'a/two'])
    expect(results).toHaveLength(4)
    expect((await openResults(path)).results).toHaveLength(4)
  })

  it('runs a scenario again that was changed, and one for another model', async () => {
    const path = file()
    await suite(await openResults(path), { samples: 1 })
    const run: string[] = []
    const noting: SuiteOptions['run'] = async ({ name }) => {
      run.push(name)
      return passing
    }
    await suite(await openResults(path), {
      samples: 1,
      run: noting,
      scenarios: [scenario('a/one', 'Add another'), scenario('a/two')],
    })
    expect(run).toEqual(['a/one'])
    await suite(await openResults(path), { samples: 1, run: noting, model: 'test/other' })
    expect(run).toEqual(['a/one', 'a/one', 'a/two'])
  })

  it('counts what the platform refuses as failed, and keeps no sample that the harness could not run', async () => {
    const path = file()
    const refusing: SuiteOptions['run'] = async ({ name }) => {
      if (name === 'a/one') throw new ApiError('POST answered 422: no')
      throw new Error('the stack is gone')
    }
    await expect(suite(await openResults(path), { samples: 1, run: refusing })).rejects.toThrow('the stack is gone')
    const { results } = await openResults(path)
    expect(results).toMatchObject([
      { scenario: 'a/one', passed: false, status: 'refused', failures: ['POST answered 422: no'] },
    ])
  })

  it('begins no sample beyond the cap, and goes on with a higher one', async () => {
    const path = file()
    const first = await suite(await openResults(path), { max_cost: 1 })
    expect(first.results).toHaveLength(2)
    expect(first.stopped).toMatch(/^--max-cost 1 is reached: 1\.0000 USD spent/)
    const second = await suite(await openResults(path), { max_cost: 10, max_tokens: 3_000 })
    expect(second.results).toHaveLength(3)
    expect(second.stopped).toMatch(/^--max-tokens 3000 is reached: 3000 used/)
    expect((await suite(await openResults(path))).stopped).toBeNull()
  })

  it('begins nothing more once it is interrupted', async () => {
    const controller = new AbortController()
    const running = suite(await openResults(file()), {
      signal: controller.signal,
      run: async () => {
        controller.abort(new Error('stopped'))
        return passing
      },
    })
    await expect(running).rejects.toThrow('stopped')
  })
})

describe('a cap', () => {
  it('counts what is under way as the mean of what is finished', () => {
    const spent = [passing, passing]
    expect(findReachedCap({ max_cost: 2, max_tokens: null }, spent, 1)).toBeNull()
    expect(findReachedCap({ max_cost: 2, max_tokens: null }, spent, 2)).toMatch(/^--max-cost 2 is reached/)
  })
  it('in dollars cannot be kept when a price is not known', () => {
    expect(findReachedCap({ max_cost: 9, max_tokens: null }, [{ ...passing, cost_usd: null }], 0)).toMatch(
      /price of a model is not known/,
    )
    expect(findReachedCap({ max_cost: null, max_tokens: 9_999 }, [{ ...passing, cost_usd: null }], 0)).toBeNull()
  })
})

describe('a summary', () => {
  it('weighs every scenario the same and tells what did not hold', async () => {
    const outcomes = [true, false, false, false]
    const { results, stopped } = await suite(await openResults(file()), {
      run: async () =>
        outcomes.shift() ? passing : { ...passing, passed: false, failures: ['the plan is empty'], cost_usd: null },
    })
    const about = { model: 'test/model', scripted: false, engine: { name: 'OpenTofu', version: '1' }, k: 2, stopped }
    const summary = summarise(results, { ...about, skipped: [{ scenario: 'a/three', reason: 'needs KEY' }] })
    expect(summary).toMatchObject({
      samples: 4,
      passed: 1,
      pass_at_1: 0.25,
      pass_at_k: 0.5,
      totals: { cost_usd: null, attempts: 1 },
    })
    expect(summary.scenarios[0]).toMatchObject({
      scenario: 'a/one',
      passed: 1,
      samples: 2,
      pass_at_1: 0.5,
      pass_at_k: 1,
    })
    const table = renderTable(summary).join('\n')
    expect(table).toContain('a/two: the plan is empty')
    expect(table).toContain('needs KEY: a/three')
    expect(table).toContain('pass@2')
  })
})
