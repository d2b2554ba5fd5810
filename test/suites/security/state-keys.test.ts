import { readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { AwsClient } from 'aws4fetch'
import { afterAll, beforeAll, expect } from 'vitest'
import { loadConfig } from '../../../config/load.ts'
import type { Config } from '../../../config/types.ts'
import { startObjectStore } from '../../../dev/object-store.ts'
import type { Running } from '../../../dev/server.ts'
import { writeOverride, writeStateKeys } from '../../../pipeline/workspace/backend-override.ts'
import { toRelativePath } from '../../../pipeline/workspace/files/confine.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { createObjectStore } from '../../../src/data/storage/create.ts'
import type { ObjectStore } from '../../../src/data/storage/object-store.ts'
import { createStateKeys, type StateKeySource } from '../../../src/data/storage/state-keys.ts'
import { deriveProjectId, STATE_KEYS_FILE } from '../../../src/plan/state/managed-state.ts'
import { SCOPE, startTestService, type TestService } from '../../sidecars/iac/service.ts'
import { storeClient } from '../modes/artifacts.ts'
import { attack } from './attack.ts'

// The attacker is past all other defences: no guard and no sandbox. Only the limits of the job's keys are left.
const GROUP = 'keys of the state store'
const SECRET = 'password-in-the-state-of-somebody-else'
const KEYS = { access_key: 'owner-of-the-store', secret_key: 'secret-key-of-the-store' }
const BUCKET = 'platform-terraform-state'

let service: TestService
let store: Running
let config: Config
let states: ObjectStore
let source: StateKeySource
let victimKey: string
let clock = () => new Date()

const sessionOf = (uri: string) => ({ scope_id: 'scope-1', workspace: { uri, branch: 'b', root_path: null } })
const ATTACKER = sessionOf('https://git.example/attacker/infra.git')

beforeAll(async () => {
  store = await startObjectStore({ ...KEYS, now: () => clock() })
  service = await startTestService({ IAC_ALLOW_HOST_PROGRAMS: 'true' })
  const variables = {
    PLATFORM_SQL_DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
    PLATFORM_IAC_TOKEN: 'token-of-the-iac-sidecar',
    ANTHROPIC_API_KEY: 'key-of-the-model-provider',
    BUNDLED_ACCESS_KEY: KEYS.access_key,
    BUNDLED_SECRET_KEY: KEYS.secret_key,
    PLATFORM_CONFIG: 'config.yaml',
  }
  config = await loadConfig(variables, async () =>
    JSON.stringify({
      services: { iac: { endpoint: service.url, job_timeout: 600 } },
      storage: { endpoint_url: store.url, public_endpoint_url: store.url, state_credentials: 'scoped' },
    }),
  )
  const deps = { fetch, log: silentLogger }
  states = createObjectStore({ ...config.storage, bucket: BUCKET }, deps)
  await states.ensureBuckets()
  const keys = createStateKeys(config, deps)
  if (keys === null) throw new Error('the configuration does not use scoped keys')
  source = keys
  const victim = sessionOf('https://git.example/victim/infra.git')
  victimKey = `${await deriveProjectId(victim.workspace.uri, victim.scope_id, null)}/terraform.tfstate`
  await states.put(victimKey, stateWith(SECRET), { content_type: 'application/json' })
})
afterAll(async () => {
  await service.close()
  await store.close()
})

const stateWith = (value: string) =>
  JSON.stringify({
    version: 4,
    terraform_version: '1.11.4',
    serial: 1,
    lineage: '11111111-2222-3333-4444-555555555555',
    outputs: { password: { value, type: 'string' } },
    resources: [],
  })

/** Makes an attacker's workspace with override and keys, as a round prepares it. */
async function prepared(files: Record<string, string> = {}): Promise<string> {
  const workspace = await service.workspace(files)
  await writeOverride(config, ATTACKER, workspace, silentLogger)
  await writeStateKeys({ config, stateKeys: source }, ATTACKER, workspace)
  return workspace
}

const readingState = (key: string) => `
data "terraform_remote_state" "other" {
  backend = "s3"
  config = {
    bucket = "${BUCKET}"
    key = "${key}"
    region = "us-east-1"
    shared_credentials_files = ["${STATE_KEYS_FILE}"]
    profile = "platform-state"
    endpoints = { s3 = "${store.url}" }
    use_path_style = true
    skip_credentials_validation = true
    skip_region_validation = true
    skip_requesting_account_id = true
    skip_metadata_api_check = true
    skip_s3_checksum = true
  }
}
output "read" {
  value = data.terraform_remote_state.other.outputs
}
`

const ownKey = async () => `${await deriveProjectId(ATTACKER.workspace.uri, ATTACKER.scope_id, null)}/terraform.tfstate`

async function plan(workspace_path: string) {
  const { result } = await service.run('/v1/init', { workspace_path, ...SCOPE })
  if (result.exit_code !== 0) return result
  return (await service.run('/v1/plan', { workspace_path, ...SCOPE, plan_file: 'session.plan' })).result
}

/** Makes a client with the keys in the workspace. */
const thief = async (workspace: string, changes: { sessionToken?: string } = {}): Promise<AwsClient> =>
  storeClient(await readFile(join(workspace, STATE_KEYS_FILE), 'utf8'), changes)

const codeOf = (text: string) => /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? ''
const victimState = async () => new TextDecoder().decode(await states.get(victimKey))

attack(GROUP, 'a plan reads the state of another project with the keys of its own job', async () => {
  // The same code reads its own state, so the refusal below is about the key alone.
  const key = await ownKey()
  const own = await prepared({ 'main.tf': readingState(key) })
  await states.put(key, stateWith('own value'), { content_type: 'application/json' })
  expect((await plan(own)).stdout).toContain('own value')
  await states.delete(key)

  const workspace = await prepared({ 'main.tf': readingState(victimKey) })
  const result = await plan(workspace)
  expect(result.exit_code).toBe(1)
  expect(result.stdout + result.stderr).not.toContain(SECRET)
  const [refusal = ''] = /StatusCode: 403[^\n]*(?:\n[^\n]+)*?AccessDenied|Forbidden/.exec(result.stderr) ?? []
  expect(refusal).not.toBe('')
  return `the store answers 403: the keys of a job reach the state of its own project only`
})

attack(GROUP, 'a program of a plan uses the keys against objects of other projects', async () => {
  const client = await thief(await prepared())
  const other = `${store.url}/${BUCKET}/${victimKey}`
  const tries: [string, string, string?][] = [
    ['GET', other],
    ['HEAD', other],
    ['PUT', other, stateWith('forged')],
    ['DELETE', other],
    ['PUT', `${other}.tflock`, '{}'],
    ['DELETE', `${other}.tflock`],
    ['POST', `${other}?uploads=`],
    ['GET', `${store.url}/${BUCKET}/${victimKey.replace('terraform.tfstate', 'missing')}`],
    ['POST', `${store.url}/${BUCKET}?delete=`, `<Delete><Object><Key>${victimKey}</Key></Object></Delete>`],
  ]
  const statuses = await Promise.all(
    tries.map(async ([method, url, body]) => (await client.fetch(url, { method, body })).status),
  )
  expect(statuses).toEqual(tries.map(() => 403))
  expect(await victimState()).toBe(stateWith(SECRET))
  return `${tries.length} requests for objects of another project: 403 AccessDenied`
})

attack(GROUP, 'it lists what other projects have, and the buckets of the platform', async () => {
  const client = await thief(await prepared())
  const own = await client.fetch(`${store.url}/${BUCKET}?list-type=2&prefix=${(await ownKey()).split('/')[0]}/`)
  expect(own.status).toBe(200)
  const queries = ['', '?list-type=2', '?prefix=', '?prefix=env:/', `?prefix=${victimKey.slice(0, 8)}`]
  const urls = [
    ...queries.map((query) => `${store.url}/${BUCKET}${query}`),
    `${store.url}/platform-artifacts`,
    store.url,
  ]
  for (const url of urls) {
    const answer = await client.fetch(url)
    expect([url, answer.status]).toEqual([url, 403])
    expect(await answer.text()).not.toContain(victimKey)
  }
  return 'listing is allowed below the folder of the own project; everything else is 403 AccessDenied'
})

attack(GROUP, 'it asks the token service for keys that reach more', async () => {
  const client = await thief(await prepared())
  const body = new URLSearchParams({ Action: 'AssumeRole', Version: '2011-06-15', RoleSessionName: 'wider' })
  const answer = await client.fetch(`${store.url}/`, {
    method: 'POST',
    body: body.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    aws: { service: 'sts' },
  })
  expect(answer.status).toBe(403)
  return `the token service answers ${codeOf(await answer.text())}`
})

attack(GROUP, 'it widens the policy inside of its session token', async () => {
  const workspace = await prepared()
  const text = await readFile(join(workspace, STATE_KEYS_FILE), 'utf8')
  const [body = '', signature = ''] = (/aws_session_token = (\S+)/.exec(text)?.[1] ?? '').split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  expect(claims.policy).toContain('s3:GetObject')
  const forged = Buffer.from(JSON.stringify({ ...claims, policy: null })).toString('base64url')
  const client = await thief(workspace, { sessionToken: `${forged}.${signature}` })
  const answer = await client.fetch(`${store.url}/${BUCKET}/${victimKey}`)
  const code = codeOf(await answer.text())
  expect([answer.status, code]).toEqual([400, 'InvalidToken'])
  return `the store answers ${code}`
})

attack(GROUP, 'it keeps the keys and uses them after the round', async () => {
  const workspace = await prepared()
  const client = await thief(workspace)
  const url = `${store.url}/${BUCKET}/${await ownKey()}`
  expect((await client.fetch(url)).status).toBe(404)
  const later = Date.now() + 16 * 60_000
  clock = () => new Date(later)
  try {
    const datetime = new Date(later).toISOString().replaceAll(/[:-]|\.\d{3}/g, '')
    const answer = await client.fetch(url, { aws: { datetime } })
    const code = codeOf(await answer.text())
    expect([answer.status, code]).toEqual([400, 'ExpiredToken'])
    return `the store answers ${code} when the time of one job is over`
  } finally {
    clock = () => new Date()
  }
})

attack(GROUP, 'it searches the workspace for the lasting keys of the store', async () => {
  const code = `
resource "terraform_data" "files" {
  input = [for name in fileset(path.module, "**") : try(file(name), "") if name != "session.plan"]
}
`
  const workspace = await prepared({ 'main.tf': code })
  const result = await plan(workspace)
  expect([result.exit_code, result.stderr]).toEqual([0, ''])
  const body = { workspace_path: workspace, plan_file: 'session.plan' }
  const shown = (await service.run('/v1/show', body)).result.stdout
  expect(shown).toContain('workspace_key_prefix')
  expect(shown).not.toContain(KEYS.secret_key)
  expect(shown).not.toContain(KEYS.access_key)
  return 'override, saved backend and plan name a file with keys for the own state; the keys of the store are in none'
})

attack(GROUP, 'a model reads or writes the file with the keys', async () => {
  const enclosure = { root: '/nowhere', paths: config.paths }
  const forms = [STATE_KEYS_FILE, `./x/../${STATE_KEYS_FILE}`, STATE_KEYS_FILE.toUpperCase(), `m/${STATE_KEYS_FILE}`]
  for (const path of forms) expect(() => toRelativePath(enclosure, path)).toThrow('is not accessible')
  return `the file tools answer: Path '${STATE_KEYS_FILE}' is not accessible`
})

attack(GROUP, 'a repository holds the place of the file with a link, to have the keys written elsewhere', async () => {
  const workspace = await prepared({ 'main.tf': '', 'kept.txt': 'kept' })
  await rm(join(workspace, STATE_KEYS_FILE))
  await symlink(join(workspace, 'kept.txt'), join(workspace, STATE_KEYS_FILE))
  await writeStateKeys({ config, stateKeys: source }, ATTACKER, workspace)
  expect(await readFile(join(workspace, 'kept.txt'), 'utf8')).toBe('kept')
  return 'whatever has the name is removed first, and the file is made new'
})

attack(GROUP, 'a repository ships the keys file with a program in it, and an override that names it', async () => {
  const guarded = await startTestService()
  const workspace = await guarded.workspace({
    'main.tf': '',
    'backend_override.tf': `terraform {
  backend "s3" {
    bucket                   = "x"
    key                      = "x"
    region                   = "us-east-1"
    shared_credentials_files = ["${STATE_KEYS_FILE}"]
    profile                  = "platform-state"
  }
}
`,
    [STATE_KEYS_FILE]: '[platform-state]\ncredential_process = touch ran\n',
  })
  const { result } = await guarded.run('/v1/init', { workspace_path: workspace, ...SCOPE })
  await guarded.stop()
  expect(result.exit_code).toBe(1)
  expect(result.stderr).toContain('shared_credentials_files')
  await expect(readFile(join(workspace, 'ran'))).rejects.toThrow('ENOENT')
  return result.stderr
})
