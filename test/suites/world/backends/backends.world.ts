import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../../../src/base/log.ts'
import type { Cloud, StateChoice } from '../../../../src/base/vocabulary.ts'
import { createObjectStore } from '../../../../src/data/storage/create.ts'
import { storageConfig, TEXT } from '../../../data/storage/config.ts'
import { scriptedLlm } from '../../../pipeline/steps/scripted-llm.ts'
import { type Emulator, startAzurite } from '../../azurite/start.ts'
import { applyRound, applyScripts, managedState } from '../../modes/apply-world.ts'
import { MAIN, PASSWORD, STATE } from '../../modes/scripts.ts'
import { firstRound, nextRound, type Stack, startStack } from '../../modes/stack.ts'
import { freePort, type Service, startService } from '../tools/service.ts'
import { passTo, startGateway } from './gateway.ts'
import { stateService } from './state-service.ts'

const BUCKET = 'acme-state'
const TOKEN = 'token-of-the-state-service'
const GOOGLE_TOKEN = 'token-of-google'
const OUTPUT = `output "password" {\n  value = "${PASSWORD}"\n  sensitive = true\n}\n`

let stack: Stack
let gcs: { port: number; service: Service }
let azurite: Emulator & { stop(): Promise<void> }
let gateway: Awaited<ReturnType<typeof startGateway>>
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backends-'))
  gcs = await startGcs()
  azurite = await startAzurite(process.env.WORLD_AZURITE ?? '')
  gateway = await startGateway({
    'storage.googleapis.com': (request, response) => {
      if (!request.url?.includes('/forbidden/')) return passTo(gcs.port)(request, response)
      response
        .writeHead(403, { 'content-type': 'application/json' })
        .end('{"error":{"code":403,"message":"no access"}}')
    },
    [`${azurite.account}.blob.core.windows.net`]: passTo(azurite.port),
    'app.terraform.io': stateService({ token: TOKEN, workspace: 'network', state: STATE }),
  })
  const authority = join(folder, 'ca.pem')
  await writeFile(authority, gateway.ca)
  stack = await startStack({
    sidecar: {
      ...{ IAC_EGRESS_ALLOW: gateway.host, HTTPS_PROXY: `http://${gateway.host}`, SSL_CERT_FILE: authority },
      ...{ AWS_ACCESS_KEY_ID: 'access-key-of-the-store', AWS_SECRET_ACCESS_KEY: 'secret-key-of-the-store' },
      ...{ GOOGLE_OAUTH_ACCESS_TOKEN: GOOGLE_TOKEN, ARM_ACCESS_KEY: azurite.key },
      ...{
        IAC_ALLOW_PROGRAMS: 'cloud:*',
        TF_TOKEN_app_terraform_io: TOKEN,
        IAC_ENGINE_ENV: 'TF_TOKEN_app_terraform_io',
      },
    },
  })
})
afterAll(async () => {
  await stack?.close()
  gateway?.close()
  await azurite?.stop()
  await gcs?.service.stop()
  await rm(folder, { recursive: true, force: true })
})

async function startGcs() {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const service = await startService(
    process.env.WORLD_FAKE_GCS ?? 'fake-gcs-server',
    [
      '-scheme',
      'http',
      '-host',
      '127.0.0.1',
      '-port',
      `${port}`,
      '-backend',
      'memory',
      '-public-host',
      'storage.googleapis.com',
    ],
    { ready: () => fetch(`${url}/storage/v1/b`) },
  )
  await fetch(`${url}/storage/v1/b`, { method: 'POST', body: JSON.stringify({ name: BUCKET }) })
  return { port, service }
}

async function putIntoGcs(name: string, content: string) {
  const url = new URL(`http://127.0.0.1:${gcs.port}/upload/storage/v1/b/${BUCKET}/o`)
  url.search = `${new URLSearchParams({ uploadType: 'media', name })}`
  const { status } = await fetch(url, { method: 'POST', body: content })
  expect(status).toBe(200)
}

const inAzure = () =>
  createObjectStore(
    storageConfig({
      ...{ provider: 'STORAGE_ACCOUNT', account_name: azurite.account, account_key: azurite.key, bucket: BUCKET },
      endpoint_url: `http://127.0.0.1:${azurite.port}/${azurite.account}`,
      public_endpoint_url: `http://127.0.0.1:${azurite.port}/${azurite.account}`,
    }),
    { fetch, log: silentLogger },
  )

const inBlock = (lines: string) => `terraform {\n${lines}}\n`
const inGcsBucket = (prefix: string, bucket = BUCKET) =>
  inBlock(`  backend "gcs" {\n    bucket = "${bucket}"\n    prefix = "${prefix}"\n  }\n`)
const inContainer = (key: string, account = azurite.account) =>
  inBlock(
    `  backend "azurerm" {\n    storage_account_name = "${account}"\n    container_name = "${BUCKET}"\n    key = "${key}"\n  }\n`,
  )
const inService = (block: string, workspace = 'network') =>
  inBlock(`  ${block} {\n    organization = "acme"\n    workspaces {\n      name = "${workspace}"\n    }\n  }\n`)

/** Starts a session of this cloud on a root with this backend. */
async function start(provider: Cloud, backend: string, request: { state?: StateChoice; timeoutS?: number } = {}) {
  const { state, timeoutS: existing_state_timeout = 60 } = request
  const llm = scriptedLlm(applyScripts())
  const storage = { ...stack.config.storage, existing_state_timeout }
  const context = stack.context(llm, { config: { ...stack.config, storage } })
  const repo_uri = await stack.repository({ 'main.tf': MAIN, 'outputs.tf': OUTPUT, 'backend.tf': backend })
  const session = await firstRound(stack, context, { repo_uri, provider, state })
  return { llm, context, ...session }
}

const SECRETS = () => [TOKEN, GOOGLE_TOKEN, azurite.key, PASSWORD]

describe.each<[string, Cloud, () => Promise<string>]>([
  [
    'gcs',
    'gcp',
    async () => {
      await putIntoGcs('network/default.tfstate', STATE)
      return inGcsBucket('network')
    },
  ],
  [
    'azurerm',
    'azure',
    async () => {
      const store = inAzure()
      await store.ensureBuckets()
      await store.put('network.tfstate', STATE, TEXT)
      return inContainer('network.tfstate')
    },
  ],
  ['remote', 'aws', async () => inService('backend "remote"')],
])('a state in %s', (type, provider, prepare) => {
  it('is found before any model is asked, adopted, and left as it is by an apply', async () => {
    const { llm, uuid, messages, context, repo_uri } = await start(provider, await prepare())
    expect(messages.at(-1)).toContain(`in a backend of its own, "${type}" (backend.tf)`)
    expect(messages.at(-1)).toContain('That state has serial 7 and 1 resource.')
    expect(llm.requests).toEqual([])
    const round = await nextRound(stack, context, uuid, 'Add a second greeting', { state: 'adopt' })
    expect(round.messages).toContainEqual(expect.stringContaining('A plan of the unchanged code is empty.'))
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.greeting'])
    gateway.seen.splice(0)
    await applyRound(stack, context, uuid)
    expect(await managedState(context, repo_uri)).toEqual(['terraform_data.greeting', 'terraform_data.second'])
    expect(gateway.seen).toEqual([])
  })
})

describe('a state that cannot be read', () => {
  it.each<[string, Cloud, () => string, string]>([
    ['a bucket that does not exist', 'gcp', () => inGcsBucket('network', 'no-such-bucket'), "bucket doesn't exist"],
    ['a bucket that is refused', 'gcp', () => inGcsBucket('network', 'forbidden'), '403'],
    ['gcs in a session of another cloud', 'aws', () => inGcsBucket('network'), 'could not find default credentials'],
    ['azurerm in a session of another cloud', 'aws', () => inContainer('network.tfstate'), 'must be specifie'],
    [
      'an account that never answers',
      'azure',
      () => inContainer('x', 'nobody'),
      'did not end within 8s and was stopped',
    ],
    ['another workspace', 'aws', () => inService('backend "remote"', 'no-such-workspace'), 'no-such-workspace'],
  ])('%s stops with the choice, before any model is asked', async (_, provider, block, reason) => {
    const { messages, statuses, llm } = await start(provider, block(), { timeoutS: 8 })
    expect(statuses.at(-1)).toBe('uncompleted')
    expect(messages.at(-1)).toContain('Whether it has a state is not known: ')
    expect(messages.at(-1)).toContain(reason)
    expect(messages.at(-1)).toContain(`The engine had the credentials of the session's cloud (${provider}).`)
    expect(messages.at(-1)).toContain('Ask again with a choice in `state`')
    for (const secret of SECRETS()) expect(messages.join()).not.toContain(secret)
    expect(llm.requests).toEqual([])
  })
})
