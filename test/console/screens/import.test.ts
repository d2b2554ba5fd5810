import { describe, expect, test } from 'vitest'
import type { ActivityEvent, OutputEvent } from '../../../console/client/api/client.ts'
import {
  countChanges,
  isImport,
  readImportReport,
  readImports,
  saysNoChanges,
  totalOf,
} from '../../../console/screens/import/import-report.ts'
import {
  choose,
  type Item,
  itemsOf,
  readInventory,
  refusedIds,
  shareOf,
  toRows,
} from '../../../console/screens/import/inventory.ts'

const item = (key: number, kind = 'sqs'): Item => ({ key, kind, id: `arn:${kind}:${key}`, reason: '' })

describe('inventory', () => {
  const lists = { managed: [], left_out: [{ kind: null, resource_id: 'x', reason: 'listed' }] }
  test('reads what it knows, and passes over entries without an identifier', () => {
    const document = { version: 1, ...lists, unmanaged: [null, { kind: 'sqs' }, { kind: 'sqs', resource_id: 'q' }] }
    expect(readInventory(document)).toEqual({
      managed: [],
      left_out: [{ key: 0, kind: '', id: 'x', reason: 'listed' }],
      unmanaged: [{ key: 2, kind: 'sqs', id: 'q', reason: '' }],
    })
    expect(readInventory({ version: 2, ...lists, unmanaged: [] })).toBeNull()
    expect(readInventory({ version: 1, ...lists })).toBeNull()
    expect(readInventory(undefined)).toBeNull()
  })
  test('rows by kind, of what a search finds', () => {
    const items = [item(1), item(2, 's3'), item(3)]
    const rows = toRows(items, '')
    expect(rows.map((row) => (row.type === 'kind' ? row.kind : row.item.key))).toEqual(['sqs', 1, 3, 's3', 2])
    expect(itemsOf(toRows(items, ' SQS :3 ')).map(({ key }) => key)).toEqual([3])
    expect(toRows(items, 'nothing')).toEqual([])
  })
  test('chooses at most a thousand', () => {
    const items = Array.from({ length: 1_005 }, (_, key) => item(key))
    const { ids, left } = choose(new Set(), items)
    expect([ids.length, left]).toEqual([1_000, 5])
    const chosen = new Set(ids)
    expect(choose(chosen, items.slice(0, 3)).left).toBe(0)
    expect(shareOf(items, chosen)).toBe('some')
    expect(shareOf(items.slice(0, 2), chosen)).toBe('all')
    expect(shareOf(items.slice(1_000), chosen)).toBe('none')
  })
  test('finds the resources that were refused', () => {
    const problems = [
      { loc: ['body', 'resource_ids', 1], msg: 'not listed' },
      { loc: ['body', 'resource_ids', 9], msg: 'out of range' },
      { loc: ['body', 'resource_ids'], msg: 'preview first' },
      { loc: ['body', 'q'], msg: 'too short' },
    ]
    expect([...refusedIds(problems, ['a', 'b'])]).toEqual([['b', 'not listed']])
  })
})

describe('readImports', () => {
  const common = { round: 1, at: '', step: 'import' }
  let id = 0
  const lines = (job_id: string, text: string, stream: 'stdout' | 'stderr' = 'stdout') =>
    ({ ...common, id: ++id, type: 'lines', job_id, stream, text }) as OutputEvent
  const ended = (job_id: string, exit_code: number | null) =>
    ({ ...common, id: ++id, type: 'step.ended', job_id, exit_code, seconds: 1 }) as OutputEvent
  const began = (job_id: string, step = 'import') =>
    ({ ...common, id: ++id, type: 'step.began', step, job_id }) as OutputEvent

  test('one after the other, with the colours and frames of a terminal', () => {
    const events = [
      began('0', 'plan'),
      began('1'),
      lines('1', '\u001b[0m\u001b[1ma.b["x: y"]: Importing from ID "one \\"two\\""...\u001b[0m\na.b: Import prepared!'),
      ended('1', 0),
      began('2'),
      lines('2', 'a.c: Importing from ID "c"...'),
      lines('2', '╷\n│ Error: Cannot import non-existent remote object\n│ \n│ Look again.\n╵', 'stderr'),
      ended('2', 1),
      began('3'),
    ]
    expect(readImports(events)).toEqual([
      { job: '1', address: 'a.b["x: y"]', id: 'one "two"', state: 'imported', error: '' },
      {
        job: '2',
        address: 'a.c',
        id: 'c',
        state: 'failed',
        error: 'Cannot import non-existent remote object\n\nLook again.\n╵'.replace('\n╵', ''),
      },
      { job: '3', address: '', id: '', state: 'runs', error: '' },
    ])
  })
  test('the last try of a resource counts', () => {
    const tries = ['arn:q', 'https://q'].flatMap((form, index) => [
      began(`${index}`),
      lines(`${index}`, `a.q: Importing from ID "${form}"...`),
      ended(`${index}`, index === 0 ? 1 : 0),
    ])
    expect(readImports(tries).map(({ id: form, state }) => [form, state])).toEqual([['https://q', 'imported']])
  })
  test('an engine that ended without a word', () => {
    expect(readImports([began('1'), ended('1', null)])).toMatchObject(
      [{ state: 'failed', error: /no reason/ }].map((e) => ({ ...e, error: expect.stringMatching(e.error) })),
    )
  })
  test('tells import rounds by what they do', () => {
    const event = (fields: object) => ({ id: 1, round: 1, at: '', ...fields }) as ActivityEvent
    expect(isImport([event({ type: 'engine.began', step: 'plan' })])).toBe(false)
    expect(isImport([event({ type: 'engine.began', step: 'scope_resource_ids' })])).toBe(true)
    expect(isImport([event({ type: 'attempt.began', task: 'import' })])).toBe(true)
  })
  test('knows how many there are from the messages of the round', () => {
    expect(totalOf([null, 'Imported 1 of 12 resources.', 'Assessing drift.'])).toBe(12)
    expect(totalOf(['Import 1 of 2 resources, please'])).toBeNull()
  })
})

describe('report', () => {
  test('sorts what was imported from what was refused', () => {
    const entry = { resource_id: 'a', resource_address: 't.a', status: 'imported', details: '', error_message: null }
    const report = readImportReport({
      status: 'Partial',
      imported_resources: [entry, { ...entry, resource_id: 'b', status: 'failed', error_message: 'no' }, 'junk'],
    })
    expect(report?.imported.map(({ id }) => id)).toEqual(['a'])
    expect(report?.refused.map(({ id, error }) => [id, error])).toEqual([
      ['b', 'no'],
      ['', null],
    ])
    expect(readImportReport({ status: 'Success' })).toBeNull()
  })
  test('an empty plan, as data and in words', () => {
    const none = { create: 0, update: 0, replace: 0, delete: 0, read: 3, import: 0, move: 0, forget: 0, none: 9 }
    expect(countChanges({ summary: none, outputs: [] })).toBe(0)
    expect(countChanges({ summary: { ...none, update: 2 }, outputs: [] })).toBe(2)
    expect(saysNoChanges('x\nNo changes. Your infrastructure matches the configuration.\n')).toBe(true)
    expect(saysNoChanges('\nPlan: 1 to add, 0 to change, 0 to destroy.\n')).toBe(false)
    expect(saysNoChanges('Error: no')).toBeNull()
  })
})
