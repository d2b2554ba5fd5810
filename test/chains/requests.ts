import { join } from 'node:path'
import { runChain } from '../../pipeline/kit/run-chain.ts'
import { writeApplyReport } from '../../pipeline/modes/apply.ts'
import { writeDriftReport } from '../../pipeline/modes/drift.ts'
import { writeImportReport } from '../../pipeline/modes/import.ts'
import type { DriftResult } from '../../pipeline/steps/drift/genuine-drift.ts'
import { startIntentCheck } from '../../pipeline/steps/generate/check-intent.ts'
import { type GenerationTask, generateAndValidate } from '../../pipeline/steps/generator/generate-and-validate.ts'
import { selectResources } from '../../pipeline/steps/import/discover.ts'
import { converge } from '../../pipeline/steps/import/import-selected.ts'
import { openLedger } from '../../pipeline/steps/import/ledger.ts'
import { createImportValidator } from '../../pipeline/steps/import/validator.ts'
import type { ValidPlan } from '../../pipeline/steps/plan/plan.ts'
import { createPlanValidator } from '../../pipeline/steps/plan/validators.ts'
import { composePrompts } from '../../pipeline/steps/shared/compose-prompts.ts'
import { OPERATIONS } from '../../src/base/vocabulary.ts'
import { filterDriftExceptions, filterReconciliation, taskSplitter } from '../../src/chains/drift-chains.ts'
import { writeOperationsQuery, writeTaskQuery } from '../../src/chains/iac-generator.ts'
import type { ChainName } from '../../src/chains/index.ts'
import { requestsFilter } from '../../src/chains/requests-filter.ts'
import { driftTargets, sessionTargets } from '../../src/chains/target-generator.ts'
import type { InferenceRequest } from '../../src/llm/inference.ts'
import { listChanges } from '../../src/plan/change-list.ts'
import type { FileDiff } from '../../src/plan/code/compare.ts'
import { writePullRequestText } from '../../src/pull-requests/write-text.ts'
import { emptyResult } from '../../src/rounds/round-result.ts'
import type { IacClient } from '../../src/services/iac/contract.ts'
import { review } from '../pipeline/steps/review.ts'
import type { Script } from '../pipeline/steps/scripted-llm.ts'
import {
  calmEngine,
  type createSteps,
  type EngineScript,
  type StepWorld,
  validPlan,
} from '../pipeline/steps/support.ts'
import { planOf } from '../plan/fixtures.ts'

/**
 * The requests of the worker's steps to a model: role, tools in their order and messages of every call, for each chain
 * in each of the ways in which a step uses it.
 */

type Steps = Awaited<ReturnType<typeof createSteps>>
type WorldOptions = NonNullable<Parameters<Steps['world']>[0]>

const CONVENTIONS = { templates: ['TEMPLATE ONE', 'TEMPLATE TWO'], abbreviations: ['aws_vpc: vpc'] }
/** Templates of which only the first concerns a type in the plan of these calls. */
const OF_DATABASES = {
  templates: [
    '# Database (`aws_db_instance`)\n\n## Required\n- `engine`\n\n## Dependencies\n- A subnet group.',
    '# Replicas of databases (`aws_db_instance_automated_backups_replication`)',
  ],
}
const UTILITIES = [{ address: 'terraform_data.one', actions: ['create'] }]
const IDS = ['arn:aws:s3:::one', 'vpc-2']
const DRIFT = [
  { address: 'aws_vpc.a', action: 'delete resource' as const },
  { address: 'a.b', action: 'create resource' as const, changes: { size: 1 } },
]
const DIFF: FileDiff[] = [{ path: 'new.tf', change: 'new', text: 'resource "a" "new" {\n}\n' }]
const MOVES = [
  { address: 'a.new', previous_address: 'a.old', actions: ['no-op'] },
  { address: 'a.c', actions: ['create'] },
]
const CHANGES = [
  { address: 'a.b', actions: ['update'], before: { size: 1 }, after: { size: 2 } },
  { address: 'aws_db_instance.main', type: 'aws_db_instance', actions: ['delete'] },
]

/** The shortest answer that ends each chain. */
const SCRIPTS: Record<string, Script> = {
  requests_filter: { args: { status: true, explanation: '' } },
  construct_information: { args: { templates: ['s3_bucket'], abbreviations: ['bucket: bkt'] } },
  report_intent_statements: { args: { statements: [] } },
  task_complete: { args: { status: 'done', summary: 'Done.' } },
  generate_engine_targets: { args: { targets: ['a.b'] } },
  report_decomposed_task_operations: { args: { operations: [] } },
  import_addresses: { args: { status: 'done', summary: 'None.', imports: [] } },
  report_compliance_findings: { args: { violations: [], summary: 'Audited.', checked_rules: [] } },
  generate_engine_plan_report: {
    args: {
      summary: {},
      detailed_changes: [],
      potential_impact: { banner: { level: 'low', title: 't', description: 'd' } },
      estimated_costs: {},
    },
  },
  generate_engine_drift_report: { args: {} },
  generate_engine_apply_report: { args: {} },
  generate_engine_import_report: { args: {} },
  generate_pull_request: { args: { title: 'Title', description: 'Summary.' } },
}

const TURN = { user: 'an earlier request', assistant: 'an earlier answer' }

/** A use of a chain by a step, with the options of the step's world. */
type Case = readonly [heading: string, work: (world: StepWorld) => Promise<unknown>, options?: CaseOptions]
/** The calls may be limited to one chain, by default to all but status messages, and in number. */
type CaseOptions = WorldOptions & { root?: string; chain?: string; calls?: number }

/** Runs a step in its own world and returns its requests. */
export async function runCase(
  steps: Steps,
  [, work, { root, chain, calls, ...rest } = {}]: Case,
): Promise<InferenceRequest[]> {
  const world = await steps.world({ ...rest, scripts: { ...SCRIPTS, ...rest.scripts } })
  if (root !== undefined)
    Object.assign(world.workspace, { iacRoot: root, clone: root, gitDirectory: join(root, '.git') })
  world.run.round.history.push(TURN)
  world.run.conversation.push(TURN)
  await work(world)
  await world.kit.status.settle()
  return world.llm.requests
    .filter((entry) => (chain === undefined ? entry.chain !== 'status' : entry.chain === chain))
    .map(({ request }) => request)
    .slice(0, calls)
}

const types = { aws_s3_bucket: { block: { attributes: { bucket: { type: 'string', required: true } } } } }
const schema: IacClient['schema'] = async ({ resource_types = [] }) => ({
  providers: {
    'registry.terraform.io/hashicorp/aws': {
      resource_schemas: resource_types.length > 0 ? types : {},
      data_source_schemas: {},
      resource_types: Object.keys(types),
      data_source_types: [],
      ephemeral_resource_schemas: {},
      ephemeral_types: [],
    },
  },
  missing: [],
  left_out: [],
})
const refusingOnce: EngineScript = (job, number) =>
  job.kind === 'validate' && number === 1
    ? {
        exit_code: 1,
        stderr: '\nError: Unsupported argument\n\n  on main.tf line 2, in resource "aws_s3_bucket" "logs":\n',
      }
    : calmEngine()(job, number)
const created = JSON.stringify({
  format_version: '1.2',
  configuration: {},
  resource_changes: [
    {
      address: 'aws_s3_bucket.one',
      mode: 'managed',
      type: 'aws_s3_bucket',
      name: 'one',
      change: { actions: ['create'], after: {} },
    },
  ],
})

const task = (world: StepWorld, changes: Partial<GenerationTask<ValidPlan>> = {}): GenerationTask<ValidPlan> => ({
  query: 'Add a bucket for logs',
  prompt: writeTaskQuery('Add a bucket for logs'),
  operation: 'generate',
  conventions: CONVENTIONS,
  forbid: true,
  maxAttempts: 3,
  validate: createPlanValidator(world.kit, async () => []),
  ...changes,
})

const driftResult = (world: StepWorld): DriftResult => ({
  inSync: false,
  unasked: new Set(),
  remaining: [...DRIFT],
  excepted: [...DRIFT].slice(0, 1),
  detected: [...DRIFT],
  written: [],
  feedback: null,
  valid: validPlan(world, CHANGES),
  exclusions: ['aws_vpc.a: expected by rule one'],
})

/** @param root a folder with files of an engine root */
export const requestCases = (root: string): Record<ChainName, readonly Case[]> => ({
  REQUESTS_FILTER: OPERATIONS.map(
    (operation): Case => [
      operation,
      ({ kit }) => runChain(kit, requestsFilter, { request: kit.run.round.query, operation }),
    ],
  ),
  INTENT_CHECK: [
    [
      'the check of a request',
      (world) => startIntentCheck(world.kit, Promise.resolve('main.tf: a.b')).evaluate(validPlan(world, CHANGES).plan),
    ],
  ],
  PROMPT_COMPOSITOR: [['both passes', ({ kit }) => composePrompts(kit)]],
  IAC_GENERATOR: [
    [
      'a request, then a repair with schemas',
      (world) => {
        // A repair that changes nothing is sent back; see the test of the loop.
        world.workspace.pendingChanges = async () => [{ path: 'main.tf', new_file: false, content: 'x' }]
        return generateAndValidate(world.kit, task(world))
      },
      { root, engine: refusingOnce, additions: { schema }, query: 'Add a bucket for logs' },
    ],
    [
      'operations of drift',
      (world) =>
        generateAndValidate(
          world.kit,
          task(world, { prompt: writeOperationsQuery(['one']), operation: 'drift', forbid: false }),
        ),
    ],
    [
      'identifiers to import',
      (world) => generateAndValidate(world.kit, task(world, { operation: 'import', forbid: false, importIds: IDS })),
    ],
  ],
  TARGET_GENERATOR: [
    ['session', ({ kit }) => runChain(kit, sessionTargets, { diff: 'new file two.tf\nlocals {}', earlier: null })],
    ['drift', ({ kit }) => runChain(kit, driftTargets, { request: kit.run.round.query })],
  ],
  TASK_SPLITTER: [['drift', ({ kit }) => runChain(kit, taskSplitter, { drift: DRIFT, request: null })]],
  FILTER_RECONCILIATION: [
    [
      'operations',
      ({ kit }) => runChain(kit, filterReconciliation, { operations: ['one', 'two'], drift: [], diff: DIFF }),
    ],
  ],
  FILTER_DRIFT_EXCEPTIONS: [
    ['operations', ({ kit }) => runChain(kit, filterDriftExceptions, { operations: ['one', 'two'], drift: [] })],
  ],
  IMPORT_FILTER: [
    [
      'identifiers',
      ({ kit }) => {
        kit.run.round.is_partial = true
        return selectResources(kit, { scope: IDS, ids: IDS, withheld: [] }, CONVENTIONS)
      },
    ],
  ],
  IMPORT_ADDRESSES: [
    [
      'identifiers without address',
      async ({ kit }) => createImportValidator(kit, await openLedger(kit, IDS))(),
      { engine: calmEngine(created), chain: 'import_addresses' },
    ],
  ],
  REPORT_GENERATOR: [
    ['generate', (world) => review(world, validPlan(world, CHANGES, ['a.b']))],
    ['drift', (world) => settled(writeDriftReport(world.kit, driftResult(world), [])), { calls: 1 }],
    ['apply that went well', ({ kit }) => writeApplyReport(kit, { ...APPLIED, exit_code: 0 }, NOTHING), { calls: 1 }],
    ['apply that failed', ({ kit }) => writeApplyReport(kit, { ...APPLIED, exit_code: 1 }, NOTHING), { calls: 1 }],
    ['import', (world) => settled(writeImportReport(world.kit, importFacts, validPlan(world, CHANGES))), { calls: 1 }],
    [
      'import of nothing',
      ({ kit }) =>
        settled(writeImportReport(kit, { ...importFacts, imported: [], failed: [], nothing: 'Nothing there.' }, null)),
      { calls: 1 },
    ],
  ],
  COMPLIANCE_CHECKER: [
    ['plan', (world) => review(world, validPlan(world, CHANGES), { conventions: OF_DATABASES }), AUDIT],
    [
      'plan of what is in no cloud',
      (world) => review(world, validPlan(world, UTILITIES), { conventions: OF_DATABASES }),
      AUDIT,
    ],
  ],
  PR_GENERATOR: [
    ['session', (world) => describePullRequest(world, { first_query: 'Add a bucket', history: [TURN] })],
    [
      'session whose rounds left a record',
      (world) =>
        describePullRequest(world, {
          first_query: TURN.user,
          history: [TURN],
          rounds: [
            {
              number: 1,
              mode: 'generate',
              query: TURN.user,
              status: 'completed',
              result: {
                ...emptyResult(),
                summary: TURN.assistant,
                repairs: ['Not for this model.'],
                drift: ['update aws_vpc.main'],
                changes: listChanges(planOf(MOVES), { text: (text) => text }),
              },
            },
            { number: 2, mode: 'generate', query: 'Declined', status: 'uncompleted' },
          ],
        }),
    ],
  ],
  STATUS_UPDATE: [
    ['status', ({ kit }) => kit.status.say('filtering', 'Add a bucket'), { chain: 'status' }],
    [
      'import that does not converge',
      async (world) => {
        const ledger = await openLedger(world.kit, IDS)
        await ledger.begin({ address: 'aws_s3_bucket.one', resource_id: 'arn:aws:s3:::one' }, 'commit')
        await ledger.succeed('arn:aws:s3:::one')
        return settled(
          converge(world.kit, { ledger, misplaced: [], imported: validPlan(world, []), conventions: CONVENTIONS }),
        )
      },
      { engine: () => ({ exit_code: 1, stderr: 'Error: no plan' }), chain: 'status' },
    ],
  ],
})

const NOTHING = { changes: [], inState: [] }
const APPLIED = { kind: 'ran', stdout: 'out', stderr: 'err' } as const
const AUDIT: CaseOptions = { orchestration: { enable_compliance_checker: true }, chain: 'report_compliance_findings' }
const describePullRequest = ({ run, llm }: StepWorld, about: Parameters<typeof writePullRequestText>[1]) =>
  writePullRequestText({ ...run.context, llm }, about, new AbortController().signal)
const importFacts: Parameters<typeof writeImportReport>[1] = {
  imported: [{ address: 'aws_s3_bucket.one', resource_id: 'arn:aws:s3:::one' }],
  failed: [{ address: '', resource_id: 'vpc-2', error: 'No block.' }],
  excluded: [{ resource_id: 'vpc-3', details: 'Not selected.' }],
  state_alignment: 'Aligned.',
  recommendations: [],
  nothing: null,
}

const settled = async (work: Promise<unknown>) => await work.catch((error: unknown) => error)
