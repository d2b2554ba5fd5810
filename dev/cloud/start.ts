import { isJsonObject } from '../../src/base/json.ts'
import { S3Error } from '../object-store/s3.ts'
import { type Credentials, sha256, verifyHeader } from '../object-store/signature.ts'
import { BodyTooLarge, type Running, type ServerAnswer, type ServerRequest, startServer } from '../server.ts'
import { ACCOUNT, AGGREGATOR_REGION, type CloudResource, REGION, RESOURCES } from './account.ts'

const MAX_BODY = 64 * 1024

/** The access keys of the sample account's only user. No other server accepts them. */
export const SAMPLE_KEYS: Credentials = {
  access_key: 'AKIASAMPLEACCOUNT000',
  secret_key: `sample-keys-of-account-${ACCOUNT}`,
}

/**
 * Starts the part of AWS that an inventory needs, for one sample account: `GetCallerIdentity` of STS, and
 * `ListIndexes`, `GetDefaultView` and `ListResources` (in pages) of Resource Explorer. It checks signatures.
 */
export function startCloud(options: { port?: number; now?: () => Date } = {}): Promise<Running> {
  const now = options.now ?? (() => new Date())
  const identified = ({ headers, ...answer }: ServerAnswer): ServerAnswer => ({
    ...answer,
    headers: { ...headers, 'x-amzn-requestid': crypto.randomUUID() },
  })
  return startServer({
    port: options.port,
    maxBodyBytes: MAX_BODY,
    respond: async (request) => identified(await respond(request, now())),
    fail: (error) => identified(refusal(error)),
  })
}

async function respond(request: ServerRequest, now: Date): Promise<ServerAnswer> {
  const body = await request.body()
  const { region, service } = scopeOf(request.headers.authorization)
  verifyHeader(request, SAMPLE_KEYS, now, { service, payloadHash: sha256(body) })
  const text = body.toString('utf8')
  if (service === 'sts') return answerSts(new URLSearchParams(text || request.query))
  if (request.method !== 'POST') throw new S3Error(405, 'MethodNotAllowed', 'Operations are posted.')
  return answerExplorer(request.path, region, parseBody(text))
}

/** Reads region and service from the credential of a request. Only STS and Resource Explorer are served. */
function scopeOf(authorization: string | undefined): { region: string; service: string } {
  const [, , region = '', service = ''] = /Credential=([^,\s]+)/.exec(authorization ?? '')?.[1]?.split('/') ?? []
  return { region, service: service === 'sts' ? 'sts' : 'resource-explorer-2' }
}

function parseBody(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text || '{}')
    if (isJsonObject(value)) return value
  } catch {}
  throw new S3Error(400, 'SerializationException', 'The body is no JSON object.')
}

function refusal(error: unknown): ServerAnswer {
  const { status, code, message } =
    error instanceof S3Error
      ? error
      : new S3Error(error instanceof BodyTooLarge ? 413 : 500, 'InternalFailure', 'The request failed.')
  return { status, body: { __type: code, message } }
}

/** Makes the environment variables for the iac sidecar to use the sample account. */
export const cloudVariables = (url: string): Record<string, string> => ({
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: SAMPLE_KEYS.access_key,
  AWS_SECRET_ACCESS_KEY: SAMPLE_KEYS.secret_key,
  AWS_ENDPOINT_URL_STS: url,
  AWS_ENDPOINT_URL_RESOURCE_EXPLORER_2: url,
})

const json = (body: object, status = 200): ServerAnswer => ({ status, body })
const xml = (body: string, status = 200): ServerAnswer => ({ status, headers: { 'content-type': 'text/xml' }, body })

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

/** Answers a request to STS in AWS's query protocol. */
function answerSts(form: URLSearchParams): ServerAnswer {
  const action = form.get('Action')
  if (action !== 'GetCallerIdentity')
    return xml(
      '<ErrorResponse><Error><Type>Sender</Type><Code>InvalidAction</Code><Message>Only GetCallerIdentity is ' +
        'served here.</Message></Error></ErrorResponse>',
      400,
    )
  return xml(
    `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>` +
      `<Arn>arn:aws:iam::${ACCOUNT}:user/sample</Arn><UserId>AIDASAMPLEACCOUNTUSER</UserId>` +
      `<Account>${ACCOUNT}</Account>` +
      `</GetCallerIdentityResult><ResponseMetadata><RequestId>${crypto.randomUUID()}</RequestId>` +
      '</ResponseMetadata></GetCallerIdentityResponse>',
  )
}

/**
 * Answers a request to Resource Explorer in AWS's REST protocol.
 * @param region the region in the signature, which knows only its own view
 */
function answerExplorer(path: string, region: string, body: Record<string, unknown>): ServerAnswer {
  if (path === '/ListIndexes')
    return json({ Indexes: INDEXES.filter(({ Type }) => body.Type === undefined || body.Type === Type) })
  if (path === '/GetDefaultView') return json(region === AGGREGATOR_REGION ? { ViewArn: VIEW } : {})
  if (path === '/ListResources') return listResources(region, body)
  return json({ message: `The operation ${path} is not served here.` }, 404)
}

function listResources(region: string, body: Record<string, unknown>): ServerAnswer {
  if (region !== AGGREGATOR_REGION || (body.ViewArn !== undefined && body.ViewArn !== VIEW))
    return json({ message: 'The view could not be found in this region.' }, 404)
  const limit = body.MaxResults ?? 100
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > 1000)
    return json({ message: 'MaxResults must be from 1 to 1000.' }, 400)
  const start = body.NextToken === undefined ? 0 : parseOffset(body.NextToken)
  if (start === null) return json({ message: 'The token is not valid.' }, 400)
  const end = start + Math.min(PAGE, Number(limit))
  return json({
    ViewArn: VIEW,
    Resources: RESOURCES.slice(start, end).map(toDocument),
    ...(end < RESOURCES.length && { NextToken: Buffer.from(`offset ${end}`).toString('base64') }),
  })
}

function parseOffset(token: unknown): number | null {
  const text = typeof token === 'string' ? Buffer.from(token, 'base64').toString('utf8') : ''
  const offset = /^offset (\d+)$/.exec(text)?.[1]
  return offset !== undefined && Number(offset) < RESOURCES.length ? Number(offset) : null
}

const SEEN = '2026-01-15T04:00:00Z'

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
