import { expect, test } from 'vitest'
import { divide, partOf, uncovered } from '../../../bench/share/breakdown.ts'
import type { Waited } from '../../../bench/share/observe.ts'

const ORIGINS = { engine: 'http://127.0.0.1:1001', model: 'http://127.0.0.1:1002', store: 'http://127.0.0.1:1003' }
const waited = (name: string, from: number, to: number, kind: Waited['kind'] = 'process'): Waited => ({
  ...{ kind, name, from, to },
})

test('the stretches of a window are what no step covers, with the steps around them', () => {
  const steps = [
    { name: 'init', from: 10, to: 40 },
    { name: 'filter', from: 20, to: 30 },
    { name: 'plan', from: 60, to: 70 },
    { name: 'pull request', from: 105, to: 110 },
  ]
  expect(uncovered(steps, { from: 0, to: 100 })).toEqual([
    { from: 0, to: 10, after: 'request', before: 'init' },
    { from: 40, to: 60, after: 'init', before: 'plan' },
    { from: 70, to: 100, after: 'plan', before: 'end' },
  ])
  expect(uncovered([{ name: 'plan', from: -5, to: 200 }], { from: 0, to: 100 })).toEqual([])
})

test('each moment of a stretch counts for one part, that of the remote before all others', () => {
  const parts = divide(
    [
      { from: 0, to: 100 },
      { from: 200, to: 210 },
    ],
    [
      waited('git push', 10, 50),
      waited('git diff', 40, 60),
      waited('SELECT 1', 55, 80, 'statement'),
      waited('POST http://127.0.0.1:1001/v1/plan', 205, 300, 'request'),
    ],
    ORIGINS,
  )
  expect(parts).toMatchObject({ 'git, remote': 40, 'git, local': 10, database: 20, 'engine service': 5, code: 35 })
  expect(Object.values(parts).reduce((sum, ms) => sum + ms, 0)).toBe(110)
})

test.each([
  ['git push', 'process', 'git, remote'],
  ['git ls-files', 'process', 'git, local'],
  ['rg ./', 'process', 'other processes'],
  ['GET http://127.0.0.1:1001/v1/engine', 'request', 'engine service'],
  ['POST http://127.0.0.1:1002/v1/chat/completions', 'request', 'model server'],
  ['PUT http://127.0.0.1:1003/platform-artifacts/a', 'request', 'object store'],
  ['GET http://127.0.0.1:1004/v1/prompts', 'request', 'other services'],
] as const)('%s is %s', (name, kind, part) => {
  expect(partOf(waited(name, 0, 1, kind), ORIGINS)).toBe(part)
})
