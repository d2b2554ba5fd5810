import { join } from 'node:path'
import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import { awsInventory } from '../../../../../sidecars/iac/inventory/aws/index.ts'
import { interceptRequests } from '../../../../helpers/intercept.ts'
import { temporaryFolderWith } from '../../service.ts'
import { expectText } from '../outside.ts'
import { inventoryRequest } from '../request.ts'

const outside = interceptRequests()

const ACCOUNT = '123456789012'
const ENV = { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret-of-the-key' }
const VIEW = 'arn:aws:resource-explorer-2:us-east-1:123456789012:view/all/1'

type Body = Record<string, unknown>
/** JSON, or what makes an answer. */
type Reply = Body | ((body: Body) => Response | Body)
type Cloud = Partial<Record<'sts' | 'ListIndexes' | 'GetDefaultView' | 'ListResources', Reply>>

const identity = (account = ACCOUNT) =>
  HttpResponse.xml(
    '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>' +
      `<Arn>arn:aws:iam::${account}:user/Alice</Arn><UserId>AIDACKCEVSQ6C2EXAMPLE</UserId>` +
      `<Account>${account}</Account>` +
      '</GetCallerIdentityResult><ResponseMetadata><RequestId>01234567</RequestId></ResponseMetadata>' +
      '</GetCallerIdentityResponse>',
  )

/** Makes a resource as in the API reference. */
const resource = (arn: string, more: Body = {}) => ({
  Arn: arn,
  LastReportedAt: '2022-01-01T00:00:00.000000+00:00',
  OwningAccountId: ACCOUNT,
  Properties: [],
  Region: 'eu-west-1',
  ResourceType: 's3:bucket',
  Service: 's3',
  ...more,
})
const tagged = (...keys: string[]) => ({
  Properties: [
    { Name: 'tags', LastReportedAt: '2022-01-01T00:00:00Z', Data: keys.map((Key) => ({ Key, Value: 'v' })) },
  ],
})
const index = (Region: string, Type = 'AGGREGATOR') => ({
  Indexes: [{ Arn: `arn:aws:resource-explorer-2:${Region}:1:index/1`, Region, Type }],
})
const listed = (...resources: object[]) => ({ Resources: resources, ViewArn: VIEW })

const answered = (reply: Reply, body: Body): Response => {
  const answer = typeof reply === 'function' ? reply(body) : reply
  return answer instanceof Response ? answer : HttpResponse.json(answer)
}

/** Plays the services of an account whose aggregator index is in us-east-1. Returns the calls as `host operation`. */
function cloud(
  parts: Cloud = {},
  sts = 'https://sts.eu-west-1.amazonaws.com',
  explorer = 'https://resource-explorer-2.:region.amazonaws.com',
) {
  const seen: { call: string; headers: Headers; body: Body }[] = []
  const note = (request: Request, body: Body) => {
    const url = new URL(request.url)
    seen.push({ call: `${request.method} ${url.host}${url.pathname}`, headers: request.headers, body })
  }
  const answer: Required<Cloud> = {
    sts: () => identity(),
    ListIndexes: index('us-east-1'),
    GetDefaultView: { ViewArn: VIEW },
    ListResources: listed(resource('arn:aws:s3:::one')),
    ...parts,
  }
  outside.use(
    http.post(`${sts}/`, async ({ request }) => {
      const body = Object.fromEntries(new URLSearchParams(await request.text()))
      note(request, body)
      return answered(answer.sts, body)
    }),
  )
  const hosts = explorer.includes(':region')
    ? ['eu-west-1', 'us-east-1'].map((region) => explorer.replace(':region', region))
    : [explorer]
  for (const host of hosts)
    for (const operation of ['ListIndexes', 'GetDefaultView', 'ListResources'] as const)
      outside.use(
        http.post(`${host}/${operation}`, async ({ request }) => {
          const body = (await request.json()) as Body
          note(request, body)
          return answered(answer[operation], body)
        }),
      )
  return seen
}

const discover = (env: Record<string, string | undefined> = {}, scope = ACCOUNT) =>
  awsInventory(inventoryRequest(scope, { ...ENV, ...env }))
const failure = (env: Record<string, string | undefined> = {}, scope = ACCOUNT) =>
  discover(env, scope).then(
    (ids) => `no error, but ${ids}`,
    (error: Error) => `${error.name}: ${error.message}`,
  )

describe('an account', () => {
  it('is listed in the region of its aggregator index, with signed calls', async () => {
    const seen = cloud()
    expect(await discover({ AWS_SESSION_TOKEN: 'token-of-the-session' })).toEqual(['arn:aws:s3:::one'])
    expect(seen.map(({ call }) => call)).toEqual([
      'POST sts.eu-west-1.amazonaws.com/',
      'POST resource-explorer-2.eu-west-1.amazonaws.com/ListIndexes',
      'POST resource-explorer-2.us-east-1.amazonaws.com/GetDefaultView',
      'POST resource-explorer-2.us-east-1.amazonaws.com/ListResources',
    ])
    expect(seen.map(({ body }) => body)).toEqual([
      { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      { Type: 'AGGREGATOR' },
      {},
      { MaxResults: 500, ViewArn: VIEW },
    ])
    const scopes = seen.map(
      ({ headers }) =>
        /Credential=AKIDEXAMPLE\/\d{8}\/([^,]+)\/aws4_request,/.exec(headers.get('authorization') ?? '')?.[1],
    )
    expect(scopes).toEqual([
      'eu-west-1/sts',
      'eu-west-1/resource-explorer-2',
      'us-east-1/resource-explorer-2',
      'us-east-1/resource-explorer-2',
    ])
    expect(seen.map(({ headers }) => headers.get('x-amz-security-token'))).toEqual(
      Array(4).fill('token-of-the-session'),
    )
  })

  it('is read page by page, with pages that hold nothing', async () => {
    const pages: Record<string, object> = {
      '': { Resources: [resource('arn:aws:s3:::a')], NextToken: 'two' },
      two: { Resources: [], NextToken: 'three' },
      three: { Resources: [resource('arn:aws:s3:::b')], NextToken: null },
    }
    const seen = cloud({ ListResources: ({ NextToken = '' }) => HttpResponse.json(pages[String(NextToken)] ?? {}) })
    expect(await discover()).toEqual(['arn:aws:s3:::a', 'arn:aws:s3:::b'])
    expect(seen.slice(3).map(({ body }) => body)).toEqual([
      { MaxResults: 500, ViewArn: VIEW },
      { MaxResults: 500, ViewArn: VIEW, NextToken: 'two' },
      { MaxResults: 500, ViewArn: VIEW, NextToken: 'three' },
    ])
  })

  it('has at most two hundred pages', async () => {
    let page = 0
    cloud({ ListResources: () => ({ Resources: [], NextToken: `t${++page}` }) })
    expect(await failure()).toBe('InventoryError: AWS Resource Explorer has more than 200 pages of results')
    expect(page).toBe(200)
  })

  it('is without what services and clusters made for themselves', async () => {
    const role = (name: string, more: Body = {}) =>
      resource(`arn:aws:iam::1:role/${name}`, { ResourceType: 'iam:role', ...more })
    const ofCluster = (key: string) => resource(`arn:aws:ec2:::${key}`, tagged('Name', key))
    cloud({
      ListResources: () =>
        listed(
          resource('arn:aws:s3:::kept', tagged('Name', 'my:aws:tag', 'awsome')),
          resource('arn:aws:s3:::of-another', { OwningAccountId: '210987654321' }),
          resource('arn:aws:ec2:eu-west-1:1:network-interface/eni-1', { ResourceType: 'ec2:network-interface' }),
          role('aws-service-role/ecs.amazonaws.com/AWSServiceRoleForECS'),
          role('aws-reserved/sso.amazonaws.com/AWSReservedSSO_x'),
          ...['aws:cloudformation:stack-id', 'eks:cluster-name', 'kubernetes.io/cluster/x'].map(ofCluster),
          ...['k8s.io/x', 'alpha.eksctl.io/x'].map(ofCluster),
          ...['elbv2.k8s.aws/cluster', 'ingress.k8s.aws/stack', 'service.k8s.aws/stack'].map(ofCluster),
          role('kept', { Properties: [{ Name: 'other', Data: [{ Key: 'eks:x' }] }] }),
        ),
    })
    expect(await discover()).toEqual(['arn:aws:s3:::kept', 'arn:aws:iam::1:role/kept'])
  })

  it.each([
    ['no index', { ListIndexes: { Indexes: [] } }, 'it has no aggregator index'],
    ['a local index only', { ListIndexes: index('eu-west-1', 'LOCAL') }, 'it has no aggregator index'],
    ['no view', { GetDefaultView: {} }, 'the region us-east-1 of its aggregator index has no default view'],
    [
      'an unknown view',
      { GetDefaultView: () => HttpResponse.json({ Message: 'x' }, { status: 404 }) },
      'the region us-east-1 of its aggregator index has no default view',
    ],
  ])('with %s has to enable the service', async (_name, parts, reason) => {
    cloud(parts)
    expect(await failure()).toBe(
      `InventoryError: AWS Resource Explorer is not enabled for account ${ACCOUNT}: ${reason}`,
    )
  })

  it('is told from the one that the credentials belong to, before anything else is asked', async () => {
    const seen = cloud()
    expect(await failure({}, '999999999999')).toBe(
      `InventoryError: AWS credentials belong to account ${ACCOUNT}, not 999999999999`,
    )
    expect(seen).toHaveLength(1)
  })
})

describe('trouble', () => {
  const denied = (action: string) => () =>
    HttpResponse.json(
      { Message: `User: arn:aws:iam::1:user/A is not authorized to perform: resource-explorer-2:${action}` },
      { status: 403, headers: { 'x-amzn-errortype': 'AccessDeniedException' } },
    )
  it.each(['ListIndexes', 'GetDefaultView', 'ListResources'] as const)('%s may be denied', async (operation) => {
    const seen = cloud({ [operation]: denied(operation) })
    expect(await failure()).toBe(
      'RefusedError: 403 from AWS Resource Explorer: User: arn:aws:iam::1:user/A is not authorized to perform: ' +
        `resource-explorer-2:${operation}`,
    )
    expect(seen.filter(({ call }) => call.endsWith(operation))).toHaveLength(1)
  })

  it('keys may be wrong, and the message shows none of them', async () => {
    const xml =
      '<ErrorResponse><Error><Type>Sender</Type><Code>InvalidClientTokenId</Code><Message>The security token ' +
      'included in the request is invalid.</Message></Error></ErrorResponse>'
    cloud({ sts: () => HttpResponse.xml(xml, { status: 403 }) })
    expect(await failure()).toBe(
      'RefusedError: 403 from AWS STS: The security token included in the request is invalid.',
    )
  })

  it('throttling and faults are waited out', async () => {
    const throttled = { status: 429, headers: { 'x-amzn-errortype': 'ThrottlingException' } }
    const troubles = [
      () => HttpResponse.json({ Message: 'Rate exceeded' }, throttled),
      () => HttpResponse.json({ Message: 'internal' }, { status: 500 }),
      () => HttpResponse.error(),
    ]
    const seen = cloud({ ListResources: () => troubles.shift()?.() ?? listed(resource('arn:aws:s3:::one')) })
    expect(await discover()).toEqual(['arn:aws:s3:::one'])
    expect(seen).toHaveLength(7)
  })

  it.each([
    [
      'no JSON',
      { ListResources: () => HttpResponse.text('<busy>') },
      'RefusedError: 200 from AWS Resource Explorer: the answer is not JSON',
    ],
    ['nothing', { ListResources: {} }, /unknown form, at Resources$/],
    ['a list', { ListResources: () => HttpResponse.json([1]) }, /gave an answer of an unknown form/],
    ['numbers for ARNs', { ListResources: listed(resource('x', { Arn: 7 })) }, /unknown form, at Resources\.0\.Arn$/],
    ['a token of another type', { ListResources: { Resources: [], NextToken: {} } }, /unknown form, at NextToken$/],
    [
      'no account',
      { sts: () => HttpResponse.xml('<a/>') },
      'InventoryError: 200 from AWS STS: the answer names no account',
    ],
    [
      'a region that is a host',
      { ListIndexes: index('evil.example/') },
      'InventoryError: AWS Resource Explorer names an aggregator index in an unknown region',
    ],
  ])('%s is no inventory', async (_name, parts, text) => {
    cloud(parts)
    expectText(await failure(), text)
  })

  it.each([
    [{ AWS_REGION: '' }, 'AWS_REGION is not set'],
    [{ AWS_REGION: 'x.evil.example/' }, 'AWS_REGION does not name a region'],
    [
      { AWS_SECRET_ACCESS_KEY: '' },
      'no AWS credentials for scope discovery: AWS_ACCESS_KEY_ID is set without AWS_SECRET_ACCESS_KEY',
    ],
    [
      { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_EC2_METADATA_DISABLED: 'true' },
      'no AWS credentials for scope discovery: neither key variables, web identity, shared files nor a container ' +
        'role is set up, and instance metadata is disabled',
    ],
    [{ AWS_ENDPOINT_URL_STS: 'file:///etc' }, 'AWS_ENDPOINT_URL_STS is not an http or https address'],
  ])('%o is a clear error and nothing is asked', async (env, text) => {
    const seen = cloud()
    expect(await failure(env)).toBe(`InventoryError: ${text}`)
    expect(seen).toEqual([])
  })
})

describe('addresses and credentials', () => {
  it('AWS_DEFAULT_REGION counts where AWS_REGION is not set', async () => {
    cloud()
    expect(await discover({ AWS_REGION: undefined, AWS_DEFAULT_REGION: 'eu-west-1' })).toHaveLength(1)
  })

  it.each([
    ['one for all', { AWS_ENDPOINT_URL: 'http://localhost:4566/' }, 'http://localhost:4566', 'http://localhost:4566'],
    [
      'one a service',
      {
        AWS_ENDPOINT_URL: 'http://localhost:1',
        AWS_ENDPOINT_URL_STS: 'https://sts.example',
        AWS_ENDPOINT_URL_RESOURCE_EXPLORER_2: 'https://rex.example/v1/',
      },
      'https://sts.example',
      'https://rex.example/v1',
    ],
    [
      'ignored ones',
      { AWS_ENDPOINT_URL: 'http://localhost:1', AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' },
      'https://sts.eu-west-1.amazonaws.com',
      'https://resource-explorer-2.:region.amazonaws.com',
    ],
    [
      'FIPS',
      { AWS_USE_FIPS_ENDPOINT: 'true' },
      'https://sts-fips.eu-west-1.amazonaws.com',
      'https://resource-explorer-2-fips.:region.amazonaws.com',
    ],
  ])('%s', async (_name, env, sts, explorer) => {
    const seen = cloud({}, sts, explorer)
    expect(await discover(env)).toEqual(['arn:aws:s3:::one'])
    expect(seen).toHaveLength(4)
  })

  it('other partitions have their own domain', async () => {
    const sts = 'https://sts.cn-north-1.amazonaws.com.cn'
    const cn = (region: string) => `https://resource-explorer-2.${region}.amazonaws.com.cn`
    cloud({ ListIndexes: index('cn-north-1') }, sts, cn('cn-north-1'))
    expect(await discover({ AWS_REGION: 'cn-north-1' })).toEqual(['arn:aws:s3:::one'])
  })

  it('a role of a profile is assumed at the configured address', async () => {
    const folder = await temporaryFolderWith({
      config: '[profile lister]\nrole_arn = arn:aws:iam::1:role/lister\nsource_profile = base\n',
      credentials: '[base]\naws_access_key_id = AKIABASE\naws_secret_access_key = base-secret\n',
    })
    const assumed = HttpResponse.xml(
      '<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIAROLE</AccessKeyId>' +
        '<SecretAccessKey>s</SecretAccessKey>' +
        '<SessionToken>of-the-role</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>' +
        '</AssumeRoleResult></AssumeRoleResponse>',
    )
    const address = 'http://localhost:4566'
    const seen = cloud({ sts: ({ Action }) => (Action === 'AssumeRole' ? assumed : identity()) }, address, address)
    const env = {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_PROFILE: 'lister',
      AWS_ENDPOINT_URL: address,
      AWS_CONFIG_FILE: join(folder, 'config'),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
    }
    expect(await discover(env)).toEqual(['arn:aws:s3:::one'])
    const keys = seen.map(({ headers }) => /Credential=(\w+)/.exec(headers.get('authorization') ?? '')?.[1])
    expect(keys).toEqual(['AKIABASE', ...Array(4).fill('ASIAROLE')])
  })
})
