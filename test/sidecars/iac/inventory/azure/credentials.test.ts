import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { jwtVerify } from 'jose'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { azureInventory } from '../../../../../sidecars/iac/inventory/azure/index.ts'
import {
  CERTIFICATE,
  expectText,
  fixture,
  folderWith,
  outcome,
  outsideWorld,
  PUBLIC_KEY,
  refused,
  unreachable,
} from '../outside.ts'

const at = outsideWorld()
const SCOPE = '11111111-2222-3333-4444-555555555555'
const LOGIN = 'https://login.microsoftonline.com/tenant/oauth2/v2.0/token'
const GRAPH = 'https://management.azure.com/providers/Microsoft.ResourceGraph/resources'
const INSTANCE = 'http://169.254.169.254/metadata/identity/oauth2/token'
const APP = { ARM_TENANT_ID: 'tenant', ARM_CLIENT_ID: 'client' }
const SECRET = { ARM_CLIENT_SECRET: 's' }
const PASSWORD = 'pass-phräse'
const NONE = 'no Azure credentials configured for scope discovery; '
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const issue = { token_type: 'Bearer', expires_in: 3599, access_token: 'azure-token' }

/** Calls of Resource Graph. Each needs the token. */
let graph: { headers: Headers }[] = []
beforeEach(() => {
  graph = at(GRAPH, { data: [], resultTruncated: 'false' })
})
const listed = async (env: Record<string, string | undefined>) => {
  const found = await outcome(azureInventory, SCOPE, env)
  expect(found.error).toBe('')
  expect(graph.at(-1)?.headers.get('authorization')).toBe('Bearer azure-token')
  return found
}

/** Lists with the sign-in of an application. Returns what it sent, and what was shown. */
async function signedIn(env: Record<string, string | undefined>) {
  const signIns = at(LOGIN, issue)
  const { shown } = await listed(env)
  return { form: Object.fromEntries(signIns[0]?.form ?? []), method: signIns[0]?.method, shown }
}

describe('the first form that is switched on counts', () => {
  it.each([
    ['managed identity', [], 'msi'],
    ['workload identity of AKS', ['USE_MSI'], 'cluster.jwt'],
    ['an OIDC token', ['USE_MSI', 'USE_AKS_WORKLOAD_IDENTITY'], 'given.jwt'],
    ['its file', ['USE_MSI', 'USE_AKS_WORKLOAD_IDENTITY', 'OIDC_TOKEN'], 'file.jwt'],
    ['a certificate', ['USE_MSI', 'USE_AKS_WORKLOAD_IDENTITY', 'USE_OIDC'], 'certificate'],
    ['a secret', ['USE_MSI', 'USE_AKS_WORKLOAD_IDENTITY', 'USE_OIDC', 'CLIENT_CERTIFICATE_PATH'], 'a secret'],
  ])('%s', async (_name, without, expected) => {
    const path = await folderWith({ federated: 'cluster.jwt\n', oidc: 'file.jwt\n' })
    const env: Record<string, string> = {
      ...APP,
      ARM_USE_MSI: 'true',
      ARM_USE_AKS_WORKLOAD_IDENTITY: '1',
      AZURE_FEDERATED_TOKEN_FILE: path('federated'),
      ARM_USE_OIDC: 'Yes',
      ARM_OIDC_TOKEN: 'given.jwt',
      ARM_OIDC_TOKEN_FILE_PATH: path('oidc'),
      ARM_CLIENT_CERTIFICATE_PATH: fixture('client.pem'),
      ARM_CLIENT_SECRET: 'a secret',
    }
    for (const name of without) delete env[`ARM_${name}`]
    const identity = at(INSTANCE, issue)
    const signIns = at(LOGIN, issue)
    await listed(env)
    const form = signIns[0]?.form
    const proof = form?.get('client_secret') ?? form?.get('client_assertion') ?? 'msi'
    expect(proof.split('.').length === 3 ? 'certificate' : proof).toBe(expected)
    expect(identity).toHaveLength(expected === 'msi' ? 1 : 0)
    expect(signIns).toHaveLength(expected === 'msi' ? 0 : 1)
  })

  it.each(['false', '0', 'no', 'off', '', ' '])('a switch of %j is off', async (off) => {
    const switches = { ARM_USE_MSI: off, ARM_USE_AKS_WORKLOAD_IDENTITY: off, ARM_USE_OIDC: off }
    const { form } = await signedIn({ ...APP, ...switches, ARM_CLIENT_SECRET: 'a secret' })
    expect(form.client_secret).toBe('a secret')
  })

  it.each<[string, Record<string, string>, string | RegExp]>([
    ['nothing', {}, /^no Azure credentials configured for scope discovery; set ARM_TENANT_ID, /],
    ['an application without proof', APP, /^no Azure credentials configured for scope discovery; set /],
    ['a secret alone', SECRET, `${NONE}ARM_CLIENT_SECRET needs ARM_TENANT_ID and ARM_CLIENT_ID too`],
    ['a secret without tenant', { ...SECRET, ARM_CLIENT_ID: 'c' }, `${NONE}ARM_CLIENT_SECRET needs ARM_TENANT_ID too`],
    ['OIDC without client', { ARM_USE_OIDC: 'on', ARM_TENANT_ID: 't' }, `${NONE}ARM_USE_OIDC needs ARM_CLIENT_ID too`],
    [
      'OIDC without token, although there is a secret',
      { ...APP, ...SECRET, ARM_USE_OIDC: 'on' },
      'ARM_USE_OIDC is set, but neither ARM_OIDC_TOKEN, ARM_OIDC_TOKEN_FILE_PATH nor ARM_OIDC_REQUEST_URL and ' +
        '_TOKEN are',
    ],
    [
      'workload identity without its file',
      { ...APP, ARM_USE_AKS_WORKLOAD_IDENTITY: 'on' },
      'ARM_USE_AKS_WORKLOAD_IDENTITY is set, but AZURE_FEDERATED_TOKEN_FILE is not',
    ],
    [
      'a file that is not there',
      { ...APP, ARM_CLIENT_CERTIFICATE_PATH: '/nowhere/client.pfx' },
      'the file that ARM_CLIENT_CERTIFICATE_PATH names cannot be read (ENOENT)',
    ],
  ])('%s is an error', async (_name, env, expected) => {
    const { error } = await outcome(azureInventory, SCOPE, env)
    expectText(error, expected)
    expect(graph).toHaveLength(0)
  })
})

describe('an application signs in', () => {
  it('with its secret, blanks included', async () => {
    const { form, method } = await signedIn({ ...APP, ARM_CLIENT_SECRET: ' +&=secret ' })
    expect(method).toBe('POST')
    expect(form).toMatchObject({
      grant_type: 'client_credentials',
      client_id: 'client',
      client_secret: ' +&=secret ',
      scope: 'https://management.azure.com/.default',
    })
  })

  it('with secret and id from files', async () => {
    const path = await folderWith({ secret: 'from file\n', id: 'client-file\n' })
    const files = { ARM_CLIENT_ID_FILE_PATH: path('id'), ARM_CLIENT_SECRET_FILE_PATH: path('secret') }
    const { form } = await signedIn({ ARM_TENANT_ID: 'tenant', ...files })
    expect(form).toMatchObject({ client_id: 'client-file', client_secret: 'from file' })
  })

  it.each([
    '../other?',
    'a/b',
    'tenant#',
    'a b',
  ])('the tenant %j, which leads elsewhere, is refused', async (tenant) => {
    const { error } = await outcome(azureInventory, SCOPE, { ...APP, ...SECRET, ARM_TENANT_ID: tenant })
    expect(error).toBe('ARM_TENANT_ID is neither the id nor a domain of a tenant')
  })

  it('at no other region or address, whatever the process has set for the library', async () => {
    vi.stubEnv('AZURE_AUTHORITY_HOST', 'https://elsewhere.example')
    vi.stubEnv('AZURE_REGIONAL_AUTHORITY_NAME', 'westeurope')
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    const signIns = at(LOGIN, issue)
    const { error, shown } = await outcome(azureInventory, SCOPE, { ...APP, ARM_CLIENT_SECRET: 'a secret' })
    expect(error).toBe('an address that is none of Microsoft Entra ID was to be asked')
    expect(shown).not.toContain('a secret')
    expect(signIns).toHaveLength(0)
  })

  it("with AKS, by the cluster's own variables", async () => {
    const path = await folderWith({ token: 'cluster.jwt' })
    const env = { AZURE_TENANT_ID: 'tenant', AZURE_CLIENT_ID: 'pod', AZURE_FEDERATED_TOKEN_FILE: path('token') }
    expect((await signedIn({ ...env, ARM_USE_AKS_WORKLOAD_IDENTITY: 'true' })).form).toMatchObject({
      client_id: 'pod',
      client_assertion: 'cluster.jwt',
      client_assertion_type: ASSERTION_TYPE,
    })
  })

  it.each([
    'ARM_OIDC_REQUEST',
    'ACTIONS_ID_TOKEN_REQUEST',
  ])('with what a workflow host issues, by %s', async (prefix) => {
    const issued = at('https://token.actions.example/issue', { value: 'workflow.jwt' })
    const env = { [`${prefix}_URL`]: 'https://token.actions.example/issue?v=2', [`${prefix}_TOKEN`]: 'request-token' }
    const { form, shown } = await signedIn({ ...APP, ...env, ARM_USE_OIDC: 'true' })
    expect(issued[0]?.url.search).toBe('?v=2&audience=api%3A%2F%2FAzureADTokenExchange')
    expect(issued[0]?.headers.get('authorization')).toBe('Bearer request-token')
    expect(form.client_assertion).toBe('workflow.jwt')
    expect(shown).not.toContain('request-token')
  })

  it.each<[string, unknown]>([
    ['no token', {}],
    ['a token that is no text', { access_token: 7 }],
    ['a token that breaks the header', { access_token: 'a\r\nx: y' }],
    ['a lifetime of words', { access_token: 'a', expires_in: 'soon' }],
  ])('an answer with %s is refused', async (_name, answer) => {
    at(LOGIN, answer)
    const { error } = await outcome(azureInventory, SCOPE, { ...APP, ...SECRET })
    expect(error).toMatch(/^Microsoft Entra ID gave an answer of an unknown form, at (access_token|expires_in)$/)
  })
})

describe('managed identity', () => {
  const HOSTED = { IDENTITY_ENDPOINT: 'http://127.0.0.1:41000/msi/token', IDENTITY_HEADER: 'hosted-key' }
  const SET = 'http://127.0.0.1:41001/token'
  const OWN = { metadata: 'true' }
  const VERSION = '2018-02-01&resource=https%3A%2F%2Fmanagement.azure.com'
  const LATER = VERSION.replace('2018-02-01', '2019-08-01')
  it.each<[string, Record<string, string>, string, string, Record<string, string>]>([
    ['of the machine', {}, INSTANCE, VERSION, OWN],
    ['of several, the named one', { ARM_CLIENT_ID: 'mine' }, INSTANCE, `${VERSION}&client_id=mine`, OWN],
    ['where the host says', HOSTED, HOSTED.IDENTITY_ENDPOINT, LATER, { 'x-identity-header': 'hosted-key' }],
    ['where the variable says', { ...HOSTED, ARM_MSI_ENDPOINT: SET }, SET, VERSION, OWN],
  ])('%s', async (_name, env, address, version, headers) => {
    const { expires_in: _unused, ...answer } = issue
    const calls = at(address, { ...answer, expires_on: '4102444800', resource: 'x' })
    await listed({ ARM_USE_MSI: 'true', ...env })
    expect(calls).toHaveLength(1)
    expect([calls[0]?.method, calls[0]?.url.search]).toEqual(['GET', `?api-version=${version}`])
    for (const [name, value] of Object.entries(headers)) expect(calls[0]?.headers.get(name)).toBe(value)
  })

  it.each<[string, unknown, string]>([
    [
      'a machine without one',
      refused(400, { error: 'invalid_request', error_description: 'Identity not found' }),
      '400 from Azure managed identity: Identity not found',
    ],
    ['another machine', unreachable(), 'Azure managed identity is unreachable: the connection failed'],
  ])('%s', async (_name, reply, expected) => {
    at(INSTANCE, reply)
    expect((await outcome(azureInventory, SCOPE, { ARM_USE_MSI: 'true' })).error).toBe(expected)
  })
})

describe('a client certificate', () => {
  const NOW = new Date('2026-05-05T05:05:05Z')
  it.each<[string, string, string | undefined]>([
    ['PKCS #12 with AES', 'client-aes.pfx', PASSWORD],
    ['PKCS #12 with several AES', 'client-aes-mixed.pfx', PASSWORD],
    ['PKCS #12 with 3DES', 'client-3des.pfx', PASSWORD],
    ['PKCS #12 with RC2, as old exports are', 'client-rc2.pfx', PASSWORD],
    ['PKCS #12 without encryption', 'client-open.pfx', undefined],
    ['PEM', 'client.pem', undefined],
    ['PEM with an encrypted key', 'client-encrypted.pem', 'pass-phrase'],
  ])('%s', async (_name, file, ARM_CLIENT_CERTIFICATE_PASSWORD) => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const signIns = at(LOGIN, issue)
    const env = { ...APP, ARM_CLIENT_CERTIFICATE_PATH: fixture(file), ARM_CLIENT_CERTIFICATE_PASSWORD }
    expect((await outcome(azureInventory, SCOPE, env, { now: () => NOW })).error).toBe('')
    const form = signIns[0]?.form
    expect([form?.get('client_assertion_type'), form?.has('client_secret')]).toEqual([ASSERTION_TYPE, false])
    const { payload, protectedHeader } = await jwtVerify(form?.get('client_assertion') ?? '', PUBLIC_KEY, {
      currentDate: NOW,
    })
    expect(protectedHeader).toEqual({
      alg: 'PS256',
      typ: 'JWT',
      'x5t#S256': createHash('sha256').update(CERTIFICATE.raw).digest('base64url'),
    })
    const iat = NOW.getTime() / 1000
    expect(payload).toMatchObject({ aud: LOGIN, iss: 'client', sub: 'client', iat, nbf: iat, exp: iat + 600 })
    expect(payload.jti).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('in the variable itself', async () => {
    const ARM_CLIENT_CERTIFICATE = await readFile(fixture('client-aes.pfx'), 'base64')
    const { form } = await signedIn({ ...APP, ARM_CLIENT_CERTIFICATE, ARM_CLIENT_CERTIFICATE_PASSWORD: PASSWORD })
    await jwtVerify(form.client_assertion ?? '', PUBLIC_KEY, { clockTolerance: 1 })
  })

  const CLOSED =
    'ARM_CLIENT_CERTIFICATE_PATH is neither PKCS #12 nor PEM, or ARM_CLIENT_CERTIFICATE_PASSWORD does not open it'
  it.each([
    ['client-aes.pfx', 'wrong'],
    ['client-3des.pfx', ''],
    ['client-encrypted.pem', 'wrong'],
    ['client-rc2.pfx', 'wrong'],
  ])('%s with the password %j is an error that shows nothing', async (file, ARM_CLIENT_CERTIFICATE_PASSWORD) => {
    const env = { ...APP, ARM_CLIENT_CERTIFICATE_PATH: fixture(file), ARM_CLIENT_CERTIFICATE_PASSWORD }
    const { error, shown } = await outcome(azureInventory, SCOPE, env)
    expect(error).toBe(CLOSED)
    expect(shown).not.toContain(fixture(file))
  })

  it('that is cut off anywhere, or changed anywhere, never gets further than an error', async () => {
    const whole = await readFile(fixture('client-open.pfx'))
    const signIns = at(LOGIN, issue)
    for (let at = 0; at < whole.length; at += 97) {
      const changed = Buffer.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 0x55
      for (const bytes of [whole.subarray(0, at), changed]) {
        const { error } = await outcome(azureInventory, SCOPE, {
          ...APP,
          ARM_CLIENT_CERTIFICATE: bytes.toString('base64') || 'AA==',
        })
        if (error !== '')
          expect(error).toMatch(/^ARM_CLIENT_CERTIFICATE (is neither|holds no RSA key with its certificate)/)
      }
    }
    for (const { form } of signIns)
      await jwtVerify(form.get('client_assertion') ?? '', PUBLIC_KEY, { clockTolerance: 1 })
  })

  it('without its key is an error', async () => {
    const path = await folderWith({ 'only.pem': CERTIFICATE.toString() })
    const { error } = await outcome(azureInventory, SCOPE, { ...APP, ARM_CLIENT_CERTIFICATE_PATH: path('only.pem') })
    expect(error).toBe('ARM_CLIENT_CERTIFICATE_PATH holds no RSA key with its certificate')
  })
})
