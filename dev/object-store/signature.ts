import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { ServerRequest } from '../server.ts'
import { denied, S3Error } from './s3.ts'

export type SignedRequest = Omit<ServerRequest, 'body'>
export interface Credentials {
  access_key: string
  secret_key: string
  /** The only region in which signatures are valid; undefined means any. */
  region?: string
}

const malformed = (message: string) => new S3Error(400, 'AuthorizationHeaderMalformed', message)

const SKEW_MS = 15 * 60_000
const MAX_EXPIRES_S = 604_800
export const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')
export const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest()

/**
 * Checks a request that is signed with Signature Version 4, in its header or query, and returns the signed hash of its
 * body. Errors: `S3Error`.
 */
export function verifySignature(request: SignedRequest, credentials: Credentials, now: Date): string {
  const query = parseQuery(request.query)
  const presigned = query.some(([name]) => name === 'X-Amz-Algorithm')
  const payloadHash = request.headers['x-amz-content-sha256'] ?? ''
  return presigned
    ? verifyQuery(request, query, credentials, now)
    : verifyHeader(request, credentials, now, { service: 's3', payloadHash })
}

/** Checks the header signature of a request to a service, whose body has this hash. Errors: `S3Error`. */
export function verifyHeader(
  request: SignedRequest,
  credentials: Credentials,
  now: Date,
  { service, payloadHash }: { service: string; payloadHash: string },
): string {
  if (!request.headers.authorization) throw denied()
  const match = /^AWS4-HMAC-SHA256 +Credential=([^,\s]+),\s*SignedHeaders=([^,\s]+),\s*Signature=([0-9a-f]{64})$/.exec(
    request.headers.authorization,
  )
  if (!match) throw malformed('The authorization header is malformed.')
  const [, credential = '', signed = '', signature = ''] = match
  const timestamp = request.headers['x-amz-date'] ?? ''
  const age = Math.abs(now.getTime() - parseTimestamp(timestamp))
  if (age > SKEW_MS)
    throw new S3Error(
      403,
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
    )
  if (payloadHash === '')
    throw new S3Error(400, 'InvalidRequest', 'Missing required header for this request: x-amz-content-sha256')
  const unsigned = Object.keys(request.headers).filter(
    (name) => name.startsWith('x-amz-') && !signed.split(';').includes(name),
  )
  if (unsigned.length > 0)
    throw denied(`There were headers present in the request which were not signed: ${unsigned.join(', ')}`)
  const query = parseQuery(request.query)
  return compare(request, { service, credential, signed, signature, timestamp, payloadHash, query }, credentials)
}

function verifyQuery(request: SignedRequest, query: Pair[], credentials: Credentials, now: Date): string {
  const value = (name: string) => query.find(([key]) => key === name)?.[1] ?? ''
  if (value('X-Amz-Algorithm') !== 'AWS4-HMAC-SHA256')
    throw new S3Error(400, 'AuthorizationQueryParametersError', 'X-Amz-Algorithm only supports "AWS4-HMAC-SHA256"')
  const expires = Number(value('X-Amz-Expires'))
  if (!Number.isInteger(expires) || expires < 1 || expires > MAX_EXPIRES_S)
    throw new S3Error(400, 'AuthorizationQueryParametersError', 'X-Amz-Expires must be between 1 and 604800 seconds')
  const timestamp = value('X-Amz-Date')
  const start = parseTimestamp(timestamp)
  if (start > now.getTime() + SKEW_MS) throw denied('Request is not valid yet')
  const payloadHash = compare(
    request,
    {
      service: 's3',
      credential: value('X-Amz-Credential'),
      signed: value('X-Amz-SignedHeaders'),
      signature: value('X-Amz-Signature'),
      timestamp,
      payloadHash: value('X-Amz-Content-Sha256') || 'UNSIGNED-PAYLOAD',
      query: query.filter(([name]) => name !== 'X-Amz-Signature'),
    },
    credentials,
  )
  if (start + expires * 1000 < now.getTime()) throw denied('Request has expired')
  return payloadHash
}

interface Claim {
  /** The service that the credential scope must name. */
  service: string
  credential: string
  signed: string
  signature: string
  timestamp: string
  payloadHash: string
  query: Pair[]
}

function compare(request: SignedRequest, claim: Claim, credentials: Credentials): string {
  const [access_key = '', date = '', region = '', service = '', end = ''] = claim.credential.split('/')
  if (access_key !== credentials.access_key)
    throw new S3Error(403, 'InvalidAccessKeyId', 'The AWS Access Key Id you provided does not exist in our records.')
  if (service !== claim.service || end !== 'aws4_request' || !claim.timestamp.startsWith(date))
    throw malformed('The credential scope is malformed.')
  if (credentials.region !== undefined && region !== credentials.region)
    throw malformed(`The authorization header is malformed; the region is wrong; expecting '${credentials.region}'.`)
  if (!claim.signed.split(';').includes('host')) throw denied('The host header is not signed')
  const scope = `${date}/${region}/${service}/${end}`
  const text = `AWS4-HMAC-SHA256\n${claim.timestamp}\n${scope}\n${sha256(canonical(request, claim))}`
  const signingKey = [region, service, end].reduce<Buffer>(hmac, hmac(`AWS4${credentials.secret_key}`, date))
  const expected = hmac(signingKey, text).toString('hex')
  if (!same(expected, claim.signature))
    throw new S3Error(
      403,
      'SignatureDoesNotMatch',
      'The request signature we calculated does not match the signature you provided.',
    )
  return claim.payloadHash
}

function canonical(request: SignedRequest, claim: Claim): string {
  const headers = claim.signed
    .split(';')
    .map((name) => `${name}:${(request.headers[name] ?? '').trim().replace(/ +/g, ' ')}\n`)
  const query = claim.query
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .sort(([a, x], [b, y]) => (a === b ? order(x, y) : order(a, b)))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
  const path = request.path.split('/').map(decode).map(encode).join('/')
  return [request.method, path, query, headers.join(''), claim.signed, claim.payloadHash].join('\n')
}

export const same = (left: string, right: string): boolean =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right))

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

type Pair = [string, string]
/** Reads the pairs of a query, in which a plus sign stands for itself. */
export const parseQuery = (query: string): Pair[] => [...new URLSearchParams(query.replaceAll('+', '%2B'))]

export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new S3Error(400, 'InvalidURI', "Couldn't parse the specified URI.")
  }
}

export const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

function parseTimestamp(text: string): number {
  const time = Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (Number.isNaN(time)) throw denied('AWS authentication requires a valid Date or x-amz-date header')
  return time
}
