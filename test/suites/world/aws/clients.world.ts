import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Config, StorageConfig } from '../../../../config/types.ts'
import { awsInventory } from '../../../../sidecars/iac/inventory/aws/index.ts'
import { assumeWithKeys, assumeWithToken } from '../../../../src/aws/sts.ts'
import { silentLogger } from '../../../../src/base/log.ts'
import { createObjectStore } from '../../../../src/data/storage/create.ts'
import { checkStateKeys, createStateKeys } from '../../../../src/data/storage/state-keys.ts'
import { storageConfig } from '../../../data/storage/config.ts'
import { inventoryRequest } from '../../../sidecars/iac/inventory/request.ts'
import { byHost } from './by-host.ts'
import { ACCOUNT, callsOf, element, type Keys, REGION } from './call.ts'
import { type Moto, startMoto } from './moto.ts'

const programs = process.env.WORLD_MOTO ?? ''
const IAM = '2010-05-08'
/** Calls that set up the account before signatures and permissions count. */
const SET_UP_CALLS = 5
const ROLE = `arn:aws:iam::${ACCOUNT}:role/state`

let home: string
let open: Moto
/** Checks signatures and permissions from the end of its setting up. */
let strict: Moto
let keys: Keys

const document = (statement: object) => JSON.stringify({ Version: '2012-10-17', Statement: [statement] })

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'world-aws-'))
  open = await startMoto(programs, home)
  strict = await startMoto(programs, home, SET_UP_CALLS)
  const { query } = callsOf(strict.url)
  await query('iam', IAM, 'CreateUser', { UserName: 'platform' })
  const policy = document({ Effect: 'Allow', Action: ['s3:*', 'sts:*'], Resource: '*' })
  await query('iam', IAM, 'PutUserPolicy', { UserName: 'platform', PolicyName: 'all', PolicyDocument: policy })
  const made = await query('iam', IAM, 'CreateAccessKey', { UserName: 'platform' })
  const trust = document({ Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { AWS: '*' } })
  await query('iam', IAM, 'CreateRole', { RoleName: 'state', AssumeRolePolicyDocument: trust })
  await query('iam', IAM, 'PutRolePolicy', { RoleName: 'state', PolicyName: 'all', PolicyDocument: policy })
  keys = { access_key: element(made, 'AccessKeyId'), secret_key: element(made, 'SecretAccessKey') }
})
afterAll(async () => {
  await Promise.all([open?.service.stop(), strict?.service.stop()])
  await rm(home, { recursive: true, force: true })
})

const tools = (stsUrl: string) => ({ fetch, region: REGION, now: () => new Date(), stsUrl })
const role = (name: string) => ({ arn: `arn:aws:iam::${ACCOUNT}:role/${name}`, session_name: 'world' })
/** A store of S3 itself in that region, whose hosts all lead to moto. */
const storeOf = (moto: Moto, changes: Partial<StorageConfig> = {}, deps = {}) =>
  createObjectStore(storageConfig({ provider: 'S3', region: REGION, ...keys, ...changes }), {
    fetch: byHost(moto.url),
    log: silentLogger,
    backoffMs: 10,
    ...deps,
  })

describe('the token service', () => {
  it('gives credentials of a role, for signed requests that it verifies', async () => {
    const { expires, ...made } = await assumeWithKeys(tools(`${strict.url}/`), role('state'), keys)
    expect(made.access_key).toMatch(/^ASIA/)
    expect(Number(expires) - Date.now()).toBeGreaterThan(3_000_000)
    const again = await assumeWithKeys(tools(`${strict.url}/`), role('state'), { ...made, expires })
    expect(again.access_key).not.toBe(made.access_key)
  })

  it('refuses a wrong secret and an unknown key, and we say by which code', async () => {
    const wrong = { ...keys, secret_key: 'x'.repeat(40) }
    await expect(assumeWithKeys(tools(`${strict.url}/`), role('state'), wrong)).rejects.toThrow(
      'the token service refused AssumeRole (403 SignatureDoesNotMatch)',
    )
    const unknown = { ...keys, access_key: 'AKIAUNKNOWN000000000' }
    await expect(assumeWithKeys(tools(`${strict.url}/`), role('state'), unknown)).rejects.toThrow(
      /refused AssumeRole \(403 InvalidClientTokenId\)/,
    )
  })

  it('exchanges a token of an identity provider', async () => {
    const made = await assumeWithToken(tools(`${open.url}/`), role('web'), 'header.payload.signature')
    expect(made).toMatchObject({
      access_key: expect.stringMatching(/^ASIA/),
      session_token: expect.stringMatching(/./),
    })
  })
})

describe('the object store', () => {
  it('makes its buckets, keeps, lists nothing, answers metadata and deletes, each call with a valid signature', async () => {
    const store = storeOf(strict)
    await store.ensureBuckets()
    await store.ensureBuckets()
    const key = 'sessions/größe & +%20/plan 1.json'
    await store.put(key, 'a plan', { content_type: 'application/json', metadata: { type: 'plan' } })
    expect(new TextDecoder().decode(await store.get(key))).toBe('a plan')
    await store.delete(key)
    await store.delete(key)
    await expect(store.get(key)).rejects.toMatchObject({ status: 404 })
  })

  // Moto checks signatures of headers only and fails at one in the address, so this is what it answers without a check.
  it('presigns addresses that a browser reads, whole and in part', async () => {
    const store = storeOf(open)
    await store.ensureBuckets()
    await store.put('a b/ü.txt', 'Plan: 1 to add', { content_type: 'text/plain', metadata: { type: 'plan' } })
    const url = await store.presign('a b/ü.txt')
    const whole = await byHost(open.url)(url)
    expect([whole.status, await whole.text(), whole.headers.get('x-amz-meta-type')]).toEqual([
      200,
      'Plan: 1 to add',
      'plan',
    ])
    const part = await byHost(open.url)(url, { headers: { range: 'bytes=0-3' } })
    expect([part.status, await part.text()]).toEqual([206, 'Plan'])
  })

  it('refuses a wrong secret', async () => {
    const store = storeOf(strict, { secret_key: 'x'.repeat(40) })
    await expect(store.get('k')).rejects.toMatchObject({
      message: 'The object store refused the read of k (403 SignatureDoesNotMatch).',
    })
  })

  it('of a bucket that is not there says so', async () => {
    await expect(storeOf(strict, { bucket: 'not-there' }).put('k', 'x', { content_type: 'a/b' })).rejects.toMatchObject(
      {
        message: 'The object store refused the upload of k (404 NoSuchBucket).',
      },
    )
  })

  it('lets the configured origins read a bucket that it made', async () => {
    const store = storeOf(open, { bucket: 'with-cors' }, { cors_origins: ['https://console.example.com'] })
    await store.ensureBuckets()
    const rules = await callsOf(open.url).rest('s3', 'GET', '/with-cors?cors')
    expect(rules).toContain('<AllowedOrigin>https://console.example.com</AllowedOrigin>')
    expect(rules).toContain('<ExposeHeader>x-amz-meta-type</ExposeHeader>')
  })
})

describe('keys for the state of one project', () => {
  const sourceOf = (moto: Moto) => {
    const storage = storageConfig({
      provider: 'S3',
      region: REGION,
      sts_endpoint_url: moto.url,
      state_credentials: 'scoped',
      state_role_arn: ROLE,
      ...keys,
    })
    const services = { iac: { job_timeout: 3600 } } as Config['services']
    return { storage, source: createStateKeys({ storage, services }, { fetch, log: silentLogger }) ?? undefined }
  }

  it('are given for a role with a session policy, and open the state', async () => {
    const { storage, source } = sourceOf(strict)
    expect(await checkStateKeys(storage, source)).toBeNull()
    const made = await source?.issue('a'.repeat(64))
    if (!made) throw new Error('no keys')
    await storeOf(strict).ensureBuckets()
    const calls = callsOf(strict.url, made)
    const path = `/platform-terraform-state/${'a'.repeat(64)}/terraform.tfstate`
    await calls.rest('s3', 'PUT', path, '{"version":4}')
    expect(await calls.rest('s3', 'GET', path)).toBe('{"version":4}')
  })
})

describe('the inventory', () => {
  const env = () => ({
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: keys.access_key,
    AWS_SECRET_ACCESS_KEY: keys.secret_key,
    AWS_ENDPOINT_URL: strict.url,
  })

  it('finds the account by a signature that STS verifies, and refuses a scope of another', async () => {
    await expect(awsInventory(inventoryRequest('210987654321', env()))).rejects.toThrow(
      `AWS credentials belong to account ${ACCOUNT}, not 210987654321`,
    )
  })

  it('names the service and its answer where there is no Resource Explorer, as in moto', async () => {
    await expect(awsInventory(inventoryRequest(ACCOUNT, env()))).rejects.toThrow(
      /^\d{3} from AWS Resource Explorer: \S/,
    )
  })

  it('reads a profile of the shared files that assumes a role', async () => {
    const [config, credentials] = [join(home, 'config'), join(home, 'credentials')]
    await writeFile(
      config,
      `[profile work]\nrole_arn = ${ROLE}\nsource_profile = base\nregion = ${REGION}\n[profile base]\nregion = ${REGION}\n`,
    )
    await writeFile(
      credentials,
      `[base]\naws_access_key_id = ${keys.access_key}\naws_secret_access_key = ${keys.secret_key}\n`,
    )
    const profile = {
      AWS_REGION: REGION,
      AWS_PROFILE: 'work',
      AWS_CONFIG_FILE: config,
      AWS_SHARED_CREDENTIALS_FILE: credentials,
      AWS_ENDPOINT_URL: strict.url,
    }
    await expect(awsInventory(inventoryRequest('210987654321', profile))).rejects.toThrow(
      `AWS credentials belong to account ${ACCOUNT}, not 210987654321`,
    )
  })
})
