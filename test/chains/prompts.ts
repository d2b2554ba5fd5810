import { fileTools } from '../../pipeline/tools/edit.ts'
import { lastPlanTool } from '../../pipeline/tools/last-plan.ts'
import { inspectionTools } from '../../pipeline/tools/look.ts'
import { resourceSchemaTool, webSearchTool } from '../../pipeline/tools/look-up.ts'
import { createFileAccess } from '../../pipeline/workspace/files/access.ts'
import type { Tool } from '../../src/agent/agent-request.ts'
import * as notices from '../../src/agent/notices.ts'
import { CLOUDS, OPERATIONS } from '../../src/base/vocabulary.ts'
import { complianceChecker } from '../../src/chains/compliance-checker.ts'
import { filterDriftExceptions, filterReconciliation, taskSplitter } from '../../src/chains/drift-chains.ts'
import {
  type GeneratorValues,
  iacGenerator,
  writeAttemptNote,
  writeAuditQuery,
  writeFeedbackQuery,
  writeImportQuery,
  writeOperationsQuery,
  writePairsQuery,
  writeRepairQuery,
  writeRulesQuery,
  writeTaskQuery,
  writeUnaskedQuery,
  writeUnmetQuery,
} from '../../src/chains/iac-generator.ts'
import { importAddresses, importFilter } from '../../src/chains/import-chains.ts'
import type { ChainName } from '../../src/chains/index.ts'
import { intentCheck } from '../../src/chains/intent-check.ts'
import { type CompositorValues, promptCompositor } from '../../src/chains/prompt-compositor.ts'
import { pullRequestText } from '../../src/chains/pull-request-text.ts'
import {
  applyReportWriter,
  driftReportWriter,
  generateReportWriter,
  importReportWriter,
} from '../../src/chains/report-writers.ts'
import { requestsFilter } from '../../src/chains/requests-filter.ts'
import type { PlanBackground } from '../../src/chains/shared/plan-background.ts'
import type { ShownRepository } from '../../src/chains/shared/repository.ts'
import { fenceTurns } from '../../src/chains/shared/run-chain.ts'
import { statusUpdate } from '../../src/chains/status-update.ts'
import { driftTargets, sessionTargets } from '../../src/chains/target-generator.ts'
import type { FileDiff } from '../../src/plan/code/compare.ts'
import type { DriftOperation } from '../../src/plan/drift.ts'
import { background } from '../pipeline/steps/review.ts'
import { siteConfig } from '../pipeline/workspace/support.ts'
import { driftReportQuery, NO_DRIFT, renderDefinition, type Section } from './form.ts'

/**
 * Every prompt of every chain in every variant, made by the functions of the code. Golden files hold the results, so
 * when the functions move, only this file changes.
 */

const GENERATOR: GeneratorValues = {
  operation: 'generate',
  forbid: true,
  templates: ['TEMPLATE ONE\n', 'TEMPLATE TWO'],
  abbreviations: ['aws_vpc: vpc', 'aws_s3_bucket: bkt'],
  task: 'QUERY',
  repository: null,
  changes: '',
  providers: null,
  providerSchema: '',
}
const CODE_BODIES = {
  engine: ' ENGINE BODY\n',
  resourceCreation: 'CREATION BODY',
  networking: 'NETWORKING BODY',
  permissions: 'PERMISSIONS BODY',
  forbiddenActions: 'FORBIDDEN BODY',
}
const LISTS = { resourcesList: 'RESOURCES BODY', abbreviations: 'ABBREVIATIONS BODY' }
const REQUEST = 'Add a bucket\nwith "versioning" & `logs`'
const OPERATIONS_LIST = [
  'aws_vpc.a: set cidr to "10.0.0.0/16" and remove tags.team',
  'aws_s3_bucket.b: remove the block',
]
const VPC_DRIFT: DriftOperation[] = [
  {
    address: 'aws_vpc.a',
    action: 'update resource',
    changes: {
      changed: { cidr: { old_value: '10.1.0.0/16', new_value: '10.0.0.0/16' } },
      removed: { 'tags.team': 'shop' },
    },
  },
]
const DIFF =
  'diff --git main.tf main.tf\n--- main.tf\n+++ main.tf\n@@ -1,1 +1,1 @@\n-# old\n+# new\n\nnew file two.tf\nlocals {}'
const EARLIER_TARGETS = { answer: ['a.b', 'c.d'], added: ['module.net'], demanded: ['a.old'], leftOut: ['c.d'] }
const IDS = ['arn:aws:s3:::one', 'vpc-2']
/** A session whose third request reverses a number of the first, with every optional part of the background. */
const FOLLOW_UP: PlanBackground = {
  requests: [
    { number: 1, text: 'Keep the logs for 35 days', fate: 'applied' },
    { number: 2, text: 'Add an alarm', fate: 'built' },
    { number: 4, text: 'Make it 7 days elsewhere', fate: 'present' },
  ],
  result: {
    summary: 'The logs are kept for 7 days outside of production.',
    assumptions: ['"Elsewhere" means every environment but production.'],
    gaps: [],
    repairs: [],
    drift: ['aws_vpc.a: tags.owner is "network"'],
    losses: [],
    notes: ['Tried with the values of `prod.tfvars`: the code is valid, with 12 resources in all.'],
  },
}
const COMPLIANCE = {
  ...background(REQUEST),
  plan: 'PLAN TEXT',
  types: ['aws_vpc'],
  codeFindings: '',
  templates: ['TEMPLATE ONE', 'TEMPLATE TWO'],
}
const IMPORT = {
  cloud: 'aws',
  request: REQUEST,
  unmanagedIds: IDS,
  templates: ['TEMPLATE ONE', 'TEMPLATE TWO'],
  abbreviations: ['aws_vpc: vpc'],
} as const
const IMPORT_FACTS = { imported: [], failed: [], excluded: [], state_alignment: '', recommendations: [], nothing: null }
const BRANCH_DIFF: FileDiff[] = [
  { path: 'main.tf', change: 'changed', text: '@@ -1,3 +1,3 @@\n resource "a" "b" {\n-  size = 1\n+  size = 2\n }' },
  { path: 'new.tf', change: 'new', text: 'resource "a" "new" {\n}' },
]

const DRIFT = { diff: BRANCH_DIFF }

const generatorSystem = (changes: Partial<GeneratorValues>, bodies: Partial<typeof CODE_BODIES> = {}) =>
  iacGenerator.system({ ...CODE_BODIES, ...bodies }, { ...GENERATOR, ...changes })
const AROUND: ShownRepository['around'] = { root: '', beyondLimit: 0, elsewhere: { files: 0, code: 0 }, isWhole: true }

const shown = (changes: Partial<ShownRepository>): ShownRepository => ({
  ...{ overview: '', relevant: '--- main.tf ---\nx', complete: false, around: AROUND, hasReadOnly: false },
  ...changes,
})

const generatorQuery = (changes: Partial<GeneratorValues>) => iacGenerator.query({ ...GENERATOR, ...changes })
const compositorQuery = (pass: CompositorValues['pass']) => promptCompositor.query({ request: REQUEST, pass })

/** The prompts of each chain, without its result tool. */
export const PROMPTS: Record<ChainName, readonly Section[]> = {
  REQUESTS_FILTER: [
    ...OPERATIONS.map(
      (operation): Section => [
        `system: ${operation}`,
        requestsFilter.system(
          { guideline: 'GUIDELINE BODY', forbiddenActions: 'FORBIDDEN BODY' },
          { request: REQUEST, operation },
        ),
      ],
    ),
    ['query', requestsFilter.query({ request: REQUEST, operation: 'generate' })],
    [
      'query: with blocks',
      requestsFilter.query({ request: REQUEST, operation: 'generate', blocks: 'main.tf (1 B): resource a.b' }),
    ],
  ],
  INTENT_CHECK: [
    ...CLOUDS.map(
      (cloud): Section => [`system: ${cloud}`, intentCheck.system({}, { cloud, request: REQUEST, blocks: '' })],
    ),
    [
      'query: with blocks',
      intentCheck.query({ cloud: 'aws', request: REQUEST, blocks: 'main.tf (1 B): resource a.b' }),
    ],
    ['query: without blocks', intentCheck.query({ cloud: 'aws', request: REQUEST, blocks: '' })],
  ],
  PROMPT_COMPOSITOR: [
    ['system', promptCompositor.system(LISTS, { request: REQUEST, pass: { number: 1 } })],
    ['query: first pass', compositorQuery({ number: 1 })],
    [
      'query: second pass',
      compositorQuery({ number: 2, templates: ['vpc', 'subnet'], abbreviations: ['- aws_vpc: vpc'] }),
    ],
    ['query: second pass after templates alone', compositorQuery({ number: 2, templates: ['vpc'], abbreviations: [] })],
  ],
  IAC_GENERATOR: [
    ['system: generate', generatorSystem({})],
    ['system: drift', generatorSystem({ operation: 'drift', forbid: false }, { forbiddenActions: '' })],
    ['system: import', generatorSystem({ operation: 'import', forbid: false }, { forbiddenActions: '' })],
    [
      'system: empty lists and bodies',
      generatorSystem({ templates: [], abbreviations: [] }, { networking: ' ', forbiddenActions: '' }),
    ],
    ['query: task', writeTaskQuery(REQUEST)],
    ['query: operations', writeOperationsQuery(OPERATIONS_LIST)],
    ['query: import', writeImportQuery(IDS)],
    ['query: feedback', writeFeedbackQuery('Error: odd')],
    ['query: pairs', writePairsQuery('Not imported:\n- `a.two` (2): Error: no')],
    ['query: unmet statements', writeUnmetQuery('- two buckets: one')],
    ['query: unasked destruction', writeUnaskedQuery('- aws_vpc.a is destroyed.')],
    ['query: findings of rules', writeRulesQuery('error aws.network.open-all-ports aws_vpc.a: open')],
    ['query: findings of the audit', writeAuditQuery('error scope_exceeded at aws_vpc.a: more than asked.')],
    ['query: repair with findings', writeRepairQuery('1. Odd')],
    ['query: beginning of a later attempt', writeAttemptNote({ attempt: 2, maxAttempts: 5, isRepeated: false })],
    ['query: beginning with equal findings', writeAttemptNote({ attempt: 3, maxAttempts: 5, isRepeated: true })],
    [
      'query: repair with long output',
      writeFeedbackQuery(`HEAD${'x'.repeat(70_000)}TAIL`).replaceAll(/x{100,}/g, (run) => `(${run.length} times x)`),
    ],
    ['query: changes of the session', generatorQuery({ changes: '+resource "a_b" "c" {}' })],
    [
      'query: with all of a repository',
      generatorQuery({ repository: shown({ overview: 'README.md (1 B)', complete: true }) }),
    ],
    ['query: with a part of a repository', generatorQuery({ repository: shown({ overview: 'main.tf (1 B)' }) })],
    [
      'query: with an empty repository',
      generatorQuery({ repository: shown({ overview: 'README.md (1 B)', relevant: '', complete: true }) }),
    ],
    [
      'query: with all of a root beside others',
      generatorQuery({
        repository: shown({
          complete: true,
          around: { ...AROUND, root: 'live/prod', elsewhere: { files: 312, code: 40 } },
        }),
      }),
    ],
    [
      'query: with a part of a root and of a module outside',
      generatorQuery({
        repository: shown({
          overview: '../../modules/net/main.tf (1 B, read-only)',
          around: { ...AROUND, root: 'live/prod', elsewhere: { files: 1, code: 1 } },
          hasReadOnly: true,
        }),
      }),
    ],
    ['query: without schema', generatorQuery({ providerSchema: '' })],
    ['query: without providers', generatorQuery({ providerSchema: '', providers: [] })],
    [
      'query: with providers',
      generatorQuery({
        providerSchema: '',
        providers: [
          { source: 'hashicorp/aws', version: '5.73.0', constraints: '~> 5.0' },
          { source: 'hashicorp/random', version: '3.7.2', constraints: null },
        ],
      }),
    ],
    ['query: with schema', generatorQuery({ providerSchema: 'resource "a_b"' })],
  ],
  TARGET_GENERATOR: [
    ['system: session', sessionTargets.system({}, { diff: '', earlier: null })],
    ['system: drift', driftTargets.system({ targetingPolicies: 'POLICIES BODY' }, { request: REQUEST })],
    ['query: session', sessionTargets.query({ diff: DIFF, earlier: null })],
    ['query: session, again', sessionTargets.query({ diff: DIFF, earlier: EARLIER_TARGETS })],
    ['query: session without changes at hand', sessionTargets.query({ diff: null, earlier: null })],
    ['query: drift', driftTargets.query({ request: REQUEST })],
  ],
  TASK_SPLITTER: [
    ['system', taskSplitter.system({}, { drift: [], request: null })],
    ['system: partial', taskSplitter.system({}, { drift: [], request: REQUEST })],
    ['query', taskSplitter.query({ drift: [{ address: 'a.b', action: 'delete resource' }], request: null })],
    [
      'query: partial',
      taskSplitter.query({ drift: [{ address: 'a.b', action: 'delete resource' }], request: REQUEST }),
    ],
  ],
  FILTER_RECONCILIATION: [
    ['system', filterReconciliation.system({}, { operations: [], drift: [], diff: [] })],
    ['query', filterReconciliation.query({ operations: OPERATIONS_LIST, drift: VPC_DRIFT, diff: BRANCH_DIFF })],
    ['query: nothing changed', filterReconciliation.query({ operations: OPERATIONS_LIST, drift: [], diff: [] })],
  ],
  FILTER_DRIFT_EXCEPTIONS: [
    ['system', filterDriftExceptions.system({ driftExceptions: 'EXCEPTIONS BODY' }, { operations: [], drift: [] })],
    ['query', filterDriftExceptions.query({ operations: OPERATIONS_LIST, drift: VPC_DRIFT })],
  ],
  IMPORT_FILTER: [
    ['system', importFilter.system({}, IMPORT)],
    ['system: empty lists', importFilter.system({}, { ...IMPORT, templates: [], abbreviations: [] })],
    ['query', importFilter.query(IMPORT)],
  ],
  IMPORT_ADDRESSES: [
    ['system', importAddresses.system({}, { pendingIds: IDS, addresses: [], diff: [] })],
    [
      'query',
      importAddresses.query({ pendingIds: IDS, addresses: ['aws_s3_bucket.one', 'aws_vpc.two[0]'], diff: BRANCH_DIFF }),
    ],
    ['query: without addresses', importAddresses.query({ pendingIds: IDS, addresses: [], diff: BRANCH_DIFF })],
  ],
  REPORT_GENERATOR: [
    ['system: generate', generateReportWriter.system({ impact: 'IMPACT BODY' }, { ...background(REQUEST), plan: '' })],
    ['system: drift', driftReportWriter.system({}, NO_DRIFT)],
    ['system: apply', applyReportWriter.system({}, { output: '', request: '' })],
    ['system: import', importReportWriter.system({}, { facts: IMPORT_FACTS, plan: null, request: '' })],
    ['query: plan', generateReportWriter.query({ ...background(REQUEST), plan: 'PLAN TEXT' })],
    ['query: plan of a follow-up', generateReportWriter.query({ ...FOLLOW_UP, plan: 'PLAN TEXT' })],
    ['query: apply', applyReportWriter.query({ output: 'OUTPUT', request: 'Lege eine Warteschlange an.' })],
    ['query: drift, nothing left', driftReportQuery(DRIFT)],
    ['query: drift, some left', driftReportQuery({ ...DRIFT, failure: 'LEFT' })],
    ['query: drift, exceptions', driftReportQuery({ ...DRIFT, exclusions: ['EXPECTED'] })],
    ['query: drift, written', driftReportQuery({ ...DRIFT, written: [{ address: 'a.b', action: 'delete resource' }] })],
    ['query: drift, a part', driftReportQuery({ ...DRIFT, request: 'the request', targets: ['a.b', 'module.c'] })],
    ['query: drift, both', driftReportQuery({ ...DRIFT, failure: 'LEFT', exclusions: ['EXPECTED'] })],
  ],
  COMPLIANCE_CHECKER: [
    ['system', complianceChecker.system({ ...CODE_BODIES, engine: 'ENGINE BODY', rules: 'RULES BODY' }, COMPLIANCE)],
    [
      'system: without templates',
      complianceChecker.system(
        { ...CODE_BODIES, engine: 'ENGINE BODY', rules: 'RULES BODY' },
        { ...COMPLIANCE, templates: [] },
      ),
    ],
    ['query', complianceChecker.query(COMPLIANCE)],
    ['query: follow-up', complianceChecker.query({ ...COMPLIANCE, ...FOLLOW_UP })],
    [
      'query: with findings of code',
      complianceChecker.query({ ...COMPLIANCE, codeFindings: 'error a_rule a.b: Odd.' }),
    ],
  ],
  PR_GENERATOR: [['system', pullRequestText.system({}, { firstRequest: '', record: '' })]],
  STATUS_UPDATE: [
    ['system', statusUpdate.system({}, { text: '', request: '' })],
    ['query', statusUpdate.query({ text: 'Add a bucket', request: 'Add a bucket' })],
    ['query: not the request', statusUpdate.query({ text: 'update aws_vpc.main', request: 'Mend all drift' })],
  ],
}

const nobody = () => {
  throw new Error('definitions alone')
}
const access = createFileAccess(siteConfig('/nowhere'), {
  iacRoot: '/nowhere',
  clone: '/nowhere',
  gitDirectory: '/nowhere',
})
const OFFERED: readonly Tool[] = [
  ...fileTools(access),
  ...inspectionTools(access, { branchDiff: nobody }),
  webSearchTool({ complete: nobody, search: nobody }, 'main'),
  resourceSchemaTool({ installed: nobody, names: nobody, of: nobody, forget: nobody }),
  lastPlanTool({ round: 1, mode: 'generate', result: null, applies: [], plan: '', report: null, check: null }, nobody),
]

/** Texts that belong to no single chain: tools, earlier turns and messages of the loop. */
export const SHARED: Record<string, readonly Section[]> = {
  tools: OFFERED.map(({ definition }): Section => [definition.name, renderDefinition(definition)]),
  conversation: [
    [
      'earlier turns',
      JSON.stringify(
        fenceTurns([
          { user: 'asked', assistant: 'answered' },
          { user: '', assistant: 'only answered' },
          { user: 'only asked', assistant: '' },
        ]),
        null,
        2,
      ),
    ],
    [
      'a turn of the present round after an earlier one',
      JSON.stringify(
        fenceTurns(
          [
            { user: 'asked', assistant: 'answered' },
            { user: 'asks', assistant: 'written' },
          ],
          1,
        ),
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
    ['no such tool', notices.toolNotFound('a_tool', ['one_tool', 'another_tool'])],
    ['one parameter missing', notices.missingParameters('a_tool', ['one'])],
    ['two parameters missing', notices.missingParameters('a_tool', ['one', 'two'])],
    ['one parameter misnamed', notices.missingParameters('a_tool', ['one'], ['other'])],
    ['two parameters misnamed', notices.missingParameters('a_tool', ['one', 'two'], ['other', 'another'])],
    ['not JSON', notices.notJson('a_tool', 'syntax error')],
    ['not JSON: control character', notices.notJson('a_tool', 'syntax error', notices.CONTROL_CHARACTER)],
    ['not JSON: cut off', notices.notJson('a_tool', 'syntax error', notices.CUT_OFF)],
    ['empty result', notices.emptyResult('a_tool')],
    ['unexpected failure', notices.unexpectedFailure('a_tool')],
  ],
}
