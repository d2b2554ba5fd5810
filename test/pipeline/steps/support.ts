import { loadConfig } from '../../../config/load.ts'
import type { Config, OrchestrationConfig } from '../../../config/types.ts'
import { createKit, type Kit } from '../../../pipeline/kit/kit.ts'
import { createMeter } from '../../../pipeline/kit/meter.ts'
import { createModelOpener } from '../../../pipeline/kit/models.ts'
import type { Run } from '../../../pipeline/kit/run.ts'
import type { ValidPlan } from '../../../pipeline/steps/plan/plan.ts'
import type { FileChange, Workspace } from '../../../pipeline/workspace/workspace.ts'
import { createLogger } from '../../../src/base/log.ts'
import type { Status } from '../../../src/base/vocabulary.ts'
import type { Context } from '../../../src/context.ts'
import type { ObjectStore } from '../../../src/data/storage/object-store.ts'
import { silentEventLog } from '../../../src/events/event-log.ts'
import { emptyResult } from '../../../src/rounds/round-result.ts'
import { appendStatus } from '../../../src/rounds/transitions.ts'
import type { EngineResult, IacClient, IacJobKind } from '../../../src/services/iac/contract.ts'
import { memoryCache } from '../../helpers/memory-cache.ts'
import { createTestDatabase, type TestDatabase } from '../../helpers/postgres.ts'
import { createUser, openSession, runRound } from '../../helpers/sessions.ts'
import { planOf } from '../../plan/fixtures.ts'
import { type Script, type ScriptedLlm, scriptedLlm } from './scripted-llm.ts'

export interface Job {
  kind: IacJobKind
  body: Record<string, unknown>
}
export type EngineScript = (job: Job, number: number) => Partial<EngineResult>

export interface StepWorld {
  kit: Kit
  run: Run
  llm: ScriptedLlm
  jobs: Job[]
  /** Stored objects by the part of the key after the round. */
  objects: Map<string, { body: string; metadata: Record<string, string> }>
  statuses(): Promise<[Status, string | null][]>
  workspace: FakeWorkspace
}

export interface FakeWorkspace extends Workspace {
  changes: FileChange[]
  /** Changed by every commit that is not empty. */
  current_revision: string
  kept: boolean
  commits: number
}

export const ok = (stdout = ''): EngineResult => ({ exit_code: 0, stdout, stderr: '' })

const EMPTY_PLAN = JSON.stringify({ format_version: '1.2', resource_changes: [] })

/** Makes an engine whose steps all succeed; `show` returns the given document. */
export const calmEngine =
  (document: string = EMPTY_PLAN): EngineScript =>
  ({ kind }) =>
    kind === 'show' ? ok(document) : ok(`${kind} output`)

interface WorldOptions {
  scripts?: Record<string, Script | Script[]>
  engine?: EngineScript
  /** Optional jobs of the iac service; by default none. */
  additions?: Partial<Pick<IacClient, 'schema' | 'diagnostics' | 'fmt' | 'offers' | 'programs'>>
  orchestration?: Partial<OrchestrationConfig>
  /** Reports whether the models can search the web; by default unknown. */
  canSearch?: (() => boolean) | undefined
  context?: Partial<Context>
  query?: string
  prompts?: Record<string, string>
}

/** The smallest environment for which a configuration loads. */
const ENVIRONMENT = {
  PLATFORM_SQL_DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  PLATFORM_IAC_TOKEN: 'token-of-the-iac-sidecar',
  ANTHROPIC_API_KEY: 'key-of-the-model-provider',
}

/** Creates one database for a test file. Each of its worlds is a claimed round of a new session. */
export async function createSteps(): Promise<{
  world(options?: WorldOptions): Promise<StepWorld>
  close(): Promise<void>
  database: TestDatabase
}> {
  const database = await createTestDatabase()
  return { database, world: (options = {}) => createWorld(database, options), close: () => database.drop() }
}

async function createWorld(database: TestDatabase, options: WorldOptions): Promise<StepWorld> {
  const { sql } = database
  const jobs: Job[] = []
  const objects: StepWorld['objects'] = new Map()
  const llm: ScriptedLlm = {
    ...scriptedLlm({ status: { text: 'One sentence.' }, ...options.scripts }),
    ...(options.canSearch && { canSearch: options.canSearch }),
  }
  const base: Config = await loadConfig(ENVIRONMENT, async () => null)
  const config: Config = {
    ...base,
    orchestration: { ...base.orchestration, ...options.orchestration },
    storage: { ...base.storage, engine_state_bucket: '' },
  }
  const context: Context = {
    config,
    log: createLogger({ write: () => {} }),
    fetch: async () => {
      throw new Error('no network in step tests')
    },
    sql,
    cache: memoryCache(),
    queue: { enqueue: async () => {}, healthy: async () => true },
    storage: memoryStore(objects),
    prompts: { body: async (name) => options.prompts?.[name] ?? `body of ${name}` },
    llm,
    iac: engineDouble(jobs, options.engine ?? calmEngine(), options.additions),
    resolver: async () => ['93.184.216.34'],
    now: () => new Date(),
    ...options.context,
  }
  const user = await createUser(sql, crypto.randomUUID())
  const uuid = await openSession(context, user.id, { query: options.query ?? 'Add a bucket' })
  const { round } = await runRound(context, uuid)
  const workspace = fakeWorkspace()
  const meter = createMeter()
  const run: Run = {
    context,
    openModel: createModelOpener(context.llm),
    round,
    workspace,
    conversation: [],
    result: emptyResult(),
    log: context.log,
    signal: new AbortController().signal,
    setStatus: (status, message) => appendStatus(sql, round, status, message),
    observe: meter.observe,
    eventLog: silentEventLog,
    meter,
  }
  const statuses = async () => {
    const rows = await sql<{ status: Status; message: string | null }[]>`
      SELECT status, message FROM statuses WHERE round_id = ${round.id} AND status <> 'started' ORDER BY created_at, id`
    return rows.map(({ status, message }): [Status, string | null] => [status, message])
  }
  return { kit: createKit(run), run, llm, jobs, objects, statuses, workspace }
}

function engineDouble(jobs: Job[], script: EngineScript, additions: WorldOptions['additions'] = {}): IacClient {
  const results = new Map<string, EngineResult>()
  const submit: IacClient['submit'] = async (kind, body) => {
    const job: Job = { kind, body: { ...body } }
    const number = jobs.filter((other) => other.kind === kind).length + 1
    jobs.push(job)
    const id = crypto.randomUUID()
    results.set(id, { exit_code: 0, stdout: '', stderr: '', ...script(job, number) })
    return id
  }
  const wait: IacClient['wait'] = async (id) => {
    const result = results.get(id)
    if (!result) throw new Error(`unknown job ${id}`)
    return result
  }
  return {
    submit,
    wait,
    run: async (kind, body, run_options) => {
      const id = await submit(kind, body)
      await run_options?.onSubmitted?.(id)
      return wait(id)
    },
    healthy: async () => true,
    engine: async () => null,
    schema: async () => null,
    diagnostics: async () => null,
    ...additions,
  }
}

/** Makes the schemas of an iac service that has these resource types, and lists the requests for them. */
export function schemaDouble(types: Record<string, unknown>) {
  const asked: Parameters<IacClient['schema']>[0][] = []
  const schema: IacClient['schema'] = async (request) => {
    asked.push(request)
    const wanted = (request.resource_types ?? []).filter((type) => type in types)
    const provider = {
      resource_schemas: Object.fromEntries(wanted.map((type) => [type, types[type]])),
      data_source_schemas: {},
      resource_types: request.resource_types ? [] : Object.keys(types),
      data_source_types: [],
      ephemeral_resource_schemas: {},
      ephemeral_types: [],
    }
    return { providers: { 'registry.terraform.io/hashicorp/aws': provider }, missing: [], left_out: [] }
  }
  return { asked, schema }
}

const shortKey = (key: string) => key.replace(/^sessions\/[^/]+\/rounds\/\d+\//, '')

function memoryStore(objects: StepWorld['objects']): ObjectStore {
  return {
    ensureBuckets: async () => {},
    put: async (key, body, { metadata = {} }) => {
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
      objects.set(shortKey(key), { body: text, metadata })
      return new TextEncoder().encode(text).byteLength
    },
    get: async () => new Uint8Array(),
    delete: async (key) => void objects.delete(shortKey(key)),
    list: async () => [...objects.keys()],
    presign: async (key) => key,
    urlsLapse: async () => null,
    isOn: () => true,
    metadataPrefix: 'x-amz-meta-',
  }
}

function fakeWorkspace(): FakeWorkspace {
  const workspace: FakeWorkspace = {
    clone: '/clone',
    gitDirectory: '/git',
    iacRoot: '/clone/root',
    branch: 'Platform/test',
    defaultBranch: 'main',
    complete: async () => {},
    changes: [],
    current_revision: 'revision-0',
    kept: false,
    commits: 0,
    commitAndPush: async (_onCommitted, ready) => {
      await ready
      workspace.commits++
      if (workspace.changes.length > 0) workspace.current_revision = `revision-${workspace.commits}`
      workspace.changes = []
      return `commit-${workspace.commits}`
    },
    head: async () => `commit-${workspace.commits}`,
    restore: async () => {},
    pendingChanges: async () => workspace.changes,
    branchDiff: async () => [],
    versions: async () => [],
    runChanges: async () => workspace.changes,
    changedFiles: async () => [],
    baseCommit: async () => 'base',
    provide: async () => {},
    revision: async () => workspace.current_revision,
    keep: async () => {
      workspace.kept = true
    },
    dispose: async () => {},
  }
  return workspace
}

/** Makes a valid plan of a fake workspace from the changes that matter. */
export function validPlan(
  { workspace }: StepWorld,
  changes: Parameters<typeof planOf>[0],
  targets: string[] = [],
): ValidPlan {
  const reference = {
    workspace: workspace.iacRoot,
    plan_file: 'session.plan',
    targets,
    revision: workspace.current_revision,
    plan_sha256: null,
  }
  return { ok: true, text: 'plan text', reference, plan: planOf(changes) }
}
