import { fileTools } from '../../pipeline/tools/edit.ts'
import { inspectionTools } from '../../pipeline/tools/look.ts'
import { resourceSchemaTool } from '../../pipeline/tools/resource-schema.ts'
import { webSearchTool } from '../../pipeline/tools/web-search.ts'
import { createFileAccess } from '../../pipeline/workspace/files/access.ts'
import * as notices from '../../src/agent/notices.ts'
import { complianceFindingsTool } from '../../src/agent/sentinels/compliance-findings.ts'
import { constructInformationTool } from '../../src/agent/sentinels/construct-information.ts'
import { decomposedOperationsTool } from '../../src/agent/sentinels/decomposed-operations.ts'
import { engineTargetsTool } from '../../src/agent/sentinels/engine-targets.ts'
import { importAddressesTool } from '../../src/agent/sentinels/import-addresses.ts'
import { intentStatementsTool } from '../../src/agent/sentinels/intent-statements.ts'
import { pullRequestTool } from '../../src/agent/sentinels/pull-request.ts'
import { reportTool } from '../../src/agent/sentinels/report.ts'
import { requestsFilterTool } from '../../src/agent/sentinels/requests-filter.ts'
import { taskCompleteTool } from '../../src/agent/sentinels/task-complete.ts'
import type { Tool } from '../../src/agent/types.ts'
import { CLOUDS, OPERATIONS } from '../../src/base/vocabulary.ts'
import { complianceCheckerLayout } from '../../src/prompts/layouts/compliance-checker.ts'
import {
  filterDriftExceptionsLayout,
  filterReconciliationLayout,
  taskSplitterLayout,
} from '../../src/prompts/layouts/drift.ts'
import { type IacGeneratorValues, iacGeneratorLayout } from '../../src/prompts/layouts/iac-generator.ts'
import { importAddressesLayout, importFilterLayout } from '../../src/prompts/layouts/import.ts'
import { intentCheckLayout } from '../../src/prompts/layouts/intent-check.ts'
import { prGeneratorLayout } from '../../src/prompts/layouts/pr-generator.ts'
import { promptCompositorLayout } from '../../src/prompts/layouts/prompt-compositor.ts'
import { reportGeneratorLayout } from '../../src/prompts/layouts/report-generator.ts'
import { requestsFilterLayout } from '../../src/prompts/layouts/requests-filter.ts'
import { statusUpdateLayout } from '../../src/prompts/layouts/status-update.ts'
import { targetGeneratorLayout } from '../../src/prompts/layouts/target-generator.ts'
import {
  complianceQuery,
  driftReportQuery,
  driftTargetsQuery,
  earlierTurns,
  feedbackQuery,
  filterQuery,
  importAddressesQuery,
  importQuery,
  importSelectionQuery,
  intentFeedbackQuery,
  intentQuery,
  operationsQuery,
  reportQuery,
  requestQuery,
  SESSION_TARGETS_QUERY,
  selectionQuery,
  splitQuery,
  statusQuery,
  taskQuery,
} from '../../src/prompts/queries.ts'
import { repairQuery, withSchema } from '../../src/prompts/repair-query.ts'
import { siteConfig } from '../pipeline/workspace/support.ts'
import type { Section } from './form.ts'
import { renderDefinition } from './form.ts'

/**
 * Every prompt of every chain in every variant, made by the functions of the code. Golden files hold what comes out;
 * when the functions move, only this file changes.
 */

const GENERATOR: IacGeneratorValues = {
  engine: ' ENGINE BODY\n',
  templates: ['TEMPLATE ONE\n', 'TEMPLATE TWO'],
  abbreviations: ['aws_vpc: vpc', 'aws_s3_bucket: bkt'],
  resource_creation: 'CREATION BODY',
  networking: 'NETWORKING BODY',
  permissions: 'PERMISSIONS BODY',
  forbidden_actions: 'FORBIDDEN BODY',
  operation: 'generate',
}
const COMPLIANCE = {
  rules: 'RULES BODY',
  engine: 'ENGINE BODY',
  resource_creation: 'CREATION BODY',
  networking: 'NETWORKING BODY',
  permissions: 'PERMISSIONS BODY',
  forbidden_actions: 'FORBIDDEN BODY',
  templates: ['TEMPLATE ONE', 'TEMPLATE TWO'],
}
const LISTS = { resources_list: 'RESOURCES BODY', abbreviations: 'ABBREVIATIONS BODY' }
const REQUEST = 'Add a bucket\nwith "versioning" & `logs`'
const OPERATIONS_LIST = ['aws_vpc.a: set cidr to "10.0.0.0/16"', 'aws_s3_bucket.b: remove the block']
const IDS = ['arn:aws:s3:::one', 'vpc-2']

const result = (tool: Tool): Section => ['result tool', renderDefinition(tool.definition)]

export const CHAINS: Record<string, readonly Section[]> = {
  REQUESTS_FILTER: [
    ...OPERATIONS.map(
      (variant): Section => [
        `system: ${variant}`,
        requestsFilterLayout({ guideline: 'GUIDELINE BODY', forbidden_actions: 'FORBIDDEN BODY', variant }),
      ],
    ),
    ['query', requestQuery(REQUEST)],
    result(requestsFilterTool()),
  ],
  INTENT_CHECK: [
    ...CLOUDS.map((provider): Section => [`system: ${provider}`, intentCheckLayout({ provider })]),
    ['query: with blocks', intentQuery(REQUEST, 'main.tf (1 B): resource a.b')],
    ['query: without blocks', intentQuery(REQUEST, '')],
    result(intentStatementsTool()),
  ],
  PROMPT_COMPOSITOR: [
    ['system: first pass', promptCompositorLayout({ ...LISTS, pass: { number: 1 } })],
    [
      'system: second pass',
      promptCompositorLayout({
        ...LISTS,
        pass: { number: 2, templates: ['vpc', 'subnet'], abbreviations: ['aws_vpc: vpc'] },
      }),
    ],
    [
      'system: second pass after an empty first one',
      promptCompositorLayout({ ...LISTS, pass: { number: 2, templates: [], abbreviations: [] } }),
    ],
    ['query', selectionQuery(REQUEST)],
    result(constructInformationTool()),
  ],
  IAC_GENERATOR: [
    ['system: generate', iacGeneratorLayout(GENERATOR)],
    ['system: drift', iacGeneratorLayout({ ...GENERATOR, operation: 'drift', forbidden_actions: null })],
    [
      'system: import',
      iacGeneratorLayout({ ...GENERATOR, operation: 'import', forbidden_actions: null, selected_ids: IDS }),
    ],
    [
      'system: empty lists and bodies',
      iacGeneratorLayout({
        ...GENERATOR,
        templates: [],
        abbreviations: [],
        selected_ids: [],
        networking: ' ',
        forbidden_actions: '',
      }),
    ],
    ['query: task', taskQuery(REQUEST)],
    ['query: operations', operationsQuery(OPERATIONS_LIST)],
    ['query: import', importQuery(IDS)],
    ['query: feedback', feedbackQuery('Error: odd')],
    ['query: unmet statements', intentFeedbackQuery('- two buckets: one')],
    ['query: repair without findings', repairQuery('Error: odd', '')],
    ['query: repair with findings', repairQuery('Error: odd', '1. Odd')],
    [
      'query: repair with long output',
      repairQuery(`HEAD${'x'.repeat(70_000)}TAIL`, '1. Odd').replaceAll(/x{100,}/g, (run) => `(${run.length} times x)`),
    ],
    ['query: without schema', withSchema('QUERY', '')],
    ['query: with schema', withSchema('QUERY', 'resource "a_b"')],
    result(taskCompleteTool()),
  ],
  TARGET_GENERATOR: [
    ['system: session', targetGeneratorLayout({ variant: 'session' })],
    ['system: drift', targetGeneratorLayout({ variant: 'drift', targeting_policies: 'POLICIES BODY' })],
    ['query: session', SESSION_TARGETS_QUERY],
    ['query: drift', driftTargetsQuery(REQUEST)],
    result(engineTargetsTool()),
  ],
  TASK_SPLITTER: [
    ['system', taskSplitterLayout()],
    ['query', splitQuery(JSON.stringify([{ address: 'a.b', action: 'delete resource' }], null, 2))],
    result(decomposedOperationsTool()),
  ],
  FILTER_RECONCILIATION: [
    ['system', filterReconciliationLayout()],
    ['query', filterQuery(OPERATIONS_LIST)],
    result(decomposedOperationsTool()),
  ],
  FILTER_DRIFT_EXCEPTIONS: [
    ['system', filterDriftExceptionsLayout({ drift_exceptions: 'EXCEPTIONS BODY' })],
    ['query', filterQuery(OPERATIONS_LIST)],
    result(decomposedOperationsTool()),
  ],
  IMPORT_FILTER: [
    [
      'system',
      importFilterLayout({
        unmanaged_ids: IDS,
        templates: ['TEMPLATE ONE', 'TEMPLATE TWO'],
        abbreviations: ['aws_vpc: vpc'],
      }),
    ],
    ['system: empty lists', importFilterLayout({ unmanaged_ids: IDS, templates: [], abbreviations: [] })],
    ['query', importSelectionQuery(REQUEST)],
    result(decomposedOperationsTool()),
  ],
  IMPORT_ADDRESSES: [
    ['system', importAddressesLayout({ pending_ids: IDS })],
    ['query', importAddressesQuery(['aws_s3_bucket.one', 'aws_vpc.two[0]'])],
    ['query: without addresses', importAddressesQuery([])],
    result(importAddressesTool()),
  ],
  REPORT_GENERATOR: [
    ['system: generate', reportGeneratorLayout({ type: 'generate', impact: 'IMPACT BODY' })],
    ...(['drift', 'apply', 'import'] as const).map(
      (type): Section => [`system: ${type}`, reportGeneratorLayout({ type })],
    ),
    ['query: plan', reportQuery('plan', 'PLAN TEXT')],
    ['query: apply', reportQuery('apply output', 'OUTPUT')],
    ['query: drift, nothing left', driftReportQuery({ unreconciled: '', exceptions: '' })],
    ['query: drift, some left', driftReportQuery({ unreconciled: 'LEFT', exceptions: '' })],
    ['query: drift, exceptions', driftReportQuery({ unreconciled: '', exceptions: 'EXPECTED' })],
    ['query: drift, both', driftReportQuery({ unreconciled: 'LEFT', exceptions: 'EXPECTED' })],
    ...(['generate', 'drift', 'apply', 'import'] as const).map(
      (type): Section => [`result tool: ${type}`, renderDefinition(reportTool(type).definition)],
    ),
  ],
  COMPLIANCE_CHECKER: [
    ['system', complianceCheckerLayout(COMPLIANCE)],
    ['system: without templates', complianceCheckerLayout({ ...COMPLIANCE, templates: [] })],
    ['query', complianceQuery(REQUEST, 'PLAN TEXT', '')],
    ['query: with findings of code', complianceQuery(REQUEST, 'PLAN TEXT', 'error a_rule a.b: Odd.')],
    result(complianceFindingsTool()),
  ],
  PR_GENERATOR: [['system', prGeneratorLayout()], result(pullRequestTool())],
  STATUS_UPDATE: [
    ['system', statusUpdateLayout()],
    ['query', statusQuery('Checking the request')],
  ],
}

const nobody = () => {
  throw new Error('definitions alone')
}
const access = createFileAccess(siteConfig('/nowhere'), { iac_root: '/nowhere' })
const OFFERED: readonly Tool[] = [
  ...fileTools(access),
  ...inspectionTools(access, { branchDiff: nobody }),
  webSearchTool({ complete: nobody, search: nobody }, 'main'),
  resourceSchemaTool({ names: nobody, of: nobody, forget: nobody }),
]

/** What is not of one chain: the tools that are offered, earlier turns and what the loop itself says. */
export const SHARED: Record<string, readonly Section[]> = {
  tools: OFFERED.map(({ definition }): Section => [definition.name, renderDefinition(definition)]),
  conversation: [
    [
      'earlier turns',
      JSON.stringify(
        earlierTurns([
          { user: 'asked', assistant: 'answered' },
          { user: '', assistant: 'only answered' },
          { user: 'only asked', assistant: '' },
        ]),
        null,
        2,
      ),
    ],
  ],
  notices: [
    ['reminder', notices.reminder('a_tool')],
    ['empty reply', notices.emptyReplyNotice('a_tool')],
    ['last turn', notices.lastTurnNotice('a_tool')],
    ['duplicate call', notices.duplicateCall('a_tool', 'call-1')],
    ['withdrawn tool', notices.withdrawnTool('a_tool')],
    ['no such tool', notices.toolNotFound('a_tool')],
    ['one parameter missing', notices.missingParameters('a_tool', ['one'])],
    ['two parameters missing', notices.missingParameters('a_tool', ['one', 'two'])],
    ['not JSON', notices.notJson('a_tool', 'syntax error')],
    ['empty result', notices.emptyResult('a_tool')],
    ['unexpected failure', notices.unexpectedFailure('a_tool')],
  ],
}
