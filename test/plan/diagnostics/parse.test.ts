import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { type Diagnostic, orderDiagnostics, renderDiagnostics } from '../../../src/plan/diagnostics/diagnostic.ts'
import { fromEngine, parseDiagnostics } from '../../../src/plan/diagnostics/parse.ts'
import { DiagnosticsSchema } from '../../../src/services/iac/contract.ts'
import { diagnosticOf as one, recorded } from './support.ts'

const flat = (text: string) => text.replaceAll(/\s+/g, ' ')

describe('the text of an engine', () => {
  it('names file, line, block and quoted code', async () => {
    const [first, second, ...more] = parseDiagnostics(await recorded('undeclared.txt'))
    expect(first).toEqual({
      severity: 'error',
      summary: 'Reference to undeclared resource',
      detail: 'A managed resource "terraform_data" "nope" has not been declared in the root\nmodule.',
      file: 'main.tf',
      line: 2,
      context: 'resource "terraform_data" "a"',
      address: null,
      snippet: '   2:   input = terraform_data.nope.output',
      count: 1,
    })
    expect(second).toMatchObject({ line: 6, context: 'resource "terraform_data" "b"' })
    expect(more).toEqual([])
  })

  it('is the same with a frame, and what stands between the frames is left out', async () => {
    const [warning, ...framed] = parseDiagnostics(`Acquiring...\n${await recorded('framed.txt')}\nReleasing...\n`)
    expect(warning).toMatchObject({ severity: 'warning', summary: 'Unable to open CLI configuration file', line: null })
    const plain = parseDiagnostics(await recorded('undeclared.txt'))
    const comparable = (all: Diagnostic[]) => all.map((each) => ({ ...each, detail: flat(each.detail) }))
    expect(comparable(framed)).toEqual(comparable(plain))
  })

  it('has no diagnostic of its own for a heading inside of a framed message', () => {
    const message = ['Service answered:', '', 'Error: Unsupported argument', '', '  on billing.tf line 12:']
    const framed = ['╷', '│ Error: Precondition failed', '│ ', ...message.map((line) => `│ ${line}`), '╵']
    const [first, second, ...more] = parseDiagnostics([...framed, '', ...framed].join('\n'))
    expect(first).toMatchObject({ summary: 'Precondition failed', detail: message.join('\n') })
    expect([second, more]).toEqual([first, []])
  })

  it('has none either without a frame, where no empty line stands before it', () => {
    const message = 'Service answered:\nError: Unsupported argument\nWarning: late'
    const plain = `\nError: Precondition failed\n\n  with x.a,\n\n${message}\n`
    const [first, second, ...more] = parseDiagnostics(plain.repeat(2))
    expect(first).toMatchObject({ summary: 'Precondition failed', address: 'x.a', detail: message })
    expect([second, more]).toEqual([first, []])
  })

  it('and its machine form say the same', async () => {
    for (const name of ['undeclared', 'syntax', 'runtime']) {
      const machine = fromEngine(v.parse(DiagnosticsSchema, JSON.parse(await recorded(`${name}.json`))))
      const text = parseDiagnostics(await recorded(`${name}.txt`))
      const key = ({ summary, detail, file, line, context }: Diagnostic) =>
        JSON.stringify([summary, flat(detail), file, line, context])
      expect(new Set(machine.map(key))).toEqual(new Set(text.map(key)))
    }
  })

  it.each<[string, Partial<Diagnostic>]>([
    ['cycle.txt', { file: null, detail: '' }],
    ['module.txt', { summary: 'Unreadable module directory' }],
    ['precondition.txt', { summary: 'Resource precondition failed', detail: 'not nine: us' }],
    ['registry-unreachable.txt', { summary: 'Failed to query available provider packages' }],
    ['backend-unreachable.txt', { summary: expect.stringContaining('Unable to list objects in S3 bucket "b"') }],
  ])('%s', async (name, expected) => {
    expect(parseDiagnostics(await recorded(name))[0]).toMatchObject(expected)
  })

  it('names the resource of an error of a provider', () => {
    const text =
      'Error: creating S3 Bucket (x): BucketAlreadyExists\n\n  with module.a["k"].aws_s3_bucket.logs[0],\n' +
      '  on modules/a/main.tf line 12, in resource "aws_s3_bucket" "logs":\n' +
      '  12: resource "aws_s3_bucket" "logs" {\n\nTaken.\n'
    expect(parseDiagnostics(text)).toEqual([
      one({
        summary: 'creating S3 Bucket (x): BucketAlreadyExists',
        detail: 'Taken.',
        file: 'modules/a/main.tf',
        line: 12,
        context: 'resource "aws_s3_bucket" "logs"',
        address: 'module.a["k"].aws_s3_bucket.logs[0]',
        snippet: '  12: resource "aws_s3_bucket" "logs" {',
      }),
    ])
  })

  it.each([
    '',
    'engine plan failed',
    'panic: runtime error\ngoroutine 1',
    'error: lower case',
  ])('without diagnostics gives none: %j', (text) => {
    expect(parseDiagnostics(text)).toEqual([])
  })

  it('is bounded', () => {
    expect(parseDiagnostics('Error: again\n\n'.repeat(5000)).length).toBeLessThanOrEqual(200)
  })
})

describe('the order', () => {
  it('has causes before what follows from them, and warnings last', () => {
    const summaries = [
      'Deprecated attribute',
      'creating bucket',
      'Missing required argument',
      'Reference to undeclared resource',
      'Module not installed',
      'Unclosed configuration block',
    ]
    const given = summaries.map((summary, index) => one({ summary, severity: index === 0 ? 'warning' : 'error' }))
    expect(orderDiagnostics(given).map(({ summary }) => summary)).toEqual([...summaries].reverse())
  })

  it('merges what says the same about a file, with what differs, and drops repetitions', async () => {
    const merged = orderDiagnostics(parseDiagnostics(await recorded('runtime.txt')))
    expect(merged.map(({ summary, count }) => [summary, count])).toEqual([
      ['Invalid "self" reference', 1],
      ['Unknown variable', 2],
      ['Error in function call', 1],
    ])
    expect(merged[1]?.detail).toContain('named "var"')
    const same = one({ summary: 'x', file: 'a.tf', line: 9, detail: 'd' })
    const earlier = one({ summary: 'x', file: 'a.tf', line: 3, detail: 'e' })
    const elsewhere = one({ summary: 'x', file: 'b.tf', line: 1 })
    expect(orderDiagnostics([same, same, earlier, elsewhere])).toMatchObject([
      { line: 3, count: 2, detail: 'e\nline 9: d' },
      { file: 'b.tf', count: 1 },
    ])
  })

  it('puts the wrapper of an init that met wrong code last', async () => {
    const summaries = orderDiagnostics(parseDiagnostics(await recorded('init-syntax.txt'))).map(
      ({ summary }) => summary,
    )
    expect(summaries[0]).toBe('Invalid multi-line string')
    expect(summaries.at(-1)).toContain('encountered problems during initialisation')
  })
})

describe('the text for a model', () => {
  it('is compact', () => {
    const text = renderDiagnostics([
      one({
        summary: 'Unsupported argument',
        file: 'main.tf',
        line: 3,
        context: 'resource "a" "b"',
        snippet: '   3: x',
        detail: 'No.',
        count: 2,
      }),
      one({ summary: 'Denied', address: 'a.b' }),
      one({ severity: 'warning', summary: 'Old' }),
    ])
    expect(text).toBe(
      '1. Unsupported argument (2 times)\nmain.tf:3, in resource "a" "b"\nNo.\n   3: x\n\n2. Denied\nwith a.b\n\n' +
        'Warning: Old',
    )
  })

  it('is bounded and counts the rest; warnings alone are none', () => {
    const many = Array.from({ length: 500 }, (_, index) =>
      one({ summary: `e${index}`, detail: 'd'.repeat(5000), snippet: 's'.repeat(9000) }),
    )
    const text = renderDiagnostics(many)
    expect(text.length).toBeLessThan(17_000)
    expect(text).toContain('and 488 more errors')
    expect(renderDiagnostics([one({ severity: 'warning' })])).toBe('')
  })
})
