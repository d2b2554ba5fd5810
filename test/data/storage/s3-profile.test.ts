import { describe, expect, it } from 'vitest'
import { interceptRequests, recordRequests } from '../../helpers/intercept.ts'
import { assumed, CONTAINER, chainStore, INSTANCE, instance, noCredentials, role, STS, signedBy } from './aws.ts'

const outside = interceptRequests()

const keys = (name: string) => `aws_access_key_id=AKIA${name}\naws_secret_access_key=s\n`
const profile = (name: string, files: { credentials?: string; config?: string }) =>
  chainStore(
    { HOME: '/h', AWS_PROFILE: name },
    { '/h/.aws/credentials': files.credentials ?? '', '/h/.aws/config': files.config ?? '', '/token': 'a.b.c' },
  )

describe('shared files', () => {
  it.each([
    ['', `[default]\n${keys('DEFAULT')}`, '', 'AKIADEFAULT'],
    ['dev', `[default]\n${keys('DEFAULT')}[dev]\n${keys('DEV')}aws_session_token = t=/+\n`, '', 'AKIADEV t=/+'],
    ['dev', '', `[profile dev]\nregion = x\n${keys('CONFIG')}`, 'AKIACONFIG'],
    ['dev', `[dev]\n${keys('CREDENTIALS')}`, `[profile dev]\n${keys('CONFIG')}`, 'AKIACREDENTIALS'],
    ['my team', '', `[profile "my team"]\n${keys('QUOTED')}`, 'AKIAQUOTED'],
    ['', '', `[default]\n${keys('PLAIN')}`, 'AKIAPLAIN'],
    [
      'dev',
      '',
      '# [profile dev]\r\n[profile  dev] ; mine\r\ns3 =\r\n  aws_access_key_id = nested\r\n' +
        'AWS_ACCESS_KEY_ID = AKIACRLF # mine\r\naws_secret_access_key = s\r\n',
      'AKIACRLF',
    ],
  ])('profile %j of %j and %j', async (name, credentials, config, expected) => {
    expect(await signedBy((await profile(name, { credentials, config })).store)).toBe(expected)
  })

  it('are where the variables say', async () => {
    const env = { HOME: '/h', AWS_SHARED_CREDENTIALS_FILE: '/etc/keys' }
    const files = { '/etc/keys': `[default]\n${keys('NAMED')}`, '/h/.aws/credentials': `[default]\n${keys('HOME')}` }
    expect(await signedBy((await chainStore(env, files)).store)).toBe('AKIANAMED')
  })

  it('without a default profile, or with one that names no credentials, are passed over', async () => {
    recordRequests(outside, INSTANCE, instance())
    for (const config of ['', `[other]\n${keys('OTHER')}`, '[default]\nregion = eu-west-1\n'])
      expect(await signedBy((await profile('', { config })).store)).toBe('ASIAINSTANCE INSTANCE-token')
  })

  it.each([
    ['gone', '', 'profile gone of AWS_PROFILE is in neither of the shared files'],
    ['half', '[profile half]\naws_access_key_id = a\n', 'profile half has one of two keys'],
    ['sso', '[profile sso]\nsso_session = corp\n', 'profile sso uses sso_session, which is not supported here'],
    [
      'run',
      '[profile run]\ncredential_process = /bin/keys\n',
      'profile run uses credential_process, which is not supported here',
    ],
    ['r', '[profile r]\nrole_arn = arn\n', 'profile r has a role without source_profile or a known credential_source'],
    [
      'r',
      '[profile r]\nrole_arn = arn\nsource_profile = s\n',
      'profile s, a source_profile, is in neither of the shared files',
    ],
    [
      'r',
      '[profile r]\nrole_arn = arn\nsource_profile = s\n[profile s]\nregion = x\n',
      'profile r has a role, but its source has no credentials',
    ],
    [
      'a',
      '[profile a]\nrole_arn = x\nsource_profile = b\n[profile b]\nrole_arn = y\nsource_profile = a\n',
      'profile a leads back to itself through source_profile',
    ],
    [
      'm',
      '[profile m]\nrole_arn = x\nsource_profile = m\nmfa_serial = y\n',
      'profile m uses mfa_serial, which is not supported here',
    ],
    [
      'w',
      '[profile w]\nrole_arn = x\nweb_identity_token_file = /none\n',
      'the web_identity_token_file of profile w is missing or empty',
    ],
  ])('profile %s of %j is a clear error', async (name, config, reason) => {
    const { store } = await profile(name, { config })
    await expect(signedBy(store)).rejects.toMatchObject(noCredentials(reason))
  })

  it('that cannot be read are a clear error without the path', async () => {
    const { store } = await chainStore(
      { HOME: '/h' },
      { '/h/.aws/credentials': Object.assign(new Error('/h'), { code: 'EACCES' }) },
    )
    await expect(signedBy(store)).rejects.toThrow(
      'No credentials for the object store: the shared credentials file cannot be read (EACCES).',
    )
  })
})

describe('a profile with a role', () => {
  const answer = (request: Request) =>
    request.headers.has('authorization') ? assumed('AssumeRole', 'ROLE') : assumed('AssumeRoleWithWebIdentity', 'WEB')

  it('assumes it with the keys of its source', async () => {
    const sts = recordRequests(outside, STS, answer)
    const config =
      '[profile r]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = s\nexternal_id = e\nrole_session_name = n\n'
    const { store } = await profile('r', { config, credentials: `[s]\n${keys('SOURCE')}aws_session_token = st\n` })
    expect(await signedBy(store)).toBe('ASIAROLE ROLE-token')
    expect(sts[0]?.form).toEqual({
      Action: 'AssumeRole',
      Version: '2011-06-15',
      RoleArn: 'arn:aws:iam::1:role/r',
      RoleSessionName: 'n',
      ExternalId: 'e',
    })
    expect(sts[0]?.headers.get('authorization')).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIASOURCE\/\d{8}\/eu-west-1\/sts\/aws4_request, /,
    )
    expect(sts[0]?.headers.get('x-amz-security-token')).toBe('st')
  })

  it('assumes one after the other along a chain of sources', async () => {
    const sts = recordRequests(outside, STS, answer)
    const config = '[profile a]\nrole_arn = A\nsource_profile = b\n[profile b]\nrole_arn = B\nsource_profile = b\n'
    await signedBy((await profile('a', { config, credentials: `[b]\n${keys('OWN')}` })).store)
    expect(
      sts.map(({ form, headers }) => [form.RoleArn, headers.get('authorization')?.match(/Credential=(\w+)/)?.[1]]),
    ).toEqual([
      ['B', 'AKIAOWN'],
      ['A', 'ASIAROLE'],
    ])
  })

  it.each([
    ['Ec2InstanceMetadata', 'ASIAINSTANCE'],
    ['EcsContainer', 'ASIACONTAINER'],
  ])('assumes it with the credentials of %s', async (source, by) => {
    const sts = recordRequests(outside, STS, answer)
    recordRequests(outside, INSTANCE, instance())
    recordRequests(outside, CONTAINER, () => role('CONTAINER'))
    const { store } = await chainStore(
      { AWS_PROFILE: 'r', AWS_CONFIG_FILE: '/c', AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/x' },
      { '/c': `[profile r]\nrole_arn = arn\ncredential_source = ${source}\n` },
    )
    expect(await signedBy(store)).toBe('ASIAROLE ROLE-token')
    expect(sts[0]?.headers.get('authorization')).toContain(`Credential=${by}/`)
    expect(sts[0]?.form.RoleSessionName).toMatch(/^platform-\d+$/)
  })

  it('assumes it with a token file', async () => {
    const sts = recordRequests(outside, STS, answer)
    const { store } = await profile('w', { config: '[profile w]\nrole_arn = arn\nweb_identity_token_file = /token\n' })
    expect(await signedBy(store)).toBe('ASIAWEB WEB-token')
    expect(sts[0]?.form.WebIdentityToken).toBe('a.b.c')
  })
})
