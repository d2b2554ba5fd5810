import { describe, expect, it } from 'vitest'
import { type Tool, ToolError } from '../../src/agent/agent-request.ts'
import { complianceChecker } from '../../src/chains/compliance-checker.ts'
import { taskSplitter } from '../../src/chains/drift-chains.ts'
import { iacGenerator } from '../../src/chains/iac-generator.ts'
import { importAddresses } from '../../src/chains/import-chains.ts'
import { intentCheck } from '../../src/chains/intent-check.ts'
import { promptCompositor } from '../../src/chains/prompt-compositor.ts'
import { pullRequestText } from '../../src/chains/pull-request-text.ts'
import { generateReportWriter } from '../../src/chains/report-writers.ts'
import { requestsFilter } from '../../src/chains/requests-filter.ts'
import { sessionTargets } from '../../src/chains/target-generator.ts'

interface Chain {
  resultTool(): Tool
}
const run = async (tool: Tool, args: Record<string, unknown>) => tool.run(args, new AbortController().signal)
/** Returns the message of the error result, or the value. */
const outcome = (tool: Tool, args: Record<string, unknown>) =>
  run(tool, args).then(
    (value) => ({ value }),
    (error: Error) => ({ name: error.name, text: error.message }),
  )

describe('arguments that say less than asked for', () => {
  it.each<[Chain, Record<string, unknown>, object]>([
    [requestsFilter, { status: true, explanation: '' }, { status: true }],
    [iacGenerator, { status: true, summary: 'Done.' }, { status: 'true', summary: 'Done.' }],
    [iacGenerator, { status: '', summary: 'Done.' }, { summary: 'Done.', assumptions: [], left_out: [] }],
    [
      iacGenerator,
      { status: '', summary: 'Done.', assumptions: ' One. ' },
      { summary: 'Done.', assumptions: ['One.'], left_out: [] },
    ],
    [
      iacGenerator,
      { status: '', summary: 'Done.', assumptions: ['One.', ' '] },
      { summary: 'Done.', assumptions: ['One.'], left_out: [] },
    ],
    [importAddresses, { status: true, summary: 's', imports: [] }, { imports: [] }],
  ])('fit where nothing rests on the rest', async (chain, args, value) => {
    expect(await run(chain.resultTool(), args)).toMatchObject(value)
  })
})

describe('arguments that do not fit', () => {
  it.each<[Chain, Record<string, unknown>, RegExp]>([
    [requestsFilter, { status: 'true', explanation: 'x' }, /^Invalid arguments of `requests_filter`: status: /],
    [requestsFilter, { status: false, explanation: ' ' }, /explanation: must not be blank/],
    [sessionTargets, { targets: 'module.a' }, /targets: /],
    [sessionTargets, { targets: ['-destroy'] }, /targets\.0: must not begin with -/],
    [taskSplitter, { operations: { a: 1 } }, /operations: /],
    [promptCompositor, { templates: [1], abbreviations: [] }, /templates\.0: /],
    [importAddresses, { status: 'done', summary: 's', imports: { address: 'a', resource_id: 'b' } }, /imports: /],
    [importAddresses, { status: 'done', summary: 's', imports: [{ address: 'a' }] }, /imports\.0\.resource_id: /],
    [
      complianceChecker,
      { violations: [{ rule_id: 'r', severity: 'fatal', message: 'm' }] },
      /violations\.0\.severity: /,
    ],
    [pullRequestText, { title: '  ', description: 'd' }, /title: must not be blank/],
    [
      generateReportWriter,
      { summary: {}, potential_impact: { banner: { level: 'extreme', title: 't' } }, estimated_costs: {} },
      /potential_impact\.banner\.level/,
    ],
  ])('%# are a tool error that names the fault', async (chain, args, expected) => {
    expect(await outcome(chain.resultTool(), args)).toEqual({
      name: 'ToolError',
      text: expect.stringMatching(expected),
    })
  })

  it('are told all at once, up to twenty', async () => {
    const { text } = (await outcome(sessionTargets.resultTool(), { targets: Array.from({ length: 30 }, () => 1) })) as {
      text: string
    }
    expect(text.match(/targets\.\d+/g)).toHaveLength(20)
    expect(text).toContain('and 10 more')
  })
})

describe('arguments that fit', () => {
  it('lose keys outside of the schema and keep empty lists', async () => {
    expect(await run(sessionTargets.resultTool(), { targets: [], extra: 1 })).toEqual({ targets: [], explanation: '' })
    expect(await run(requestsFilter.resultTool(), { status: false, explanation: ' No databases. ' })).toEqual({
      status: false,
      explanation: 'No databases.',
    })
  })

  it('make a title of one line and at most 256 characters', async () => {
    expect(await run(pullRequestText.resultTool(), { title: `Add\n a ${'b'.repeat(300)}`, description: 'd' })).toEqual({
      title: `Add a ${'b'.repeat(249)}…`,
      description: 'd',
    })
  })
})

const { signal } = new AbortController()
const good = { kind: 'no_deletions', text: 'Nothing is lost.', words: 'only add' }

describe('report_intent_statements', () => {
  it('reads flat statements, filled in or not', async () => {
    const filled = { ...good, id: 'x', type: null, name: '', where: [], value: null }
    const { statements } = await intentCheck.resultTool().run({ statements: [filled, good] }, signal)
    expect(statements).toEqual([
      { id: 's1', ...good },
      { id: 's2', ...good },
    ])
  })

  it('sends what does not fit back once, then leaves it out', async () => {
    const tool = intentCheck.resultTool()
    const bad = [
      { kind: 'attribute', text: 'x', path: 'a', op: 'regex', value: '.*' },
      { kind: 'attribute', text: 'x', type: 'a_b', path: 'a', op: 'eq' },
      { kind: 'unchanged', text: 'x', name: 'only_a_name' },
      { kind: 'other', text: 'x' },
      'text',
      null,
    ]
    const args = { statements: [...bad, good] }
    const refused = await Promise.resolve()
      .then(() => tool.run(args, signal))
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ToolError)
    expect(String(refused)).toContain('statements.1: value is required for this op')
    expect(String(refused)).toContain('statements.2: type or address is required')
    expect((await tool.run(args, signal)).statements).toEqual([{ id: 's7', ...good }])
  })

  it('refuses what is no list, and looks at twenty at most', async () => {
    expect(() => intentCheck.resultTool().run({ statements: 'none' }, signal)).toThrow('must be a list')
    const { statements } = await intentCheck
      .resultTool()
      .run({ statements: Array.from({ length: 50 }, () => good) }, signal)
    expect(statements).toHaveLength(20)
  })

  it('cuts long texts and refuses long patterns', async () => {
    const long = { ...good, text: 'x'.repeat(5_000) }
    const { statements } = await intentCheck.resultTool().run({ statements: [long] }, signal)
    expect(statements[0]?.text).toHaveLength(400)
    const pattern = { kind: 'output_exists', text: 'x', name: '*'.repeat(500) }
    expect(() => intentCheck.resultTool().run({ statements: [pattern] }, signal)).toThrow('at most 200 characters')
  })
})
