import { describe, expect, it } from 'vitest'
import { complianceFindingsTool } from '../../src/agent/sentinels/compliance-findings.ts'
import { constructInformationTool } from '../../src/agent/sentinels/construct-information.ts'
import { decomposedOperationsTool } from '../../src/agent/sentinels/decomposed-operations.ts'
import { engineTargetsTool } from '../../src/agent/sentinels/engine-targets.ts'
import { importAddressesTool } from '../../src/agent/sentinels/import-addresses.ts'
import { pullRequestTool } from '../../src/agent/sentinels/pull-request.ts'
import { reportTool } from '../../src/agent/sentinels/report.ts'
import { requestsFilterTool } from '../../src/agent/sentinels/requests-filter.ts'
import { taskCompleteTool } from '../../src/agent/sentinels/task-complete.ts'
import type { Tool } from '../../src/agent/types.ts'

const run = async (tool: Tool, args: Record<string, unknown>) => tool.run(args, new AbortController().signal)
/** Message of the error result, or the value. */
const outcome = (tool: Tool, args: Record<string, unknown>) =>
  run(tool, args).then(
    (value) => ({ value }),
    (error: Error) => ({ name: error.name, text: error.message }),
  )

describe('definitions', () => {
  it.each<[Tool, string, string[], string[]]>([
    [requestsFilterTool(), 'requests_filter', ['status', 'explanation'], ['status', 'explanation']],
    [
      constructInformationTool(),
      'construct_information',
      ['templates', 'abbreviations'],
      ['templates', 'abbreviations', 'explanation'],
    ],
    [engineTargetsTool(), 'generate_engine_targets', ['targets'], ['targets', 'explanation']],
    [taskCompleteTool(), 'task_complete', ['status', 'summary'], ['status', 'summary']],
    [decomposedOperationsTool(), 'report_decomposed_task_operations', ['operations'], ['operations', 'explanation']],
    [importAddressesTool(), 'import_addresses', ['status', 'summary', 'imports'], ['status', 'summary', 'imports']],
    [complianceFindingsTool(), 'report_compliance_findings', [], ['violations', 'summary', 'checked_rules']],
    [pullRequestTool(), 'generate_pull_request', ['title', 'description'], ['title', 'description']],
  ])('%# has the name and parameters of the contract', (tool, name, required, parameters) => {
    expect(tool.definition.name).toBe(name)
    expect(tool.definition.parameters).toMatchObject({ type: 'object', required })
    expect(Object.keys(tool.definition.parameters.properties as object)).toEqual(parameters)
  })

  it('name the report tools and describe whole documents', () => {
    const names = (['generate', 'drift', 'apply', 'import'] as const).map((type) => reportTool(type).definition.name)
    expect(names).toEqual([
      'generate_engine_plan_report',
      'generate_engine_drift_report',
      'generate_engine_apply_report',
      'generate_engine_import_report',
    ])
    const { properties } = reportTool('generate').definition.parameters as {
      properties: Record<string, Record<string, unknown>>
    }
    expect(properties.summary).toMatchObject({
      required: ['create', 'update', 'delete', 'recreate'],
      properties: { create: { type: 'integer', minimum: 0 } },
    })
    expect(properties.detailed_changes).toMatchObject({
      items: {
        required: ['name', 'action', 'notes', 'summary', 'details'],
        properties: { action: { enum: ['create', 'update', 'delete', 'recreate'] } },
      },
    })
  })

  it('hold nothing but plain JSON schema', () => {
    const definition = reportTool('generate').definition
    expect(JSON.parse(JSON.stringify(definition))).toEqual(definition)
    expect(definition.parameters).not.toHaveProperty('$schema')
  })
})

describe('arguments that say less than asked for', () => {
  it.each<[Tool, Record<string, unknown>, object]>([
    [requestsFilterTool(), { status: true, explanation: '' }, { status: true }],
    [taskCompleteTool(), { status: true, summary: 'Done.' }, { status: 'true', summary: 'Done.' }],
    [taskCompleteTool(), { status: '', summary: 'Done.' }, { summary: 'Done.' }],
    [importAddressesTool(), { status: true, summary: 's', imports: [] }, { imports: [] }],
  ])('fit where nothing rests on the rest', async (tool, args, value) => {
    expect(await tool.run(args, new AbortController().signal)).toMatchObject(value)
  })
})

describe('arguments that do not fit', () => {
  it.each<[Tool, Record<string, unknown>, RegExp]>([
    [requestsFilterTool(), { status: 'true', explanation: 'x' }, /^Invalid arguments of `requests_filter`: status: /],
    [requestsFilterTool(), { status: false, explanation: ' ' }, /explanation: must not be blank/],
    [engineTargetsTool(), { targets: 'module.a' }, /targets: /],
    [engineTargetsTool(), { targets: ['-destroy'] }, /targets\.0: must not begin with -/],
    [decomposedOperationsTool(), { operations: { a: 1 } }, /operations: /],
    [constructInformationTool(), { templates: [1], abbreviations: [] }, /templates\.0: /],
    [importAddressesTool(), { status: 'done', summary: 's', imports: { address: 'a', resource_id: 'b' } }, /imports: /],
    [importAddressesTool(), { status: 'done', summary: 's', imports: [{ address: 'a' }] }, /imports\.0\.resource_id: /],
    [
      complianceFindingsTool(),
      { violations: [{ rule_id: 'r', severity: 'fatal', message: 'm' }] },
      /violations\.0\.severity: /,
    ],
    [pullRequestTool(), { title: '  ', description: 'd' }, /title: must not be blank/],
    [
      reportTool('generate'),
      { summary: {}, potential_impact: { banner: { level: 'extreme', title: 't' } }, estimated_costs: {} },
      /potential_impact\.banner\.level/,
    ],
  ])('%# are a tool error that names the fault', async (tool, args, expected) => {
    expect(await outcome(tool, args)).toEqual({ name: 'ToolError', text: expect.stringMatching(expected) })
  })

  it('are told all at once, up to twenty', async () => {
    const { text } = (await outcome(engineTargetsTool(), { targets: Array.from({ length: 30 }, () => 1) })) as {
      text: string
    }
    expect(text.match(/targets\.\d+/g)).toHaveLength(20)
    expect(text).toContain('and 10 more')
  })
})

describe('arguments that fit', () => {
  it('lose keys outside of the schema and keep empty lists', async () => {
    expect(await run(engineTargetsTool(), { targets: [], extra: 1 })).toEqual({ targets: [], explanation: '' })
    expect(await run(requestsFilterTool(), { status: false, explanation: ' No databases. ' })).toEqual({
      status: false,
      explanation: 'No databases.',
    })
  })

  it('make a title of one line and at most 256 characters', async () => {
    expect(await run(pullRequestTool(), { title: `Add\n a ${'b'.repeat(300)}`, description: 'd' })).toEqual({
      title: `Add a ${'b'.repeat(250)}`,
      description: 'd',
    })
  })
})
