import { createPrivateKey } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { ociInventory } from '../../../../../sidecars/iac/inventory/oci/index.ts'
import { type Call, expectText, fixture, folderWith, outcome, outsideWorld, PRIVATE_PEM, refused } from '../outside.ts'
import { verified } from './verified.ts'

const at = outsideWorld()
const SCOPE = 'ocid1.compartment.oc1..aaaaaaaaexample'
const ENCRYPTED_PEM = await readFile(fixture('client-encrypted.pem'), 'utf8')
const PKCS1_PEM = createPrivateKey(PRIVATE_PEM).export({ format: 'pem', type: 'pkcs1' }).toString()
const OWN = { TF_VAR_tenancy_ocid: 'tenancy', TF_VAR_user_ocid: 'user', TF_VAR_fingerprint: '11:22' }
const REGION = { TF_VAR_region: 'eu-frankfurt-1' }
/** Everything but a key. */
const HALF = { ...OWN, ...REGION }
const cannotRead = (name: string) => `the file that ${name} names cannot be read (ENOENT)`

/** Calls in all regions. */
let calls: Call[] = []
beforeEach(() => {
  calls = []
  for (const region of ['eu-frankfurt-1', 'us-phoenix-1', 'uk-london-1'])
    at(`https://query.${region}.oci.oraclecloud.com/20180409/resources`, (call: Call) => {
      calls.push(call)
      return { items: [] }
    })
})

/** Returns region and key id of the request to Search; the key id only if the tests' key has signed it. */
async function asked(env: Record<string, string | undefined>) {
  const { error, shown } = await outcome(ociInventory, SCOPE, { HOME: '/nowhere', ...env })
  expect(error).toBe('')
  for (const secret of ['PRIVATE KEY', 'pass-phrase', 'session-token']) expect(shown).not.toContain(secret)
  const call = calls.at(-1)
  return { key_id: verified(call).key_id, region: call?.url.host.split('.')[1] }
}
const errorOf = async (env: Record<string, string | undefined>) => {
  const { error, shown } = await outcome(ociInventory, SCOPE, { HOME: '/nowhere', ...env })
  for (const secret of ['PRIVATE KEY', 'pass-phrase', 'session-token']) expect(shown).not.toContain(secret)
  expect(calls).toHaveLength(0)
  return error
}
const profile = (name: string, values: Record<string, string>) =>
  [`[${name}]`, ...Object.entries(values).map(([key, value]) => `${key} = ${value}`), ''].join('\n')

describe('an API key', () => {
  it.each<[string, Record<string, string>]>([
    ['PKCS #8', { TF_VAR_private_key: PRIVATE_PEM }],
    ['PKCS #1', { TF_VAR_private_key: PKCS1_PEM }],
    ['in one line', { OCI_PRIVATE_KEY: PRIVATE_PEM.replaceAll('\n', '\\n') }],
    ['encrypted', { TF_VAR_private_key: ENCRYPTED_PEM, TF_VAR_private_key_password: 'pass-phrase' }],
    ['in a file', { TF_VAR_private_key_path: fixture('client.pem') }],
    [
      'in a file, encrypted',
      { OCI_PRIVATE_KEY_PATH: fixture('client-encrypted.pem'), OCI_PRIVATE_KEY_PASSWORD: 'pass-phrase' },
    ],
    [
      'of TF_VAR_, which goes before OCI_',
      { OCI_TENANCY_OCID: 'other', OCI_REGION: 'uk-london-1', TF_VAR_private_key: PRIVATE_PEM },
    ],
  ])('%s', async (_name, key) => {
    const own = { key_id: 'tenancy/user/11:22', region: 'eu-frankfurt-1' }
    expect(await asked({ ...HALF, ...key })).toEqual(own)
  })

  const NO_KEY = 'no OCI private key: neither OCI_PRIVATE_KEY, OCI_PRIVATE_KEY_PATH nor key_file of the profile is set'
  const NO_PEM = 'OCI_PRIVATE_KEY is no RSA private key in PEM, or its passphrase does not open it'
  const NO_AUTH =
    /^scope discovery for OCI knows the auth ApiKey, SecurityToken, ResourcePrincipal and InstancePrincipal/
  const CLOSED = { OCI_PRIVATE_KEY: ENCRYPTED_PEM }
  const OPEN = { OCI_PRIVATE_KEY: PRIVATE_PEM }
  it.each<[string, Record<string, string>, string | RegExp]>([
    ['nothing', {}, /^no OCI credentials configured for scope discovery; set OCI_TENANCY_OCID, /],
    ['no key', HALF, NO_KEY],
    ['a wrong passphrase', { ...HALF, ...CLOSED, OCI_PRIVATE_KEY_PASSWORD: 'wrong-one' }, NO_PEM],
    ['no passphrase', { ...HALF, ...CLOSED }, NO_PEM],
    ['rubbish for a key', { ...HALF, OCI_PRIVATE_KEY: 'PRIVATE KEY' }, NO_PEM],
    ['a missing file', { ...HALF, OCI_PRIVATE_KEY_PATH: '/nowhere/key.pem' }, cannotRead('OCI_PRIVATE_KEY_PATH')],
    [
      'an id that breaks out',
      { ...HALF, ...OPEN, TF_VAR_user_ocid: 'a",keyId="b' },
      /hold characters that no key id has$/,
    ],
    ['no region', { ...OWN, ...OPEN }, 'OCI_REGION is not set'],
    ['another auth', { OCI_AUTH: 'OKEWorkloadIdentity' }, NO_AUTH],
  ])('%s is an error', async (_name, env, expected) => {
    expectText(await errorOf(env), expected)
  })
})

describe('the configuration file', () => {
  const KEYS = {
    tenancy: 'file-tenancy',
    user: 'file-user',
    fingerprint: '33:44',
    key_file: fixture('client-encrypted.pem'),
    pass_phrase: 'pass-phrase',
  }
  const FROM_FILE = { key_id: 'file-tenancy/file-user/33:44' }
  const CONFIG = [
    '# made by the CLI',
    profile('DEFAULT', { ...KEYS, region: 'us-phoenix-1' }),
    profile('LONDON', { ...KEYS, user: 'london-user', region: 'uk-london-1' }),
    profile('BARE', { region: 'uk-london-1' }),
  ].join('\r\n')

  it.each<[string, Record<string, string>, string, string]>([
    ['DEFAULT', {}, 'file-tenancy/file-user/33:44', 'us-phoenix-1'],
    ['the profile of the CLI', { OCI_CLI_PROFILE: 'LONDON' }, 'file-tenancy/london-user/33:44', 'uk-london-1'],
    [
      'the profile of the provider first',
      { OCI_CLI_PROFILE: 'BARE', TF_VAR_config_file_profile: 'LONDON' },
      'file-tenancy/london-user/33:44',
      'uk-london-1',
    ],
    ['with another region', { OCI_REGION: 'eu-frankfurt-1' }, 'file-tenancy/file-user/33:44', 'eu-frankfurt-1'],
    ['with a user from variables, whole', { ...OWN }, 'tenancy/user/11:22', 'us-phoenix-1'],
    ['but not half a user', { TF_VAR_user_ocid: 'user' }, 'file-tenancy/file-user/33:44', 'us-phoenix-1'],
  ])('%s', async (_name, env, key_id, region) => {
    const path = await folderWith({ own: CONFIG })
    expect(await asked({ OCI_CONFIG_FILE: path('own'), ...env })).toEqual({ key_id, region })
  })

  it('may call the pass phrase passphrase', async () => {
    const { pass_phrase, ...others } = KEYS
    const own = profile('DEFAULT', { ...others, passphrase: pass_phrase, region: 'us-phoenix-1' })
    const path = await folderWith({ own })
    expect(await asked({ OCI_CONFIG_FILE: path('own') })).toMatchObject(FROM_FILE)
  })

  it('lies at home', async () => {
    const path = await folderWith({})
    await mkdir(path('.oci'))
    await writeFile(path('.oci/config'), CONFIG)
    for (const more of [{}, { OCI_CONFIG_FILE: '~/.oci/config' }])
      expect(await asked({ HOME: path('.'), ...more })).toMatchObject(FROM_FILE)
  })

  it.each<[string, Record<string, string>, RegExp]>([
    ['a profile takes nothing over from DEFAULT', { OCI_CLI_PROFILE: 'BARE' }, /^no OCI credentials configured/],
    [
      'a missing profile',
      { OCI_CLI_PROFILE: 'NOPE' },
      /^the OCI configuration file has no such profile as was asked for$/,
    ],
  ])('%s', async (_name, env, expected) => {
    const path = await folderWith({ own: CONFIG })
    expect(await errorOf({ OCI_CONFIG_FILE: path('own'), ...env })).toMatch(expected)
  })

  it('that is named and not there is an error, rubbish in it is not used', async () => {
    const path = await folderWith({ rubbish: '\u0000\u0001 = x\nuser = nobody\n[DEFAULT\n=\n' })
    expect(await errorOf({ OCI_CONFIG_FILE: path('none') })).toBe('the file that OCI_CONFIG_FILE names cannot be read')
    expect(await errorOf({ OCI_CONFIG_FILE: path('rubbish') })).toMatch(/^no OCI credentials configured/)
  })
})

describe('a security token', () => {
  const session = async (more: Record<string, string> = {}) => {
    const path = await folderWith({ token: 'session-token\n' })
    const own = { key_file: fixture('client.pem'), security_token_file: path('token'), region: 'us-phoenix-1' }
    await writeFile(path('config'), profile('SESSION', { ...own, ...more }))
    return { OCI_AUTH: 'SecurityToken', OCI_CLI_PROFILE: 'SESSION', OCI_CONFIG_FILE: path('config') }
  }
  it('of the CLI', async () => {
    expect(await asked(await session())).toEqual({ key_id: 'ST$session-token', region: 'us-phoenix-1' })
  })

  it('does not come back in an error', async () => {
    const search = 'https://query.us-phoenix-1.oci.oraclecloud.com/20180409/resources'
    at(search, refused(401, { message: 'Token session-token expired' }))
    const { shown } = await outcome(ociInventory, SCOPE, await session())
    expect(shown).toContain('401 from OCI Search: Token (sensitive value) expired')
    expect(shown).not.toContain('session-token')
  })

  it.each([
    ['', 'the OCI profile has no security_token_file, which the auth SecurityToken needs'],
    ['/nowhere/token', cannotRead('security_token_file')],
  ])('with the file %j is an error', async (security_token_file, expected) => {
    expect(await errorOf(await session({ security_token_file }))).toBe(expected)
  })
})

describe('a resource principal', () => {
  const PRINCIPAL = {
    TF_VAR_auth: 'ResourcePrincipal',
    OCI_RESOURCE_PRINCIPAL_VERSION: '2.2',
    OCI_RESOURCE_PRINCIPAL_REGION: 'uk-london-1',
  }
  it('in variables', async () => {
    const own = { OCI_RESOURCE_PRINCIPAL_RPST: 'session-token', OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM: PRIVATE_PEM }
    const env = { ...PRINCIPAL, ...own }
    expect(await asked(env)).toEqual({ key_id: 'ST$session-token', region: 'uk-london-1' })
    expect(await asked({ ...env, ...REGION })).toMatchObject({ region: 'eu-frankfurt-1' })
  })

  it('in files', async () => {
    const path = await folderWith({ token: 'session-token\n', phrase: 'pass-phrase\n' })
    const env = {
      OCI_RESOURCE_PRINCIPAL_RPST: path('token'),
      OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM: fixture('client-encrypted.pem'),
      OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM_PASSPHRASE: path('phrase'),
    }
    expect(await asked({ ...PRINCIPAL, ...env })).toEqual({ key_id: 'ST$session-token', region: 'uk-london-1' })
  })

  it.each<[Record<string, string>, string]>([
    [{ VERSION: '3.0' }, 'scope discovery for OCI needs OCI_RESOURCE_PRINCIPAL_VERSION 2.2'],
    [{}, 'OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM is not set, which the auth ResourcePrincipal needs'],
    [{ PRIVATE_PEM }, 'OCI_RESOURCE_PRINCIPAL_RPST is not set, which the auth ResourcePrincipal needs'],
    [{ REGION: '' }, 'OCI_REGION is not set'],
  ])('with %j is an error', async (values, expected) => {
    const env = Object.entries(values).map(([name, value]) => [`OCI_RESOURCE_PRINCIPAL_${name}`, value])
    expect(await errorOf({ ...PRINCIPAL, ...Object.fromEntries(env) })).toBe(expected)
  })
})
