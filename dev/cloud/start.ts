import { isJsonObject } from '../../src/base/json.ts'
import { S3Error } from '../object-store/s3.ts'
import { type Credentials, sha256, verifyHeader } from '../object-store/signature.ts'
import { BodyTooLarge, type Running, type ServerAnswer, type ServerRequest, startServer } from '../server.ts'
import { ACCOUNT, REGION } from './account.ts'
import { answerExplorer, answerSts } from './answers.ts'

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
