import { describe, expect, it } from 'vitest'
import type { Tool } from '../../src/agent/agent-request.ts'
import { complianceChecker } from '../../src/chains/compliance-checker.ts'
import { iacGenerator } from '../../src/chains/iac-generator.ts'
import { importAddresses } from '../../src/chains/import-addresses.ts'
import { promptCompositor } from '../../src/chains/prompt-compositor.ts'
import { pullRequestText } from '../../src/chains/pull-request-text.ts'
import { generateReportWriter } from '../../src/chains/report-writers.ts'
import { requestsFilter } from '../../src/chains/requests-filter.ts'
import { sessionTargets } from '../../src/chains/target-generator.ts'
import { taskSplitter } from '../../src/chains/task-splitter.ts'

const run = async (tool: Tool, args: Record<string, unknown>) => tool.run(args, new AbortController().signal)
/** Returns the message of the error result, or the value. */
const outcome = (tool: Tool, args: Record<string, unknown>) =>
  run(tool, args).then(
    (value) => ({ value }),
    (error: Error) => ({ name: error.name, text: error.message }),
  )

describe('arguments that say less than asked for', () => {
  it.each<[Tool, Record<string, unknown>, object]>([
    [requestsFilter.resultTool(), { status: true, explanation: '' }, { status: true }],
    [iacGenerator.resultTool(), { status: true, summary: 'Done.' }, { status: 'true', summary: 'Done.' }],
    [iacGenerator.resultTool(), { status: '', summary: 'Done.' }, { summary: 'Done.', assumptions: [] }],
    [
      iacGenerator.resultTool(),
      { status: '', summary: 'Done.', assumptions: ' One. ' },
      { summary: 'Done.', assumptions: ['One.'] },
    ],
    [
      iacGenerator.resultTool(),
      { status: '', summary: 'Done.', assumptions: ['One.', ' '] },
      { summary: 'Done.', assumptions: ['One.'] },
    ],
    [importAddresses.resultTool(), { status: true, summary: 's', imports: [] }, { imports: [] }],
  ])('fit where nothing rests on the rest', async (tool, args, value) => {
    expect(await tool.run(args, new AbortController().signal)).toMatchObject(value)
  })
})

describe('arguments that do not fit', () => {
  it.each<[Tool, Record<string, unknown>, RegExp]>([
    [
      requestsFilter.resultTool(),
      { status: 'true', explanation: 'x' },
      /^Invalid arguments of `requests_filter`: status: /,
    ],
    [requestsFilter.resultTool(), { status: false, explanation: ' ' }, /explanation: must not be blank/],
    [sessionTargets.resultTool(), { targets: 'module.a' }, /targets: /],
    [sessionTargets.resultTool(), { targets: ['-destroy'] }, /targets\.0: must not begin with -/],
    [taskSplitter.resultTool(), { operations: { a: 1 } }, /operations: /],
    [promptCompositor.resultTool(), { templates: [1], abbreviations: [] }, /templates\.0: /],
    [
      importAddresses.resultTool(),
      { status: 'done', summary: 's', imports: { address: 'a', resource_id: 'b' } },
      /imports: /,
    ],
    [
      importAddresses.resultTool(),
      { status: 'done', summary: 's', imports: [{ address: 'a' }] },
      /imports\.0\.resource_id: /,
    ],
    [
      complianceChecker.resultTool(),
      { violations: [{ rule_id: 'r', severity: 'fatal', message: 'm' }] },
      /violations\.0\.severity: /,
    ],
    [pullRequestText.resultTool(), { title: '  ', description: 'd' }, /title: must not be blank/],
    [
      generateReportWriter.resultTool(),
      { summary: {}, potential_impact: { banner: { level: 'extreme', title: 't' } }, estimated_costs: {} },
      /potential_impact\.banner\.level/,
    ],
  ])('%# are a tool error that names the fault', async (tool, args, expected) => {
    expect(await outcome(tool, args)).toEqual({ name: 'ToolError', text: expect.stringMatching(expected) })
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
      title: `Add a ${'b'.repeat(250)}`,
      description: 'd',
    })
  })
})
