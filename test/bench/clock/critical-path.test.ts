import { expect, test } from 'vitest'
import { criticalPath, gapsByPlace, gapsIn, type Interval, lengthOf } from '../../../bench/clock/critical-path.ts'
import { timeOf } from '../../../bench/clock.ts'

const work = (name: string, from: number, to: number, kind: Interval['kind'] = 'model'): Interval => ({
  ...{ kind, name, from, to },
})
const WINDOW = { from: 0, to: 100 }

test('the path is the chain that ends last, and what runs beside it is not in it', () => {
  const filter = work('filter', 5, 30)
  const init = work('init', 6, 25, 'engine')
  const status = work('status', 7, 40)
  const write = work('write', 31, 60)
  const plan = work('plan', 60, 80, 'engine')
  const report = work('report', 82, 99)
  const after = work('pull request', 101, 120)
  const path = criticalPath([after, report, status, init, filter, plan, write], WINDOW)
  expect(path).toEqual([filter, write, plan, report])
  expect(gapsIn(path, WINDOW)).toEqual([
    { after: 'request', before: 'filter', ms: 5 },
    { after: 'filter', before: 'write', ms: 1 },
    { after: 'plan', before: 'report', ms: 2 },
    { after: 'report', before: 'end', ms: 1 },
  ])
  expect(lengthOf(path) + 5 + 1 + 2 + 1).toBe(100)
})

test('without work there is one gap', () => {
  expect(criticalPath([], WINDOW)).toEqual([])
  expect(gapsIn([], WINDOW)).toEqual([{ after: 'request', before: 'end', ms: 100 }])
  expect(criticalPath([work('before', -5, 1)], WINDOW)).toEqual([])
})

test('gaps between steps of the same names are one place, the largest first', () => {
  const path = [work('fmt', 10, 20), work('validate', 23, 30), work('fmt', 40, 50), work('validate', 54, 98)]
  expect(gapsByPlace(gapsIn(path, WINDOW))).toEqual([
    { after: 'request', before: 'fmt', ms: 10, count: 1, longest: 10 },
    { after: 'validate', before: 'fmt', ms: 10, count: 1, longest: 10 },
    { after: 'fmt', before: 'validate', ms: 7, count: 2, longest: 4 },
    { after: 'validate', before: 'end', ms: 2, count: 1, longest: 2 },
  ])
  expect(gapsByPlace([])).toEqual([])
})

test('a moment of no length is taken once', () => {
  const moment = work('moment', 50, 50)
  expect(criticalPath([moment, work('first', 10, 50)], WINDOW).map(({ name }) => name)).toEqual(['first', 'moment'])
})

test('the floor of a round is its generator, the engine on the path and one report', () => {
  const call = (chain: string, began_ms: number, ended_ms: number) => ({
    ...{ chain, began_ms, ended_ms, stopped: false, usage: { input: 1, cached: 0, output: 1 } },
    question: { model: 'm', stream: false, messages: [], tools: [] },
  })
  const calls = [
    call('REQUESTS_FILTER', 10, 20),
    call('IAC_GENERATOR', 20, 40),
    call('IAC_GENERATOR', 41, 50),
    call('REPORT_GENERATOR', 70, 90),
  ]
  const time = timeOf({
    windows: [WINDOW],
    calls,
    engine: [work('plan', 50, 65, 'engine'), work('init', 11, 15, 'engine')],
  })
  expect(time).toMatchObject({ wall: 100, engineMs: 15, floor: 20 + 9 + 15 + 20, modelCalls: 4, neededCalls: 4 })
  expect(timeOf({ windows: [WINDOW], calls: calls.slice(0, 1), engine: [] }).floor).toBeNull()
})
