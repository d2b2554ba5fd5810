import { createServer, type IncomingMessage } from 'node:http'
import { isJsonObject } from '../../src/base/json.ts'
import { S3Error } from '../object-store/errors.ts'
import { type Credentials, type SignedRequest, sha256, verifyServiceSignature } from '../object-store/signature.ts'
import { BodyTooLarge, listen, type Running, readBody } from '../server.ts'
import { ACCOUNT, REGION } from './account.ts'
import { answerExplorer, answerSts, type CloudAnswer } from './answers.ts'

const MAX_BODY = 64 * 1024

/** The access keys of the sample account's only user. No other server accepts them. */
export const SAMPLE_KEYS: Credentials = {
  access_key: 'AKIASAMPLEACCOUNT000',
  secret_key: `sample-keys-of-account-${ACCOUNT}`,
}

/**
 * Starts a server with the part of AWS that an inventory needs, for one sample account: `GetCallerIdentity` of STS, and
 * `ListIndexes`, `GetDefaultView` and `ListResources` with pages of Resource Explorer. It checks signatures.
 */
export async function startCloud(options: { port?: number; now?: () => Date } = {}): Promise<Running> {
  const now = options.now ?? (() => new Date())
  const server = createServer(async (request, response) => {
    const answer = await respond(request, now()).catch(refusal)
    response
      .writeHead(answer.status, { 'content-type': answer.content_type, 'x-amzn-requestid': crypto.randomUUID() })
      .end(answer.body)
  })
  return listen(server, { port: options.port })
}

async function respond(request: IncomingMessage, now: Date): Promise<CloudAnswer> {
  const body = await readBody(request, MAX_BODY)
  const [path = '/', query = ''] = (request.url ?? '/').split('?')
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const { region, service } = scopeOf(headers.authorization)
  const signed: SignedRequest = { method: request.method ?? 'GET', path, query, headers }
  verifyServiceSignature(signed, SAMPLE_KEYS, now, { service, payloadHash: sha256(body) })
  const text = body.toString('utf8')
  if (service === 'sts') return answerSts(new URLSearchParams(text || query))
  if (request.method !== 'POST') throw new S3Error(405, 'MethodNotAllowed', 'Operations are posted.')
  return answerExplorer(path, region, parseBody(text))
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

function refusal(error: unknown): CloudAnswer {
  const s3Error =
    error instanceof S3Error
      ? error
      : new S3Error(error instanceof BodyTooLarge ? 413 : 500, 'InternalFailure', 'The request failed.')
  const body = JSON.stringify({ __type: s3Error.code, message: s3Error.message })
  return { status: s3Error.status, content_type: 'application/json', body }
}

/** Environment variables that make the iac sidecar use the sample account. */
export const cloudVariables = (url: string): Record<string, string> => ({
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: SAMPLE_KEYS.access_key,
  AWS_SECRET_ACCESS_KEY: SAMPLE_KEYS.secret_key,
  AWS_ENDPOINT_URL_STS: url,
  AWS_ENDPOINT_URL_RESOURCE_EXPLORER_2: url,
})
