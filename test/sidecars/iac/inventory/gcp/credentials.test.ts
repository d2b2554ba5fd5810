import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { jwtVerify } from 'jose'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { gcpInventory } from '../../../../../sidecars/iac/inventory/gcp/index.ts'
import {
  type Call,
  expectText,
  folderWith,
  outcome,
  outsideWorld,
  PRIVATE_PEM,
  PUBLIC_KEY,
  refused,
  unreachable,
} from '../outside.ts'
import { inventoryRequest } from '../request.ts'

const at = outsideWorld()
const SCOPE = 'web-prod-1'
const MANAGER = 'https://cloudresourcemanager.googleapis.com/v1'
const OAUTH = 'https://oauth2.googleapis.com/token'
const STS = 'https://sts.googleapis.com/v1/token'
const METADATA = 'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token'
const IMPERSONATE = (account: string) =>
  `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${account}:generateAccessToken`
const ALL = 'https://www.googleapis.com/auth/cloud-platform'
const NOW = new Date('2026-05-05T05:05:05Z')

const ACCOUNT = {
  type: 'service_account',
  project_id: SCOPE,
  private_key_id: 'key-1',
  private_key: PRIVATE_PEM,
  client_email: 'ci@web-prod-1.iam.gserviceaccount.com',
  token_uri: OAUTH,
}
const PERSON = {
  type: 'authorized_user',
  client_id: 'gcloud',
  client_secret: 'person-secret',
  refresh_token: 'person-refresh',
}
const EXTERNAL = {
  type: 'external_account',
  audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  token_url: STS,
}

const SECRETS = /PRIVATE KEY|person-secret|person-refresh|subject-token|client-secret/

let manager: Call[] = []
beforeEach(() => {
  manager = at(`${MANAGER}/projects/${SCOPE}`, { projectNumber: '1' })
  at(`https://cloudasset.googleapis.com/v1/projects/${SCOPE}:searchAllResources`, {})
  at(`${MANAGER}/projects/${SCOPE}:getIamPolicy`, {})
})
const issue = (access_token: string) => ({ access_token, token_type: 'Bearer', expires_in: 3599 })
const assumed = (accessToken: string) => ({ accessToken, expireTime: '2026-05-05T06:05:05Z' })
const credentials = (file: object) => ({ GOOGLE_CREDENTIALS: JSON.stringify(file) })
async function tokenOf(env: Record<string, string | undefined>) {
  const found = await outcome(gcpInventory, SCOPE, env, { now: () => NOW })
  expect(found.error).toBe('')
  expect(found.shown).not.toMatch(SECRETS)
  return manager.at(-1)?.headers.get('authorization')?.replace('Bearer ', '')
}
const errorOf = async (env: Record<string, string | undefined>) => {
  const { error, shown } = await outcome(gcpInventory, SCOPE, env)
  expect(shown).not.toMatch(SECRETS)
  return error
}

describe('the first place that is set up counts', () => {
  it.each([
    ['an access token', 0, 'given'],
    ['GOOGLE_CREDENTIALS', 1, 'person:configured'],
    ['GOOGLE_APPLICATION_CREDENTIALS', 2, 'person:application'],
    ['the file of gcloud', 3, 'person:gcloud'],
    ['the metadata server', 4, 'machine'],
  ])('%s', async (_name, missing, expected) => {
    const person = (client_id: string) => JSON.stringify({ ...PERSON, client_id })
    const path = await folderWith({ application: person('application') })
    const gcloud = path('.config/gcloud/application_default_credentials.json')
    await mkdir(dirname(gcloud), { recursive: true })
    await writeFile(gcloud, person('gcloud'))
    at(OAUTH, ({ form }: Call) => issue(`person:${form.get('client_id')}`))
    at(METADATA, issue('machine'))
    const all = {
      GOOGLE_OAUTH_ACCESS_TOKEN: 'given',
      GOOGLE_CREDENTIALS: person('configured'),
      GOOGLE_APPLICATION_CREDENTIALS: path('application'),
      HOME: path('.'),
    }
    expect(await tokenOf(Object.fromEntries(Object.entries(all).slice(missing)))).toBe(expected)
  })

  it('GOOGLE_CREDENTIALS may be a path', async () => {
    const path = await folderWith({ 'person.json': JSON.stringify(PERSON) })
    at(OAUTH, issue('person'))
    expect(await tokenOf({ GOOGLE_CREDENTIALS: path('person.json') })).toBe('person')
  })

  it('then another account may be taken on', async () => {
    const calls = at(IMPERSONATE('deploy%40web-prod-1.iam.gserviceaccount.com'), assumed('deploy'))
    const env = {
      GOOGLE_OAUTH_ACCESS_TOKEN: 'given',
      GOOGLE_IMPERSONATE_SERVICE_ACCOUNT: 'deploy@web-prod-1.iam.gserviceaccount.com',
    }
    expect(await tokenOf(env)).toBe('deploy')
    expect(calls[0]?.headers.get('authorization')).toBe('Bearer given')
    expect(calls[0]?.json()).toEqual({ delegates: [], scope: [ALL], lifetime: '3600s' })
  })

  it.each(['not an account', 'a@b/../../x', 'a@b?c'])('which cannot be %j', async (account) => {
    expect(await errorOf({ GOOGLE_OAUTH_ACCESS_TOKEN: 'given', GOOGLE_IMPERSONATE_SERVICE_ACCOUNT: account })).toBe(
      'GOOGLE_IMPERSONATE_SERVICE_ACCOUNT is no service account',
    )
  })

  it('nothing at all says what to set', async () => {
    at(METADATA, unreachable())
    expect(await errorOf({})).toMatch(
      /^no Google Cloud credentials configured for scope discovery; set GOOGLE_CREDENTIALS, /,
    )
  })

  it('a metadata server that refuses says why', async () => {
    at(
      'http://10.1.2.3:8088/computeMetadata/v1/instance/service-accounts/default/token',
      refused(404, 'Service account not found'),
    )
    expect(await errorOf({ GCE_METADATA_HOST: '10.1.2.3:8088' })).toBe(
      '404 from Google metadata server: Service account not found',
    )
    expect(await errorOf({ GCE_METADATA_HOST: 'a/b' })).toBe('GCE_METADATA_HOST is not a host')
  })

  it('the metadata server is asked as it wants', async () => {
    const calls = at(METADATA, issue('machine'))
    expect(await tokenOf({})).toBe('machine')
    expect(calls[0]?.headers.get('metadata-flavor')).toBe('Google')
  })
})

describe('a service account', () => {
  it('signs an assertion and exchanges it', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const calls = at(OAUTH, issue('account'))
    expect(await tokenOf(credentials(ACCOUNT))).toBe('account')
    expect(calls).toHaveLength(1)
    expect(calls[0]?.form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const { payload, protectedHeader } = await jwtVerify(calls[0]?.form.get('assertion') ?? '', PUBLIC_KEY, {
      currentDate: NOW,
    })
    expect(protectedHeader).toEqual({ alg: 'RS256' })
    const iat = NOW.getTime() / 1000
    expect(payload).toEqual({ iss: ACCOUNT.client_email, scope: ALL, aud: OAUTH, iat, exp: iat + 3600 })
  })

  it('of another universe shows its assertion instead', async () => {
    const there = 'https://cloudresourcemanager.apis.example/v1'
    const calls = at(`${there}/projects/${SCOPE}`, { projectNumber: '1' })
    at(`https://cloudasset.apis.example/v1/projects/${SCOPE}:searchAllResources`, {})
    at(`${there}/projects/${SCOPE}:getIamPolicy`, {})
    const env = credentials({ ...ACCOUNT, universe_domain: 'apis.example' })
    expect((await outcome(gcpInventory, SCOPE, env, { now: () => NOW })).error).toBe('')
    const token = calls[0]?.headers.get('authorization')?.replace('Bearer ', '') ?? ''
    const { payload } = await jwtVerify(token, PUBLIC_KEY, { currentDate: NOW })
    expect(payload).toMatchObject({ iss: ACCOUNT.client_email, sub: ACCOUNT.client_email, scope: ALL })
  })

  it('that is gone, and an echo of the assertion', async () => {
    at(OAUTH, ({ form }: Call) =>
      refused(400, { error: 'invalid_grant', error_description: `Invalid ${form.get('assertion')}` }),
    )
    expect(await errorOf(credentials(ACCOUNT))).toBe('400 from Google OAuth: Invalid (sensitive value)')
  })
})

it('a person refreshes, and the quota is that of the named project', async () => {
  const calls = at(OAUTH, issue('person'))
  expect(await tokenOf(credentials({ ...PERSON, quota_project_id: 'quota' }))).toBe('person')
  const { type: _type, ...form } = PERSON
  expect(Object.fromEntries(calls[0]?.form ?? [])).toEqual({ grant_type: 'refresh_token', ...form })
  expect(manager[0]?.headers.get('x-goog-user-project')).toBe('quota')
})

const WORKER = {
  ...PERSON,
  type: 'external_account_authorized_user',
  audience: '//iam.googleapis.com/locations/global/workforcePools/p/providers/x',
  token_url: 'https://sts.googleapis.com/v1/oauthtoken',
}

describe('a person of a workforce pool', () => {
  it('refreshes', async () => {
    const calls = at(WORKER.token_url, issue('worker'))
    expect(await tokenOf(credentials(WORKER))).toBe('worker')
    expect(Object.fromEntries(calls[0]?.form ?? [])).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'person-refresh',
    })
    expect(calls[0]?.headers.get('authorization')).toBe(`Basic ${btoa('gcloud:person-secret')}`)
  })

  it('whose session has ended is told so without the token', async () => {
    at(WORKER.token_url, ({ form }: Call) =>
      refused(400, { error: 'invalid_grant', error_description: `Expired ${form.get('refresh_token')}` }),
    )
    expect(await errorOf(credentials(WORKER))).toBe('400 from Google Security Token Service: Expired (sensitive value)')
  })
})

describe('the library', () => {
  it.each<[string, object]>([
    ['an account', ACCOUNT],
    ['a person', PERSON],
  ])('asks for the token of %s with the fetch of the service only, and is stopped with it', async (_name, file) => {
    const stop = new AbortController()
    const asked: string[] = []
    const fetcher: typeof fetch = async (url) => {
      asked.push(String(url))
      stop.abort()
      throw new Error('stopped')
    }
    const request = inventoryRequest(SCOPE, credentials(file), { fetch: fetcher, signal: stop.signal })
    await expect(gcpInventory(request)).rejects.toMatchObject({ name: 'OutboundError', kind: 'aborted' })
    expect(asked).toEqual([OAUTH])
  })
})

describe('workload identity federation', () => {
  const exchanged = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    audience: EXTERNAL.audience,
    scope: ALL,
    subject_token: 'subject-token',
    subject_token_type: EXTERNAL.subject_token_type,
  }
  const format = { type: 'json', subject_token_field_name: 'access_token' }
  const federate = async (credential_source: object, more: object = {}) => {
    const calls = at(STS, issue('federated'))
    const token = await tokenOf(credentials({ ...EXTERNAL, credential_source, ...more }))
    return { token, call: calls[0], form: Object.fromEntries(calls[0]?.form ?? []) }
  }

  it('with a file', async () => {
    const path = await folderWith({ token: 'subject-token\n' })
    expect(await federate({ file: path('token') })).toMatchObject({ token: 'federated', form: exchanged })
  })

  it('with a field of a file', async () => {
    const path = await folderWith({ token: '{"access_token":"subject-token"}' })
    expect(await federate({ file: path('token'), format })).toMatchObject({ token: 'federated', form: exchanged })
  })

  it('with an address', async () => {
    const calls = at('http://169.254.169.254/metadata/identity/oauth2/token', { access_token: 'subject-token' })
    const url = 'http://169.254.169.254/metadata/identity/oauth2/token?resource=x'
    expect(await federate({ url, headers: { Metadata: 'True' }, format })).toMatchObject({
      token: 'federated',
      form: exchanged,
    })
    expect([calls[0]?.headers.get('metadata'), calls[0]?.url.search]).toEqual(['True', '?resource=x'])
  })

  const AWS_SOURCE = {
    environment_id: 'aws1',
    region_url: 'http://169.254.169.254/latest/meta-data/placement/availability-zone',
    url: 'http://169.254.169.254/latest/meta-data/iam/security-credentials',
    regional_cred_verification_url: 'https://elsewhere.example?Action=GetCallerIdentity',
  }
  const ofAws = (env: object) => ({ ...credentials({ ...EXTERNAL, credential_source: AWS_SOURCE }), ...env })
  it('with the identity of AWS, which asks none of the addresses of the file', async () => {
    const calls = at(STS, issue('federated'))
    const env = ofAws({
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'aws-secret',
    })
    expect(await tokenOf(env)).toBe('federated')
    const proof = JSON.parse(decodeURIComponent(calls[0]?.form.get('subject_token') ?? ''))
    expect(proof.url).toBe('https://sts.eu-west-1.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15')
    expect(proof.headers).toContainEqual({ key: 'x-goog-cloud-target-resource', value: EXTERNAL.audience })
    expect(JSON.stringify(proof.headers)).toMatch(/AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/sts\//)
    expect(calls[0]?.text).not.toContain('aws-secret')
  })

  it('with the identity of AWS, but no region', async () => {
    expect(await errorOf(ofAws({ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE' }))).toBe('AWS_REGION is not set')
  })

  it('and then as a service account', async () => {
    const path = await folderWith({ token: 'subject-token' })
    const url = IMPERSONATE('ci@web-prod-1.iam.gserviceaccount.com')
    const calls = at(url, assumed('impersonated'))
    expect(await federate({ file: path('token') }, { service_account_impersonation_url: url })).toMatchObject({
      token: 'impersonated',
    })
    expect(calls[0]?.headers.get('authorization')).toBe('Bearer federated')
  })

  it('with a client of its own, or a project for the workforce', async () => {
    const path = await folderWith({ token: 'subject-token' })
    const client = { client_id: 'client', client_secret: 'client-secret', workforce_pool_user_project: '77' }
    const own = await federate({ file: path('token') }, client)
    expect(own.call?.headers.get('authorization')).toBe(`Basic ${btoa('client:client-secret')}`)
    expect(own.form.options).toBeUndefined()
    const workforce = await federate({ file: path('token') }, { workforce_pool_user_project: '77' })
    expect(JSON.parse(workforce.form.options ?? '')).toEqual({ userProject: '77' })
  })

  const FROM_A_PROGRAM = /^the Google credentials take their subject token from a certificate or a program; /
  it.each<[string, object, string | RegExp]>([
    ['an unknown environment', { environment_id: 'aws2' }, FROM_A_PROGRAM],
    ['a program', { executable: { command: '/bin/token' } }, FROM_A_PROGRAM],
    ['no address', { url: 'nowhere' }, 'the credential_source of the Google credentials is no address'],
    ['a missing file', { file: '/nowhere/token' }, 'the file that credential_source names cannot be read (ENOENT)'],
  ])('from %s is refused', async (_name, credential_source, expected) => {
    expectText(await errorOf(credentials({ ...EXTERNAL, credential_source })), expected)
  })

  it.each(['not json', '{}', '{"access_token":7}', 'null'])('without its field in %j is refused', async (text) => {
    const path = await folderWith({ token: text })
    expect(await errorOf(credentials({ ...EXTERNAL, credential_source: { file: path('token'), format } }))).toBe(
      'the credential_source of the Google credentials holds no subject token',
    )
  })
})

const IMPERSONATED = {
  type: 'impersonated_service_account',
  service_account_impersonation_url: IMPERSONATE('ci@web-prod-1.iam.gserviceaccount.com'),
  delegates: ['projects/-/serviceAccounts/between@web-prod-1.iam.gserviceaccount.com'],
  source_credentials: PERSON,
}

describe('an impersonated account', () => {
  beforeEach(() => {
    at(OAUTH, issue('person'))
  })
  it('is taken on by a person', async () => {
    const calls = at(IMPERSONATED.service_account_impersonation_url, assumed('account'))
    expect(await tokenOf(credentials(IMPERSONATED))).toBe('account')
    expect(calls[0]?.headers.get('authorization')).toBe('Bearer person')
    expect(calls[0]?.json()).toMatchObject({ delegates: IMPERSONATED.delegates })
  })

  it.each<[string, unknown, string]>([
    [
      'no permission',
      refused(403, { error: { message: "Permission 'iam.serviceAccounts.getAccessToken' denied" } }),
      "403 from IAM Service Account Credentials: Permission 'iam.serviceAccounts.getAccessToken' denied",
    ],
    [
      'no time in the answer',
      { accessToken: 'x', expireTime: 'later' },
      'IAM Service Account Credentials gave an answer of an unknown form, at expireTime',
    ],
  ])('%s', async (_name, reply, expected) => {
    at(IMPERSONATED.service_account_impersonation_url, reply)
    expect(await errorOf(credentials(IMPERSONATED))).toBe(expected)
  })
})

describe('credentials that are none', () => {
  const UNKNOWN = /^GOOGLE_CREDENTIALS holds credentials of a type that this discovery cannot use; supported are /
  const OPEN = 'the token address of the Google credentials is not an https address'
  const broken = { ...ACCOUNT, private_key: 'PRIVATE KEY broken' }
  it.each<[string, string | object, string | RegExp]>([
    ['broken JSON', '{"private_key": "-----BEGIN PRIVATE KEY', 'GOOGLE_CREDENTIALS is neither a file nor JSON'],
    ['no type', {}, 'GOOGLE_CREDENTIALS holds no Google credentials'],
    ['an unknown type', { type: 'gdch_service_account' }, UNKNOWN],
    ['an impersonated account inside another', { ...IMPERSONATED, source_credentials: IMPERSONATED }, UNKNOWN],
    ['a missing file', '/nowhere/key.json', 'the file that GOOGLE_CREDENTIALS names cannot be read (ENOENT)'],
    ['a long name', 'x'.repeat(9000), 'the file that GOOGLE_CREDENTIALS names cannot be read (ENAMETOOLONG)'],
    ['an account with a broken key', broken, 'the private_key of the Google credentials is no RSA key'],
    ['an account without a key', { ...ACCOUNT, private_key: undefined }, 'GOOGLE_CREDENTIALS lacks private_key'],
    ['an account at an open address', { ...ACCOUNT, token_uri: 'http://oauth.example/' }, OPEN],
    ['a worker at an open address', { ...WORKER, token_url: 'http://sts.example/token' }, OPEN],
  ])('%s', async (_name, given, expected) => {
    const env = typeof given === 'string' ? { GOOGLE_CREDENTIALS: given } : credentials(given)
    expectText(await errorOf(env), expected)
  })

  it('an empty file', async () => {
    const path = await folderWith({ empty: ' \n' })
    expect(await errorOf({ GOOGLE_APPLICATION_CREDENTIALS: path('empty') })).toBe(
      'the file that GOOGLE_APPLICATION_CREDENTIALS names is empty',
    )
  })
})
