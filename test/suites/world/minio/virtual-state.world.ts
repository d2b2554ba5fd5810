import { createServer, request } from 'node:http'
import { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../../config/load.ts'
import { listen } from '../../../../dev/server.ts'
import { describeState, writeOverride, writeStateKeys } from '../../../../pipeline/workspace/backend-override.ts'
import { silentLogger } from '../../../../src/base/log.ts'
import { createObjectStore } from '../../../../src/data/storage/create.ts'
import { createStateKeys } from '../../../../src/data/storage/state-keys.ts'
import { deriveProjectId, isStateLocked } from '../../../../src/plan/state/managed-state.ts'
import { SCOPE, startTestService, type TestService } from '../../../sidecars/iac/service.ts'
import { at } from './relay.ts'
import { REGION, ROOT, startMinio } from './server.ts'
import { startVersitygw } from './versitygw.ts'

const DOMAIN = 'store.test'
const BUCKET = 'platform-terraform-state'
const CODE = 'resource "terraform_data" "one" {\n  input = "value"\n}\n'

interface Seen {
  method: string
  host: string
  path: string
  encryption: unknown
  key: unknown
}

/** A proxy of the engine that leads all names to one server, as a name server would, and tells what it has passed on. */
async function startLeader(server: string) {
  const { hostname, port } = new URL(server)
  const seen: Seen[] = []
  const leader = createServer((asked, told) => {
    const { host, pathname, search } = new URL(asked.url ?? '', 'http://none')
    const { headers, method = '' } = asked
    seen.push({
      ...{ method, host, path: pathname },
      encryption: headers['x-amz-server-side-encryption'],
      key: headers['x-amz-server-side-encryption-aws-kms-key-id'],
    })
    const sent = request({ hostname, port, method, path: pathname + search, headers, agent: false }, (answered) => {
      told.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.pipe(told)
    })
    sent.on('error', () => told.destroy())
    asked.pipe(sent)
  })
  return { ...(await listen(leader)), seen }
}

const KEY = '8b2f6c1e-4d3a-4b5c-9e7f-0123456789ab'
const KMS = { server_side_encryption: 'aws:kms', kms_key_id: KEY }
const startEncrypting = () =>
  startMinio({
    env: { MINIO_DOMAIN: DOMAIN, MINIO_KMS_SECRET_KEY: `${KEY}:${Buffer.alloc(32, 7).toString('base64')}` },
  })
const startOther = () => startVersitygw({ flags: (port) => ['--virtual-domain', `${DOMAIN}:${port}`] })
const kms = 'aws:kms'

interface Case {
  start: () => Promise<{ url: string; close(): Promise<void> }>
  storage: object
  /** In every upload of the engine. */
  asked: { encryption?: string; key?: string }
  /** What the store says of the state. */
  kept?: string
}
const cases: [string, Case][] = [
  [
    'MinIO, encrypted with a key',
    { start: startEncrypting, storage: KMS, asked: { encryption: kms, key: KEY }, kept: kms },
  ],
  [
    'MinIO, encrypted with the key of the bucket',
    { start: startEncrypting, storage: { server_side_encryption: kms }, asked: {}, kept: kms },
  ],
  [
    'MinIO, encrypted, with temporary keys',
    {
      start: startEncrypting,
      storage: { server_side_encryption: 'AES256', state_credentials: 'scoped' },
      asked: { encryption: 'AES256' },
      kept: 'AES256',
    },
  ],
  ['versitygw', { start: startOther, storage: {}, asked: {} }],
]

describe.each(cases)('engine state with the bucket in front of the host of %s', (_, {
  start,
  storage,
  asked,
  kept,
}) => {
  let server: { url: string; close(): Promise<void> }
  let leader: Awaited<ReturnType<typeof startLeader>>
  let service: TestService
  beforeAll(async () => {
    server = await start()
    leader = await startLeader(server.url)
    service = await startTestService({ HTTP_PROXY: leader.url })
  })
  afterAll(async () => {
    await service?.close()
    await leader?.close()
    await server?.close()
  })

  it('is written, locked and read by the engine itself, in plan and apply', async () => {
    const endpoint_url = `http://${DOMAIN}:${new URL(server.url).port}`
    const config = await loadConfig(
      {
        PLATFORM_SQL_DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
        PLATFORM_IAC_TOKEN: 'token-of-the-iac-sidecar',
        ANTHROPIC_API_KEY: 'key-of-the-model-provider',
        BUNDLED_ACCESS_KEY: ROOT.access_key,
        BUNDLED_SECRET_KEY: ROOT.secret_key,
        PLATFORM_CONFIG: 'config.yaml',
      },
      async () =>
        JSON.stringify({
          services: { iac: { endpoint: service.url, job_timeout: 600 } },
          storage: {
            ...{ endpoint_url, public_endpoint_url: endpoint_url, addressing: 'virtual', ...storage },
          },
        }),
    )
    const deps = {
      fetch: ((input, init) => at(server.url, String(input), init)) as typeof fetch,
      log: silentLogger,
    }
    const stateStore = createObjectStore({ ...config.storage, bucket: BUCKET }, deps)
    await stateStore.ensureBuckets()
    const owner = new AwsClient({
      ...{ accessKeyId: ROOT.access_key, secretAccessKey: ROOT.secret_key, service: 's3', region: REGION },
    })
    if (kept === kms) {
      const rule = `<ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms</SSEAlgorithm><KMSMasterKeyID>${KEY}</KMSMasterKeyID></ApplyServerSideEncryptionByDefault>`
      const body = `<ServerSideEncryptionConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Rule>${rule}</Rule></ServerSideEncryptionConfiguration>`
      const set = await owner.fetch(`${server.url}/${BUCKET}?encryption=`, { method: 'PUT', body })
      expect([set.status, await set.text()]).toEqual([200, ''])
    }
    const uri = 'https://git.example/virtual/infra.git'
    const session = { scope_id: 'scope-1', workspace: { uri, branch: 'b', root_path: null } }
    const workspace_path = await service.workspace({ 'main.tf': CODE })
    await writeOverride(config, session, workspace_path, silentLogger)
    await writeStateKeys({ config, stateKeys: createStateKeys(config, deps) ?? undefined }, session, workspace_path)
    const state = await describeState(config, session)
    const run = async (kind: string, more: object = {}) => {
      const { result } = await service.run(`/v1/${kind}`, { workspace_path, ...SCOPE, ...more, ...state })
      expect(result, result.stderr).toMatchObject({ exit_code: 0 })
    }
    await run('init')
    await run('plan', { plan_file: 'session.plan' })
    await run('apply', { plan_file: 'session.plan' })
    await run('plan', { plan_file: 'session.plan' })

    const project = await deriveProjectId(uri, 'scope-1', null)
    const key = `${project}/terraform.tfstate`
    expect(JSON.parse(new TextDecoder().decode(await stateStore.get(key)))).toMatchObject({ serial: 1 })
    expect(await isStateLocked({ config, stateStore }, project)).toBe(false)
    expect(new Set(leader.seen.map(({ host }) => host.split(':')[0]))).toEqual(new Set([`${BUCKET}.${DOMAIN}`]))
    const written = leader.seen.filter(({ method }) => method === 'PUT')
    expect(new Set(written.map(({ path }) => path))).toEqual(new Set([`/${key}`, `/${key}.tflock`]))
    for (const { encryption, key } of written) expect({ encryption, key }).toEqual(asked)
    const head = await owner.fetch(`${server.url}/${BUCKET}/${key}`, { method: 'HEAD' })
    expect(head.headers.get('x-amz-server-side-encryption') ?? undefined).toBe(kept)
  })
})
