import { createHash, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnsecuredJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readOciAccess } from '../../../../sidecars/iac/inventory/oci/credentials.ts'
import { fixture } from '../../../sidecars/iac/inventory/outside.ts'
import { inventoryRequest } from '../../../sidecars/iac/inventory/request.ts'
import { readWithSdk } from './reader.ts'

const program = () => {
  if (!process.env.WORLD_OCI) throw new Error('WORLD_OCI is not set; use npm run world -- --only oci')
  return process.env.WORLD_OCI
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = (type: 'pkcs1' | 'pkcs8', cipher?: string) =>
  privateKey.export({ format: 'pem', type, ...(cipher ? { cipher, passphrase: 'phrase' } : {}) }).toString()
const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' })

/** Files that lie beside the configuration file. `{}` in a text stands for their folder. */
const FILES: Record<string, string> = {
  pkcs1: pem('pkcs1'),
  pkcs8: pem('pkcs8'),
  labelled: `${pem('pkcs8')}OCI_API_KEY\n`,
  'pkcs1-encrypted': pem('pkcs1', 'aes-128-cbc'),
  'pkcs8-encrypted': pem('pkcs8', 'aes-256-cbc'),
  ec: String(EC),
  rubbish: 'no key',
  token: 'session-token',
  phrase: 'phrase',
}

const profile = (fields: Record<string, string>, name = 'DEFAULT') =>
  [`[${name}]`, ...Object.entries(fields).map(([key, value]) => `${key}=${value}`), ''].join('\n')
const FIELDS = { tenancy: 'T', user: 'U', fingerprint: '11:22', key_file: '{}/pkcs8', region: 'eu-frankfurt-1' }
const SESSION = {
  key_file: '{}/pkcs8',
  security_token_file: '{}/token',
  region: 'us-phoenix-1',
  tenancy: 'T',
  fingerprint: '1',
}
const without = (name: string, fields: Record<string, string> = FIELDS) =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => key !== name))

type Row = [name: string, config: string, env?: Record<string, string>]

const API_KEYS: Row[] = [
  ['as the CLI writes it', profile(FIELDS)],
  ['with a key in the older form', profile({ ...FIELDS, key_file: '{}/pkcs1' })],
  ['with a key that has a label', profile({ ...FIELDS, key_file: '{}/labelled' })],
  ['with a pass phrase', profile({ ...FIELDS, key_file: '{}/pkcs1-encrypted', pass_phrase: 'phrase' })],
  ['with a passphrase', profile({ ...FIELDS, key_file: '{}/pkcs1-encrypted', passphrase: 'phrase' })],
  [
    'with a pass phrase for the newer form',
    profile({ ...FIELDS, key_file: '{}/pkcs8-encrypted', pass_phrase: 'phrase' }),
  ],
  ['with a wrong pass phrase', profile({ ...FIELDS, key_file: '{}/pkcs1-encrypted', pass_phrase: 'wrong' })],
  ['without the pass phrase', profile({ ...FIELDS, key_file: '{}/pkcs1-encrypted' })],
  ['with a key of another kind', profile({ ...FIELDS, key_file: '{}/ec' })],
  ['with rubbish for a key', profile({ ...FIELDS, key_file: '{}/rubbish' })],
  ['with a key that is not there', profile({ ...FIELDS, key_file: '{}/gone' })],
  ...Object.keys(FIELDS).map((name): Row => [`without ${name}`, profile(without(name))]),
  ['with lines of Windows', profile(FIELDS).replaceAll('\n', '\r\n')],
  ['with blanks', profile(FIELDS).replaceAll('=', ' = ')],
  ['with comments', `# one\n${profile(FIELDS).replace('user=', '# user=X\nuser=')}`],
  [
    'with capitals',
    profile(Object.fromEntries(Object.entries(FIELDS).map(([key, value]) => [key.toUpperCase(), value]))),
  ],
  ['with a line that says nothing', profile(FIELDS).replace('user=', 'nothing\nuser=')],
  ['of a profile', profile(FIELDS) + profile({ ...FIELDS, user: 'V' }, 'OTHER'), { OCI_CLI_PROFILE: 'OTHER' }],
  ['of an empty file', ''],
]
/** The client goes on with the profile DEFAULT, which is somebody else than was asked for. */
const REFUSED: Row[] = [
  ['of a profile without a user', profile(FIELDS) + profile(without('user'), 'OTHER'), { OCI_CLI_PROFILE: 'OTHER' }],
  ['of a profile that is not there', profile(FIELDS), { OCI_CLI_PROFILE: 'NONE' }],
  ['of a profile that is empty', `[OTHER]\n${profile(FIELDS)}`, { OCI_CLI_PROFILE: 'OTHER' }],
]
const SESSIONS: Row[] = [
  ['as the CLI leaves it', profile(SESSION)],
  [
    'with a pass phrase',
    profile({ ...SESSION, key_file: '{}/pkcs1-encrypted' }),
    { OCI_PRIVATE_KEY_PASSWORD: 'phrase' },
  ],
  ['without its token', profile(without('security_token_file', SESSION))],
  ['with a token that is not there', profile({ ...SESSION, security_token_file: '{}/gone' })],
  ['without a key', profile(without('key_file', SESSION))],
]
const later = Math.floor(Date.now() / 1000) + 3_600
const TOKEN = new UnsecuredJWT({ jti: 'session' }).setExpirationTime(later).encode()

/** The readings of both; refusals are equal, whatever their words are. */
async function compare(auth: string, config: string, env: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'world-oci-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const placed = (text: string) => text.replaceAll('{}', folder)
  for (const [name, text] of Object.entries({ ...FILES, config, rpst: TOKEN }))
    await writeFile(join(folder, name), placed(text))
  const surroundings = {
    HOME: folder,
    OCI_AUTH: auth,
    OCI_CONFIG_FILE: join(folder, 'config'),
    ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, placed(value)])),
  }
  const told = await readWithSdk(program(), surroundings)
  const ours = await access(surroundings).catch((error: Error) => ({ refused: error.name }))
  const { error, key_id, key, region } = told
  return { theirs: error === undefined ? { key_id, key, region } : { refused: 'InventoryError' }, ours }
}

async function access(env: Record<string, string>) {
  const { region, signer } = await readOciAccess(inventoryRequest('world', env), 'oc1')
  const { keyId, key } = await signer()
  return { key_id: keyId, key: digest(createPublicKey(key).export({ format: 'der', type: 'spki' })), region }
}
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

describe('an API key', () => {
  it.each(API_KEYS)('%s', async (_name, config, env) => {
    const { theirs, ours } = await compare('ApiKey', config, env)
    expect(ours).toEqual(theirs)
  })
})

describe('an API key that the client takes from another profile', () => {
  it.each(REFUSED)('%s is refused', async (_name, config, env) => {
    const { theirs, ours } = await compare('ApiKey', config, env)
    expect(ours).toEqual({ refused: 'InventoryError' })
    expect(theirs).toMatchObject({ key_id: 'T/U/11:22' })
  })
})

describe('a session', () => {
  it.each(SESSIONS)('%s', async (_name, config, env) => {
    const { theirs, ours } = await compare('SecurityToken', config, env)
    expect(ours).toEqual(theirs)
  })
})

describe('the principal of a resource', () => {
  const P = 'OCI_RESOURCE_PRINCIPAL'
  const BASE = { [`${P}_VERSION`]: '2.2', [`${P}_REGION`]: 'uk-london-1', [`${P}_RPST`]: TOKEN }
  it.each<[string, Record<string, string>]>([
    ['in variables', { ...BASE, [`${P}_PRIVATE_PEM`]: pem('pkcs1') }],
    ['in files', { ...BASE, [`${P}_RPST`]: '{}/rpst', [`${P}_PRIVATE_PEM`]: '{}/pkcs1' }],
    [
      'with a pass phrase in a file',
      {
        ...BASE,
        [`${P}_RPST`]: '{}/rpst',
        [`${P}_PRIVATE_PEM`]: '{}/pkcs1-encrypted',
        [`${P}_PRIVATE_PEM_PASSPHRASE`]: '{}/phrase',
      },
    ],
    ['without a key', BASE],
    ['of another version', { ...BASE, [`${P}_VERSION`]: '9', [`${P}_PRIVATE_PEM`]: pem('pkcs1') }],
  ])('%s', async (_name, env) => {
    const { theirs, ours } = await compare('ResourcePrincipal', '', env)
    expect(ours).toEqual(theirs)
  })
})

it('the principal of a resource without a region is refused, though the client finds that out later', async () => {
  const P = 'OCI_RESOURCE_PRINCIPAL'
  const env = { [`${P}_VERSION`]: '2.2', [`${P}_RPST`]: TOKEN, [`${P}_PRIVATE_PEM`]: pem('pkcs1') }
  const { theirs, ours } = await compare('ResourcePrincipal', '', { ...env, [`${P}_REGION`]: '' })
  expect(ours).toEqual({ refused: 'InventoryError' })
  expect(theirs).toMatchObject({ region: '' })
})

it('the principal of an instance asks for its token as the client does', async () => {
  const text = await readFile(fixture('instance.pem'), 'utf8')
  const at = text.indexOf('-----BEGIN CERTIFICATE')
  const metadata: Record<string, string> = {
    region: 'eu-frankfurt-1',
    canonicalRegionName: 'eu-frankfurt-1',
    'cert.pem': text.slice(at),
    'key.pem': text.slice(0, at),
    'intermediate.pem': text.slice(at),
  }
  const server = createServer(({ url = '' }, response) => response.end(metadata[url.split('/').at(-1) ?? ''] ?? ''))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const told = await readWithSdk(program(), {
    OCI_AUTH: 'InstancePrincipal',
    OCI_METADATA_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    WORLD_OCI_TOKEN: TOKEN,
  })
  expect(told.error).toBeUndefined()
  const asked = { url: '', authorization: '', body: {} as Record<string, unknown> }
  const request = inventoryRequest(
    'world',
    { OCI_AUTH: 'InstancePrincipal' },
    {
      fetch: async (input, init) => {
        const url = String(input instanceof Request ? input.url : input)
        const file = metadata[url.split('/').at(-1) ?? '']
        if (file !== undefined) return new Response(file)
        asked.url = url
        asked.authorization = new Headers(init?.headers).get('authorization') ?? ''
        asked.body = JSON.parse(String(init?.body))
        return Response.json({ token: TOKEN })
      },
    },
  )
  const { region, signer } = await readOciAccess(request, 'oc1')
  expect({ region, key_id: (await signer()).keyId }).toEqual({ region: told.region, key_id: told.key_id })
  const form = ({ url, authorization, body: { publicKey, ...body } }: typeof asked) => ({
    url,
    key_id: /keyId="([^"]+)"/.exec(authorization)?.[1],
    signed: /headers="([^"]+)"/.exec(authorization)?.[1]?.split(' ').toSorted(),
    body,
    // A key of this one discovery.
    key: createPublicKey({ key: Buffer.from(String(publicKey), 'base64'), format: 'der', type: 'spki' })
      .asymmetricKeyType,
  })
  expect(form(asked)).toEqual(form(told.asked ?? asked))
  expect(told.asked?.url).toContain('/v1/x509')
})
