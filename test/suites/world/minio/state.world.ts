import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../../config/load.ts'
import type { Config } from '../../../../config/types.ts'
import { describeState, writeOverride, writeStateKeys } from '../../../../pipeline/workspace/backend-override.ts'
import { silentLogger } from '../../../../src/base/log.ts'
import { createObjectStore } from '../../../../src/data/storage/create.ts'
import { checkStateKeys, createStateKeys } from '../../../../src/data/storage/state-keys.ts'
import { blameOf } from '../../../../src/plan/diagnostics/blame.ts'
import { parseDiagnostics } from '../../../../src/plan/diagnostics/parse.ts'
import { explainUnmendable } from '../../../../src/plan/diagnostics/unmendable.ts'
import { deriveProjectId, isStateLocked, STATE_KEYS_FILE } from '../../../../src/plan/state/managed-state.ts'
import { SCOPE, startTestService, type TestService } from '../../../sidecars/iac/service.ts'
import { startRelay } from './relay.ts'
import { type Minio, ROOT, startMinio } from './server.ts'

const ENVIRONMENT = {
  PLATFORM_SQL_DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
  PLATFORM_IAC_TOKEN: 'token-of-the-iac-sidecar',
  ANTHROPIC_API_KEY: 'key-of-the-model-provider',
  BUNDLED_ACCESS_KEY: ROOT.access_key,
  BUNDLED_SECRET_KEY: ROOT.secret_key,
  PLATFORM_CONFIG: 'config.yaml',
}
const sessionOf = (uri: string) => ({ scope_id: 'scope-1', workspace: { uri, branch: 'b', root_path: null } })
const CODE = 'resource "terraform_data" "one" {\n  input = "value"\n}\n'

let minio: Minio
let service: TestService
beforeAll(async () => {
  minio = await startMinio()
  service = await startTestService({ IAC_EGRESS_ALLOW: new URL(minio.url).host })
})
afterAll(async () => {
  await service?.close()
  await minio?.close()
})

const configOf = (storage: object): Promise<Config> =>
  loadConfig(ENVIRONMENT, async () =>
    JSON.stringify({
      services: { iac: { endpoint: service.url, job_timeout: 600 } },
      storage: { endpoint_url: minio.url, public_endpoint_url: minio.url, ...storage },
    }),
  )

async function worldOf(storage: object) {
  const config = await configOf(storage)
  const deps = { fetch, log: silentLogger }
  const stateStore = createObjectStore({ ...config.storage, bucket: config.storage.engine_state_bucket }, deps)
  await stateStore.ensureBuckets()
  const stateKeys = createStateKeys(config, deps) ?? undefined
  return {
    config,
    stateStore,
    stateKeys,
    /** A workspace as a round prepares it, initialised by the sidecar. */
    prepared: async (uri: string, files: Record<string, string> = { 'main.tf': CODE }) => {
      const session = sessionOf(uri)
      const workspace_path = await service.workspace(files)
      await writeOverride(config, session, workspace_path, silentLogger)
      await writeStateKeys({ config, stateKeys }, session, workspace_path)
      states.set(workspace_path, await describeState(config, session))
      const result = await init(workspace_path)
      expect(result, result.stderr).toMatchObject({ exit_code: 0 })
      return workspace_path
    },
    projectOf: (uri: string) => deriveProjectId(uri, 'scope-1', null),
  }
}
type World = Awaited<ReturnType<typeof worldOf>>

/** The facts that the worker sends about the state of each workspace. */
const states = new Map<string, object>()
const run = async (kind: string, workspace_path: string, more: object = {}) =>
  (await service.run(`/v1/${kind}`, { workspace_path, ...SCOPE, ...more, ...states.get(workspace_path) })).result
const init = (workspace_path: string) => run('init', workspace_path)
const plan = (workspace_path: string) => run('plan', workspace_path, { plan_file: 'session.plan' })
const apply = (workspace_path: string) => run('apply', workspace_path, { plan_file: 'session.plan' })

describe.each(['static', 'scoped'] as const)('engine state in MinIO with %s keys', (kind) => {
  let world: World
  beforeAll(async () => {
    world = await worldOf({ state_credentials: kind, retry_seconds: 0 })
    expect(await checkStateKeys(world.config.storage, world.stateKeys)).toEqual(
      kind === 'static' ? expect.stringContaining('storage.state_credentials is static') : null,
    )
  })
  const uriOf = (name: string) => `https://git.example/${kind}/${name}.git`

  it('is written by an apply, read by the next plan, and leaves no lock', async () => {
    const uri = uriOf('plain')
    const first = await world.prepared(uri)
    expect(await plan(first)).toMatchObject({ exit_code: 0, stdout: expect.stringContaining('1 to add') })
    expect(await apply(first)).toMatchObject({ exit_code: 0 })
    expect(await plan(await world.prepared(uri))).toMatchObject({ stdout: expect.stringContaining('No changes') })
    expect(await isStateLocked(world, await world.projectOf(uri))).toBe(false)
  })

  it('larger than one part', async () => {
    const uri = uriOf('large')
    const text =
      'resource "terraform_data" "l" {\n  input = sensitive(join("", [for n in range(700) : format("%010000d", n)]))\n}\n'
    const workspace = await world.prepared(uri, { 'main.tf': text })
    await plan(workspace)
    expect(await apply(workspace)).toMatchObject({ exit_code: 0 })
    const state = await world.stateStore.get(`${await world.projectOf(uri)}/terraform.tfstate`)
    expect(state.length).toBeGreaterThan(7_000_000)
  })

  it('lets one of two plans at the same moment in, and tells the other who holds it', async () => {
    const uri = uriOf('shared')
    const many = 'resource "terraform_data" "many" {\n  count = 3000\n  input = count.index\n}\n'
    const workspaces = [await world.prepared(uri, { 'main.tf': many }), await world.prepared(uri, { 'main.tf': many })]
    const results = await Promise.all(workspaces.map(plan))
    const refused = results.filter(({ exit_code }) => exit_code !== 0)
    expect(results.length - refused.length).toBeGreaterThanOrEqual(1)
    for (const { stderr } of refused) expect(stderr).toMatch(/Error acquiring the state lock[\s\S]*PreconditionFailed/)
    expect(await isStateLocked(world, await world.projectOf(uri))).toBe(false)
  })

  it('is not planned while somebody holds the lock, and the refusal says who', async () => {
    const uri = uriOf('held')
    const workspace = await world.prepared(uri)
    const project = await world.projectOf(uri)
    const key = `${project}/terraform.tfstate.tflock`
    const info = {
      ID: 'id-1',
      Operation: 'OperationTypeApply',
      Info: '',
      Who: 'ada@laptop',
      Version: '1',
      Created: new Date(),
      Path: key,
    }
    await world.stateStore.put(key, JSON.stringify(info), { content_type: 'application/json' })
    expect(await isStateLocked(world, project)).toBe(true)
    const result = await plan(workspace)
    expect(result.exit_code).toBe(1)
    expect(result.stderr).toMatch(/Error acquiring the state lock[\s\S]*PreconditionFailed[\s\S]*ada@laptop/)
    await world.stateStore.delete(key)
    expect(await plan(workspace)).toMatchObject({ exit_code: 0 })
  })

  it('that cannot be reached ends a plan with a text that says so, and the next one works', async () => {
    const workspace = await world.prepared(uriOf('away'))
    await minio.service().kill('SIGKILL')
    const result = await plan(workspace).finally(() => minio.start())
    expect([result.exit_code, result.stderr]).toEqual([1, expect.stringContaining('connection refused')])
    expect(await plan(workspace)).toMatchObject({ exit_code: 0 })
  })
})

it.each(['init', 'plan', 'apply'])('that answers 503 for a minute holds up %s, and nothing is lost', async (kind) => {
  const relay = await startRelay(minio.url)
  const world = await worldOf({ endpoint_url: relay.url, public_endpoint_url: relay.url })
  const workspace = await world.prepared(`https://git.example/busy/${kind}.git`)
  if (kind === 'apply') await plan(workspace)
  relay.answer(503, 'SlowDown')
  const back = setTimeout(relay.pass, 60_000)
  try {
    const result = await run(kind, workspace, kind === 'init' ? {} : { plan_file: 'session.plan' })
    expect(result, result.stderr).toMatchObject({ exit_code: 0 })
    expect(relay.refused).toBeGreaterThan(5)
    expect(await isStateLocked(world, await world.projectOf(`https://git.example/busy/${kind}.git`))).toBe(false)
  } finally {
    clearTimeout(back)
    await relay.close()
  }
})

it.each([
  ['region', { region: 'eu-central-1' }],
  ['secret key', { secret_key: 'wrong-secret-key' }],
  ['bucket', { engine_state_bucket: 'no-such-bucket' }],
])('a wrong %s is told as a fault of the state store, not of the code', async (_, changes) => {
  const config = await configOf(changes)
  const session = sessionOf('https://git.example/wrong/infra.git')
  const workspace_path = await service.workspace({ 'main.tf': CODE })
  const wrong = { ...config, storage: { ...config.storage, ...changes } }
  await writeOverride(wrong, session, workspace_path, silentLogger)
  states.set(workspace_path, await describeState(wrong, session))
  let result = await init(workspace_path)
  if (result.exit_code === 0) result = await plan(workspace_path)
  const said = explainUnmendable(parseDiagnostics(result.stderr), { blame: blameOf([], []), cloud: 'aws' })
  expect(said, result.stderr).toContain('The engine state cannot be read.')
})

describe('temporary keys of a run', () => {
  it('reach neither state nor artifacts of another session', async () => {
    const world = await worldOf({ state_credentials: 'scoped' })
    const victim = `${await world.projectOf('https://git.example/victim/infra.git')}/terraform.tfstate`
    await world.stateStore.put(victim, '{"secret":1}', { content_type: 'application/json' })
    const artifacts = createObjectStore(world.config.storage, { fetch, log: silentLogger })
    await artifacts.ensureBuckets()
    await artifacts.put('sessions/victim/plan.txt', 'secret', { content_type: 'text/plain' })
    const workspace = await world.prepared('https://git.example/attacker/infra.git')
    const text = await readFile(join(workspace, STATE_KEYS_FILE), 'utf8')
    const value = (name: string) => new RegExp(`^${name} = (.+)$`, 'm').exec(text)?.[1] ?? ''
    const client = new AwsClient({
      accessKeyId: value('aws_access_key_id'),
      secretAccessKey: value('aws_secret_access_key'),
      sessionToken: value('aws_session_token'),
      service: 's3',
      region: 'us-east-1',
      retries: 0,
    })
    const { bucket, engine_state_bucket } = world.config.storage
    const states = `${minio.url}/${engine_state_bucket}`
    const tries: [string, string, string?][] = [
      ['GET', `${states}/${victim}`],
      ['HEAD', `${states}/${victim}`],
      ['PUT', `${states}/${victim}`, 'forged'],
      ['DELETE', `${states}/${victim}`],
      ['PUT', `${states}/${victim}.tflock`, '{}'],
      ['POST', `${states}/${victim}?uploads=`],
      ['GET', states],
      ['GET', `${states}?list-type=2&prefix=`],
      ['GET', `${states}?list-type=2&prefix=${victim.slice(0, 8)}`],
      ['GET', `${states}?versions=`],
      ['GET', `${states}?uploads=`],
      ['GET', `${minio.url}/${bucket}`],
      ['GET', `${minio.url}/${bucket}/sessions/victim/plan.txt`],
      ['PUT', `${minio.url}/${bucket}/sessions/victim/plan.txt`, 'forged'],
      ['PUT', `${states}?policy=`, '{}'],
      ['GET', `${minio.url}/minio/admin/v3/list-users`],
    ]
    for (const [method, url, body] of tries) {
      const answer = await client.fetch(url, { method, ...(body === undefined ? {} : { body }) })
      expect([method, url, answer.status]).toEqual([method, url, 403])
    }
    expect(new TextDecoder().decode(await world.stateStore.get(victim))).toBe('{"secret":1}')
  })

  it('cannot be had with wrong keys, and the text says so', async () => {
    const config = await configOf({ state_credentials: 'scoped' })
    const wrong = { ...config, storage: { ...config.storage, secret_key: 'wrong-secret-key' } }
    const source = createStateKeys(wrong, { fetch, log: silentLogger })
    expect(await checkStateKeys(wrong.storage, source ?? undefined)).toContain(
      'No keys for the state store: the token service refused AssumeRole (403 AccessDenied).',
    )
  })
})
