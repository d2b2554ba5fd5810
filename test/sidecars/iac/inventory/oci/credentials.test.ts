import { createPrivateKey } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { ociInventory } from '../../../../../sidecars/iac/inventory/oci/index.ts'
import { type Call, fixture, folderWith, outcome, outsideWorld, PRIVATE_PEM, refused } from '../outside.ts'
import { verified } from './verified.ts'

const at = outsideWorld()
const SCOPE = 'ocid1.compartment.oc1..aaaaaaaaexample'
const ENCRYPTED_PEM = await readFile(fixture('client-encrypted.pem'), 'utf8')
const PKCS1_PEM = createPrivateKey(PRIVATE_PEM).export({ format: 'pem', type: 'pkcs1' }).toString()
const OWN = { TF_VAR_tenancy_ocid: 'tenancy', TF_VAR_user_ocid: 'user', TF_VAR_fingerprint: '11:22' }
const REGION = { TF_VAR_region: 'eu-frankfurt-1' }

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
  ])('%s', async (_name, key) => {
    expect(await asked({ ...OWN, ...REGION, ...key })).toEqual({
      key_id: 'tenancy/user/11:22',
      region: 'eu-frankfurt-1',
    })
  })

  it('TF_VAR_ goes before OCI_', async () => {
    const env = { OCI_TENANCY_OCID: 'other', OCI_REGION: 'uk-london-1', TF_VAR_private_key: PRIVATE_PEM }
    expect(await asked({ ...OWN, ...REGION, ...env })).toEqual({
      key_id: 'tenancy/user/11:22',
      region: 'eu-frankfurt-1',
    })
  })

  it.each<[string, Record<string, string>, RegExp]>([
    ['nothing', {}, /^no OCI credentials configured for scope discovery; set OCI_TENANCY_OCID, /],
    [
      'no key',
      { ...OWN, ...REGION },
      /^no OCI private key: neither OCI_PRIVATE_KEY, OCI_PRIVATE_KEY_PATH nor key_file of the profile is set$/,
    ],
    [
      'a wrong passphrase',
      { ...OWN, ...REGION, OCI_PRIVATE_KEY: ENCRYPTED_PEM, OCI_PRIVATE_KEY_PASSWORD: 'wrong-one' },
      /^OCI_PRIVATE_KEY is no RSA private key in PEM, or its passphrase does not open it$/,
    ],
    [
      'no passphrase',
      { ...OWN, ...REGION, OCI_PRIVATE_KEY: ENCRYPTED_PEM },
      /^OCI_PRIVATE_KEY is no RSA private key in PEM/,
    ],
    [
      'rubbish for a key',
      { ...OWN, ...REGION, OCI_PRIVATE_KEY: 'PRIVATE KEY' },
      /^OCI_PRIVATE_KEY is no RSA private key in PEM/,
    ],
    [
      'a file that is not there',
      { ...OWN, ...REGION, OCI_PRIVATE_KEY_PATH: '/nowhere/key.pem' },
      /^the file that OCI_PRIVATE_KEY_PATH names cannot be read \(ENOENT\)$/,
    ],
    [
      'an id that breaks out',
      { ...OWN, ...REGION, TF_VAR_user_ocid: 'a",keyId="b', OCI_PRIVATE_KEY: PRIVATE_PEM },
      /^the OCI credentials hold characters that no key id has$/,
    ],
    ['no region', { ...OWN, OCI_PRIVATE_KEY: PRIVATE_PEM }, /^OCI_REGION is not set$/],
    [
      'another auth',
      { OCI_AUTH: 'OKEWorkloadIdentity' },
      /^scope discovery for OCI knows the auth ApiKey, SecurityToken, ResourcePrincipal and InstancePrincipal/,
    ],
  ])('%s is an error', async (_name, env, expected) => {
    expect(await errorOf(env)).toMatch(expected)
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
    const path = await folderWith({
      own: profile('DEFAULT', { ...others, passphrase: pass_phrase, region: 'us-phoenix-1' }),
    })
    expect(await asked({ OCI_CONFIG_FILE: path('own') })).toMatchObject({ key_id: 'file-tenancy/file-user/33:44' })
  })

  it('lies at home', async () => {
    const path = await folderWith({})
    await mkdir(path('.oci'))
    await writeFile(path('.oci/config'), CONFIG)
    expect(await asked({ HOME: path('.') })).toMatchObject({ key_id: 'file-tenancy/file-user/33:44' })
    expect(await asked({ HOME: path('.'), OCI_CONFIG_FILE: '~/.oci/config' })).toMatchObject({
      key_id: 'file-tenancy/file-user/33:44',
    })
  })

  it.each<[string, Record<string, string>, RegExp]>([
    ['a profile takes nothing over from DEFAULT', { OCI_CLI_PROFILE: 'BARE' }, /^no OCI credentials configured/],
    [
      'a profile that is not there',
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
    const values = {
      key_file: fixture('client.pem'),
      security_token_file: path('token'),
      region: 'us-phoenix-1',
      ...more,
    }
    await writeFile(path('config'), profile('SESSION', values))
    return { OCI_AUTH: 'SecurityToken', OCI_CLI_PROFILE: 'SESSION', OCI_CONFIG_FILE: path('config') }
  }
  it('of the CLI', async () => {
    expect(await asked(await session())).toEqual({ key_id: 'ST$session-token', region: 'us-phoenix-1' })
  })

  it('does not come back in an error', async () => {
    at(
      'https://query.us-phoenix-1.oci.oraclecloud.com/20180409/resources',
      refused(401, { message: 'Token session-token expired' }),
    )
    const { shown } = await outcome(ociInventory, SCOPE, await session())
    expect(shown).toContain('401 from OCI Search: Token (sensitive value) expired')
    expect(shown).not.toContain('session-token')
  })

  it.each<[string, Record<string, string>, string]>([
    [
      'no file',
      { security_token_file: '' },
      'the OCI profile has no security_token_file, which the auth SecurityToken needs',
    ],
    [
      'a file that is not there',
      { security_token_file: '/nowhere/token' },
      'the file that security_token_file names cannot be read (ENOENT)',
    ],
  ])('with %s is an error', async (_name, values, expected) => {
    expect(await errorOf(await session(values))).toBe(expected)
  })
})

describe('a resource principal', () => {
  const PRINCIPAL = {
    TF_VAR_auth: 'ResourcePrincipal',
    OCI_RESOURCE_PRINCIPAL_VERSION: '2.2',
    OCI_RESOURCE_PRINCIPAL_REGION: 'uk-london-1',
  }
  it('in variables', async () => {
    const env = {
      ...PRINCIPAL,
      OCI_RESOURCE_PRINCIPAL_RPST: 'session-token',
      OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM: PRIVATE_PEM,
    }
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

  it.each<[string, Record<string, string>, string]>([
    [
      'another version',
      { OCI_RESOURCE_PRINCIPAL_VERSION: '3.0' },
      'scope discovery for OCI needs OCI_RESOURCE_PRINCIPAL_VERSION 2.2',
    ],
    ['no key', {}, 'OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM is not set, which the auth ResourcePrincipal needs'],
    [
      'no token',
      { OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM: PRIVATE_PEM },
      'OCI_RESOURCE_PRINCIPAL_RPST is not set, which the auth ResourcePrincipal needs',
    ],
    ['no region', { OCI_RESOURCE_PRINCIPAL_REGION: '' }, 'OCI_REGION is not set'],
  ])('with %s is an error', async (_name, env, expected) => {
    expect(await errorOf({ ...PRINCIPAL, ...env })).toBe(expected)
  })
})
