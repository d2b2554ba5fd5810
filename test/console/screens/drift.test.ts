import { describe, expect, test } from 'vitest'
import { blockOf } from '../../../console/screens/drift/code-block.ts'
import { countFates, explainStatus, readOperations, readReport } from '../../../console/screens/drift/drift-report.ts'

describe('readOperations', () => {
  test('tells what either side has', () => {
    const text = JSON.stringify([
      {
        address: 'a.one',
        action: 'update resource',
        changes: {
          changed: { days: { old_value: 90, new_value: 30 }, port: { old_value: '80', new_value: 80 } },
          added: { 'tags["x"]': { a: 1 } },
          removed: { name: 'gone' },
        },
      },
      { address: 'a.two', action: 'delete resource' },
      { address: 'a.three', action: 'create resource', changes: { name: 'n', empty: null } },
    ])
    expect(readOperations(text)).toEqual([
      {
        address: 'a.one',
        kind: 'differs',
        differences: [
          { path: 'days', code: '90', cloud: '30' },
          { path: 'port', code: '"80"', cloud: '80' },
          { path: 'tags["x"]', code: null, cloud: '{"a":1}' },
          { path: 'name', code: 'gone', cloud: null },
        ],
      },
      { address: 'a.two', kind: 'only-code', differences: [] },
      { address: 'a.three', kind: 'only-cloud', differences: [{ path: 'name', code: null, cloud: 'n' }] },
    ])
  })

  test.each([
    '',
    'Error: no credentials',
    'null',
    '{}',
    '[1]',
    '[{"address":"a","action":"new word"}]',
  ])('leaves other texts alone: %j', (text) => expect(readOperations(text)).toBeNull())
})

describe('readReport', () => {
  const document = {
    status: 'Partial',
    summary: 's',
    remediated_resources: [
      { resource_address: 'a.one', file_path: 'x.tf', changes: [{ attribute_modified: 'days', details: [] }] },
    ],
    unreconciled_drift: [{ resource_address: '', reason: 'The drift could not be read.', details: ['why', 7] }],
    whitelisted_exceptions: [{ resource_address: 'a.two', change: 'c', rule: 'r' }],
  }
  test('puts the first reading to its resource', () => {
    const differs = { address: 'a.one', kind: 'differs' as const }
    const first = { ...differs, differences: [{ path: 'days', code: '90', cloud: '30' }] }
    const report = readReport(document, [first, { ...differs, differences: [] }])
    expect(report?.entries.map(({ fate, address, differences }) => [fate, address, differences.length])).toEqual([
      ['left', '', 0],
      ['remediated', 'a.one', 1],
      ['excepted', 'a.two', 0],
    ])
    expect(report?.entries[0]?.details).toEqual(['why'])
    expect(report && countFates(report.entries)).toEqual({ left: 0, remediated: 1, excepted: 1 })
  })
  test('bears documents that are no report', () => {
    for (const other of [undefined, null, [], 'text', { status: 'Great' }]) expect(readReport(other, [])).toBeNull()
    expect(readReport({ status: 'Failed', unreconciled_drift: 'no list' }, [])?.entries).toEqual([])
  })
  test('a preview that found something did what it was asked for', () => {
    const counts = { left: 2, remediated: 0, excepted: 0 }
    expect(explainStatus('Succeeded', true, counts)).toMatch(/a preview/)
    expect(explainStatus('Failed', true, counts)).toMatch(/drift check failed/)
    expect(explainStatus('Failed', false, counts)).toMatch(/Nothing was remediated/)
  })
})

describe('blockOf', () => {
  const diff = (lines: string[], hunk = '@@ -1,9 +1,9 @@') => ['--- a', '+++ b', hunk, ...lines, ''].join('\n')
  const other = [' resource "t" "other" {', '-  a = 1', '+  a = 2', ' }', ' ']
  const changed = [' resource "t" "this" {', '   text = <<-EOT', ' }', '   EOT', '-  b = 1', '+  b = 2', ' }']

  test('cuts out the block, with the numbers of its lines', () => {
    expect(blockOf(diff([...other, ...changed, ' ', ' locals {}']), 't.this["a.b[0]"]')).toBe(
      `@@ -5,6 +5,6 @@\n${changed.join('\n')}\n`,
    )
  })
  test('a block that came, went, or was written anew', () => {
    const gone = ['-resource "t" "this" {', '-  b = 1', '-}']
    const came = ['+resource "t" "this" {', '+  b = 2', '+}']
    expect(blockOf(diff([...other, ...gone]), 't.this')).toBe(`@@ -5,3 +5,0 @@\n${gone.join('\n')}\n`)
    expect(blockOf(diff([...other, ...came]), 't.this[0]')).toBe(`@@ -5,0 +5,3 @@\n${came.join('\n')}\n`)
    expect(blockOf(diff([...gone, ...came]), 't.this')).toContain([...gone, ...came].join('\n'))
  })
  test('a resource of a module is its block there, or the call', () => {
    const call = [' module "net" {', '-  days = 1', '+  days = 2', ' }']
    expect(blockOf(diff([...other, ...call]), 'module.net["x"].t.missing')).toContain('+  days = 2')
    expect(blockOf(diff(changed), 'module.net.t.this')).toContain('+  b = 2')
  })
  test('nothing where it cannot be told', () => {
    expect(blockOf(diff(other), 't.this')).toBeNull()
    expect(blockOf(diff([' resource "t" "this" {', '   b = 1', ' }', ...other]), 't.this')).toBeNull()
    expect(blockOf('resource "t" "this" {}', 't.this')).toBeNull()
    expect(blockOf(diff(['+resource "t" "this" {']), 't.this')).toBeNull()
    expect(blockOf(diff(changed), '')).toBeNull()
  })
})
