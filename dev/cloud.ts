import { isJsonObject } from '../src/base/json.ts'
import { S3Error } from './object-store/s3.ts'
import { type Credentials, sha256, verifyHeader } from './object-store/signature.ts'
import { BodyTooLarge, type Running, type ServerAnswer, type ServerRequest, startServer } from './server.ts'

export const ACCOUNT = '123456789012'
export const REGION = 'eu-central-1'
/** The region that keeps the index of all regions. */
export const AGGREGATOR_REGION = 'eu-west-1'

interface CloudResource {
  arn: string
  type: string
  region: string
  owner: string
  tags: Record<string, string>
}

/** The part before the name in the ARN of a service. */
const SEPARATORS: Record<string, string> = {
  dynamodb: 'table/',
  lambda: 'function:',
  ssm: 'parameter/',
  iam: 'role/',
  ec2: 'network-interface/',
}

const resource = (type: string, name: string, tags: Record<string, string> = {}, owner = ACCOUNT): CloudResource => {
  const [service = ''] = type.split(':')
  const global = service === 's3' || service === 'iam'
  const region = global ? '' : REGION
  const account = service === 's3' ? '' : owner
  const arn = `arn:aws:${service}:${region}:${account}:${SEPARATORS[service] ?? ''}${name}`
  return { arn, type, region: global ? 'global' : REGION, owner, tags }
}

/** The resources in the order of the index. The last five are managed by others, so the inventory leaves them out. */
export const RESOURCES: readonly CloudResource[] = [
  resource('sqs:queue', 'mail-outgoing', { service: 'mail' }),
  resource('sqs:queue', 'mail-dead-letter', { service: 'mail' }),
  resource('sqs:queue', 'invoices-incoming', { service: 'invoices' }),
  resource('sqs:queue', 'invoices-dead-letter', { service: 'invoices' }),
  resource('sns:topic', 'invoices-paid', { service: 'invoices' }),
  resource('dynamodb:table', 'invoices', { service: 'invoices' }),
  resource('s3:bucket', 'legacy-invoice-archive-123456789012'),
  resource('lambda:function', 'send-reminders'),
  resource('iam:role', 'aws-service-role/support.amazonaws.com/AWSServiceRoleForSupport'),
  resource('ec2:network-interface', 'eni-0a1b2c3d4e5f60718'),
  resource('dynamodb:table', 'autoscaled-sessions', { 'aws:cloudformation:stack-name': 'sessions' }),
  resource('lambda:function', 'cluster-webhook', { 'eks:cluster-name': 'shared' }),
  resource('sqs:queue', 'shared-from-partner', {}, '210987654321'),
]

/** The access keys of the sample account's only user. No other server accepts them. */
export const SAMPLE_KEYS: Credentials = {
  access_key: 'AKIASAMPLEACCOUNT000',
  secret_key: `sample-keys-of-account-${ACCOUNT}`,
}

/** Makes the environment variables for the iac sidecar to use the sample account. */
export const cloudVariables = (url: string): Record<string, string> => ({
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: SAMPLE_KEYS.access_key,
  AWS_SECRET_ACCESS_KEY: SAMPLE_KEYS.secret_key,
  AWS_ENDPOINT_URL_STS: url,
  AWS_ENDPOINT_URL_RESOURCE_EXPLORER_2: url,
})

/**
 * Starts the part of AWS that an inventory needs, for one sample account: `GetCallerIdentity` of STS, and
 * `ListIndexes`, `GetDefaultView` and `ListResources` (in pages) of Resource Explorer. It checks signatures.
 */
export const startCloud = (options: { port?: number } = {}): Promise<Running> =>
  startServer({
    port: options.port,
    maxBodyBytes: 64 * 1024,
    respond,
    fail: (error) => {
      const { status, code, message } =
        error instanceof S3Error
          ? error
          : new S3Error(error instanceof BodyTooLarge ? 413 : 500, 'InternalFailure', 'The request failed.')
      return { status, body: { __type: code, message } }
    },
  })

async function respond(request: ServerRequest): Promise<ServerAnswer> {
  const body = await request.body()
  const [, credential = ''] = /Credential=([^,\s]+)/.exec(request.headers.authorization ?? '') ?? []
  const [, , region = '', claimed = ''] = credential.split('/')
  const service = claimed === 'sts' ? 'sts' : 'resource-explorer-2'
  verifyHeader(request, SAMPLE_KEYS, new Date(), { service, payloadHash: sha256(body) })
  const text = body.toString('utf8')
  return service === 'sts' ? answerSts(new URLSearchParams(text)) : answerExplorer(request.path, region, text)
}

/** Answers a request to STS in AWS's query protocol. */
function answerSts(form: URLSearchParams): ServerAnswer {
  if (form.get('Action') !== 'GetCallerIdentity')
    throw new S3Error(400, 'InvalidAction', 'Only GetCallerIdentity is served here.')
  const body =
    `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>` +
    `<Arn>arn:aws:iam::${ACCOUNT}:user/sample</Arn><UserId>AIDASAMPLEACCOUNTUSER</UserId>` +
    `<Account>${ACCOUNT}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`
  return { status: 200, headers: { 'content-type': 'text/xml' }, body }
}

const INDEXES = [AGGREGATOR_REGION, REGION].map((region) => ({
  Arn: `arn:aws:resource-explorer-2:${region}:${ACCOUNT}:index/2f0b7c1e-5d7f-4a3f-9f3a-0c6d7f1f5a01`,
  Region: region,
  Type: region === AGGREGATOR_REGION ? 'AGGREGATOR' : 'LOCAL',
}))
const VIEW =
  `arn:aws:resource-explorer-2:${AGGREGATOR_REGION}:${ACCOUNT}:view/all-resources/` +
  '6b6f0a52-3c43-4a0d-8f43-0f3c7d0f7a02'
/** Entries on a page, few so that readers have to request further pages. */
const PAGE = 5
const SEEN = '2026-01-15T04:00:00Z'

/**
 * Answers a request to Resource Explorer in AWS's REST protocol. Errors: `S3Error`.
 * @param region the region in the signature, which knows only its own view
 */
function answerExplorer(path: string, region: string, text: string): ServerAnswer {
  const body: unknown = JSON.parse(text || '{}')
  if (!isJsonObject(body)) throw new S3Error(400, 'SerializationException', 'The body is no JSON object.')
  const answer = (document: object): ServerAnswer => ({ status: 200, body: document })
  if (path === '/ListIndexes') return answer({ Indexes: INDEXES.filter(({ Type }) => (body.Type ?? Type) === Type) })
  if (path === '/GetDefaultView') return answer(region === AGGREGATOR_REGION ? { ViewArn: VIEW } : {})
  if (path !== '/ListResources')
    throw new S3Error(404, 'ResourceNotFoundException', `The operation ${path} is not served here.`)
  if (region !== AGGREGATOR_REGION || (body.ViewArn ?? VIEW) !== VIEW)
    throw new S3Error(404, 'ResourceNotFoundException', 'The view could not be found in this region.')
  const start = Number(body.NextToken ?? 0)
  if (!(start < RESOURCES.length)) throw new S3Error(400, 'ValidationException', 'The token is not valid.')
  const end = start + PAGE
  return answer({
    ViewArn: VIEW,
    Resources: RESOURCES.slice(start, end).map(toDocument),
    ...(end < RESOURCES.length && { NextToken: String(end) }),
  })
}

const toDocument = ({ arn, type, region, owner, tags }: CloudResource) => ({
  Arn: arn,
  ResourceType: type,
  Service: type.split(':')[0],
  Region: region,
  OwningAccountId: owner,
  LastReportedAt: SEEN,
  Properties: [
    { Name: 'tags', LastReportedAt: SEEN, Data: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) },
  ],
})
