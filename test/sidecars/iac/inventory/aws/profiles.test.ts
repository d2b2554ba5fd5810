import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HttpResponse, http } from 'msw'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAwsClient } from '../../../../../sidecars/iac/inventory/aws/client.ts'
import { fromProcess } from '../../../../../sidecars/iac/inventory/aws/profiles.ts'
import { interceptRequests } from '../../../../helpers/intercept.ts'
import { temporaryFolder } from '../../service.ts'
import { inventoryRequest } from '../request.ts'

const outside = interceptRequests()
afterEach(() => vi.unstubAllEnvs())

const ACCOUNT = '123456789012'
const LATER = new Date(Date.now() + 3_600_000)
const KEYS = { Version: 1, AccessKeyId: 'AKIDPROGRAM', SecretAccessKey: 'secret', SessionToken: 'token' }
const START = 'https://corp.awsapps.com/start'
const print = (keys: object) => `echo '${JSON.stringify(keys)}'`

/** Plays the token service. Returns the key ids that signed its calls. */
function tokenService(): string[] {
  const seen: string[] = []
  outside.use(
    http.post('https://sts.eu-west-1.amazonaws.com/', ({ request }) => {
      seen.push(/Credential=([^/]+)/.exec(request.headers.get('authorization') ?? '')?.[1] ?? '')
      return HttpResponse.xml(`<R><Account>${ACCOUNT}</Account></R>`)
    }),
  )
  return seen
}

async function profile(text: string) {
  const folder = await temporaryFolder()
  const config = join(folder, 'config')
  await writeFile(config, `[profile corp]\n${text}\n`)
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    AWS_REGION: 'eu-west-1',
    AWS_PROFILE: 'corp',
    AWS_CONFIG_FILE: config,
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none'),
  }
  const request = inventoryRequest(ACCOUNT, env)
  const account = () =>
    createAwsClient(request)
      .account()
      .catch((error: Error) => `${error.name}: ${error.message}`)
  return { folder, request, account }
}

describe('credential_process', () => {
  it('gives the keys that sign', async () => {
    const seen = tokenService()
    const { account } = await profile(`credential_process = ${print({ ...KEYS, Expiration: LATER })}`)
    expect(await account()).toBe(ACCOUNT)
    expect(seen).toEqual(['AKIDPROGRAM'])
  })
  it.each([
    ['echo leaked-secret >&2; exit 3', 'failed with exit code 3; run the command by hand to see why'],
    ['echo leaked-secret', 'does not print the JSON of Version 1 with AccessKeyId and SecretAccessKey'],
    [print({ ...KEYS, Expiration: '2020-01-01T00:00:00Z' }), 'prints credentials that have expired'],
  ])('says what is wrong with %s and shows no output', async (command, reason) => {
    const { account } = await profile(`credential_process = ${command}`)
    expect(await account()).toBe(
      `InventoryError: no AWS credentials for scope discovery: the credential_process of profile corp ${reason}`,
    )
  })
  it('ends a program that does not end', async () => {
    const { request } = await profile('')
    await expect(fromProcess(request, 'corp', 'exec sleep 20', 200)).rejects.toThrow(
      'the credential_process of profile corp gave no answer within 0.2 s',
    )
  })
  it('ends what the program has started as well', async () => {
    const { request, folder } = await profile('')
    const command = `sleep 60 & echo $! > ${join(folder, 'child')}; wait`
    await expect(fromProcess(request, 'corp', command, 500)).rejects.toThrow('gave no answer within 0.5 s')
    const child = Number(await readFile(join(folder, 'child'), 'utf8'))
    expect(child).toBeGreaterThan(1)
    await vi.waitFor(() => expect(() => process.kill(child, 0)).toThrow('ESRCH'), 5_000)
  })
  it('is given the environment of the request and nothing else of the process', async () => {
    vi.stubEnv('OF_THE_SERVICE', 'private')
    const { request } = await profile('')
    const command = `test -z "$OF_THE_SERVICE" && ${print(KEYS)}`
    expect((await fromProcess(request, 'corp', command)).access_key).toBe('AKIDPROGRAM')
  })
})

describe('single sign-on', () => {
  const settings = (region = 'eu-west-1') =>
    `sso_session = work\nsso_account_id = ${ACCOUNT}\nsso_role_name = reader\n` +
    `[sso-session work]\nsso_start_url = ${START}\nsso_region = ${region}`
  async function signedIn(text: string, expires = LATER) {
    const made = await profile(text)
    vi.stubEnv('HOME', made.folder)
    await mkdir(join(made.folder, '.aws/sso/cache'), { recursive: true })
    const name = createHash('sha1').update('work').digest('hex')
    const session = { accessToken: 'session-of-alice', expiresAt: expires.toISOString(), startUrl: START }
    await writeFile(join(made.folder, `.aws/sso/cache/${name}.json`), JSON.stringify(session))
    return made
  }
  const portal = 'https://portal.sso.eu-west-1.amazonaws.com/federation/credentials'

  it('gives the keys of the role', async () => {
    const seen = tokenService()
    let asked = ''
    outside.use(
      http.get(portal, ({ request }) => {
        asked = `${new URL(request.url).search} ${request.headers.get('x-amz-sso_bearer_token')}`
        const keys = { accessKeyId: 'AKIDROLE', secretAccessKey: 's', sessionToken: 't', expiration: LATER.getTime() }
        return HttpResponse.json({ roleCredentials: keys })
      }),
    )
    const { account } = await signedIn(settings())
    expect(await account()).toBe(ACCOUNT)
    expect(seen).toEqual(['AKIDROLE'])
    expect(asked).toBe(`?role_name=reader&account_id=${ACCOUNT} session-of-alice`)
  })
  const REFUSED =
    'InventoryError: no AWS credentials for scope discovery: profile corp has no valid session of single sign-on: ' +
    'run `aws sso login --profile corp` as the user of this service and check its sso_ settings'
  it('says what to do when the session has expired', async () => {
    const { account } = await signedIn(settings(), new Date(0))
    expect(await account()).toBe(REFUSED)
  })
  it('says what to do when the session is refused, without its token', async () => {
    outside.use(http.get(portal, () => HttpResponse.json({ message: 'session-of-alice' }, { status: 401 })))
    const { account } = await signedIn(settings())
    expect(await account()).toBe(REFUSED)
  })
  it.each([
    'evil.example/',
    'x@evil.example',
    '10.0.0.1:80/',
  ])('asks no host that the region %s makes', async (region) => {
    const { account } = await signedIn(settings(region))
    expect(await account()).toBe(REFUSED)
  })
})
