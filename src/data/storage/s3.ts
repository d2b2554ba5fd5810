import { AwsV4Signer } from 'aws4fetch'
import type { StorageConfig } from '../../../config/types.ts'
import type { AwsCredentials, CredentialSource } from '../../aws/credentials.ts'
import { sha256Hex } from '../../base/bytes.ts'
import { internal } from '../../base/errors.ts'
import type { OutboundResponse } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import type { S3Address } from './addresses.ts'
import {
  answerOf,
  errorCode,
  type ObjectStore,
  objectMethods,
  readKeys,
  type StoreCall,
  type StoreRequest,
  storeError,
} from './object-store.ts'
import { watchStore } from './watch.ts'

interface S3Tools {
  config: StorageConfig
  call: StoreCall
  signer: ReturnType<typeof createS3Signer>
  address: S3Address
  log: Logger
  now: () => Date
}

const PREFIX = 'x-amz-meta-'
/** The names of metadata that browser clients read. */
const READ_BY_BROWSERS = ['type', 'new_file']

/**
 * Creates the object store for a bucket of S3 or a compatible server.
 * @param corsOrigins origins of browser clients that may read from a bucket created here
 */
export function createS3Store(tools: S3Tools, corsOrigins: readonly string[]): ObjectStore {
  const { config, signer, address } = tools
  const sendSigned = createSender(tools)
  const encryption = encryptionHeaders(config)
  const methods = objectMethods(PREFIX, { put: 200, delete: [200, 204] }, (key, request) => {
    const headers = request.method === 'PUT' ? { ...request.headers, ...encryption } : request.headers
    return sendSigned({ ...request, headers, url: address.internal(config.bucket, key) })
  })
  return {
    ...methods,
    ensureBuckets: async () => {
      const created = await ensureBucket(tools, config.bucket)
      if (created && corsOrigins.length > 0) await allowBrowsers(tools, config.bucket, corsOrigins)
      if (config.engine_state_bucket !== '' && config.engine_state_bucket !== config.bucket)
        await ensureBucket(tools, config.engine_state_bucket)
    },
    list: async (prefix) => {
      const url = `${address.internal(config.bucket)}?list-type=2&prefix=${encodeURIComponent(prefix)}`
      return readKeys(await sendSigned({ method: 'GET', url, headers: {} }), 'Key', prefix)
    },
    presign: async (key) => signer.presign(address.public(config.bucket, key), config.presign_expiry_seconds),
    urlsLapse: () => signer.expires(),
    isOn: watchStore(async (signal) => {
      const head = await sendSigned({ method: 'HEAD', url: address.internal(config.bucket), headers: {}, signal })
      if (head.status !== 200) throw storeError(head, `a look at bucket ${config.bucket}`)
    }, tools),
  }
}

/** Returns the headers of uploads to a bucket whose policy demands encryption. */
function encryptionHeaders({ server_side_encryption, kms_key_id }: StorageConfig): Record<string, string> {
  if (server_side_encryption === '') return {}
  return {
    'x-amz-server-side-encryption': server_side_encryption,
    ...(kms_key_id === '' ? {} : { 'x-amz-server-side-encryption-aws-kms-key-id': kms_key_id }),
  }
}

/** Codes of credentials that were valid once: temporary ones that have lapsed, and keys that were replaced. */
const LAPSED = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'TokenRefreshRequired',
  'InvalidToken',
  'InvalidAccessKeyId',
  'InvalidClientTokenId',
  // versitygw
  'XAdminUserNotFound',
])

/**
 * Makes the function that sends signed requests. A request is repeated once with new credentials when the store no longer
 * accepts those that signed it, and once with a checksum of its body when the store demands one, as buckets with object
 * lock do. Other stores refuse checksums that they do not know, so none is sent before.
 */
function createSender({ call, signer }: Pick<S3Tools, 'call' | 'signer'>) {
  let wanted: ((body: Uint8Array<ArrayBuffer>) => Promise<Record<string, string>>) | null = null
  return async (request: StoreRequest): Promise<OutboundResponse> => {
    const attempt = async () => {
      const checksum = request.body && wanted ? await wanted(request.body) : {}
      let used: AwsCredentials | undefined
      const response = await call({ ...request, headers: { ...request.headers, ...checksum } }, async (unsigned) => {
        used = await signer.credentials()
        return signer.headers(unsigned, used)
      })
      return { response, used }
    }
    let { response, used } = await attempt()
    if (used && LAPSED.has(errorCode(response)) && (await signer.credentials(used)) !== used)
      response = (await attempt()).response
    const demanded = request.body && !wanted ? demandedChecksum(response) : null
    if (!demanded) return response
    wanted = demanded
    return (await attempt()).response
  }
}

/** Returns how to make the checksum that a refusal demands; null for another refusal. */
function demandedChecksum(response: OutboundResponse) {
  const code = errorCode(response)
  if (response.status !== 400 || !['InvalidRequest', 'MissingContentMD5'].includes(code)) return null
  const text = response.text()
  if (/x-amz-checksum/i.test(text)) return sha256Header
  return code === 'MissingContentMD5' || /content-md5/i.test(text) ? md5Header : null
}

const sha256Header = async (body: Uint8Array<ArrayBuffer>) => ({ 'x-amz-checksum-sha256': await sha256Base64(body) })

/** WebCrypto has no MD5. */
async function md5Header(body: Uint8Array<ArrayBuffer>) {
  const { default: forge } = await import('node-forge')
  const digest = forge.md.md5.create()
  for (let start = 0; start < body.length; start += MD5_CHUNK)
    digest.update(String.fromCharCode(...body.subarray(start, start + MD5_CHUNK)), 'raw')
  return { 'content-md5': btoa(digest.digest().bytes()) }
}

/** Arguments that a call may have. */
const MD5_CHUNK = 16 * 1024

/** Creates the bucket unless it exists. Returns true if this call created it. Throws `PlatformError`. */
async function ensureBucket(tools: S3Tools, bucket: string): Promise<boolean> {
  const url = tools.address.internal(bucket)
  const head = await signedCall(tools, 'HEAD', url)
  if (head.status === 200) return false
  if (head.status >= 500) throw storeError(head, `a look at bucket ${bucket}`)
  if (head.status !== 404) throw await bucketRefused(tools, bucket, head)
  const created = await signedCall(tools, 'PUT', url, locationConstraint(tools.config))
  if (created.status === 200) {
    tools.log.info('bucket created', { bucket })
    return true
  }
  const code = errorCode(created)
  if (code === 'BucketAlreadyOwnedByYou' || code === 'BucketAlreadyExists') return false
  throw storeError(created, `the creation of bucket ${bucket}`)
}

/**
 * Makes the error for an inaccessible bucket. Responses to HEAD have no body, so a GET fetches the reason, unless it is
 * the region. Some stores name their region in every response, so it is mentioned only if it differs.
 */
async function bucketRefused(tools: S3Tools, bucket: string, head: OutboundResponse) {
  const region = head.headers.get('x-amz-bucket-region') ?? tools.config.region
  if (region !== tools.config.region)
    return internal(`The object store refuses access to bucket ${bucket} (${head.status}; it is in region ${region}).`)
  const told = await signedCall(tools, 'GET', `${tools.address.internal(bucket)}?location=`)
  const answer = told.status >= 400 ? answerOf(told) : answerOf(head)
  return internal(`The object store refuses access to bucket ${bucket} (${answer}).`)
}

/** Returns the body that names the region of a new bucket. Only S3 requires it, and refuses it for `us-east-1`. */
function locationConstraint(config: StorageConfig): string | undefined {
  if (config.provider !== 'S3' || config.region === 'us-east-1') return undefined
  const location = `<LocationConstraint>${escapeXml(config.region)}</LocationConstraint>`
  return `<CreateBucketConfiguration xmlns="${XMLNS}">${location}</CreateBucketConfiguration>`
}

/**
 * Sets a CORS rule for browsers to read artifacts and their metadata. A failure is only logged, because some servers
 * have no such rules.
 */
async function allowBrowsers(tools: S3Tools, bucket: string, origins: readonly string[]): Promise<void> {
  const exposed = READ_BY_BROWSERS.map((name) => `${PREFIX}${name}`)
  const elements = (name: string, values: readonly string[]) =>
    values.map((value) => `<${name}>${escapeXml(value)}</${name}>`).join('')
  const rule = [
    elements('AllowedOrigin', origins),
    elements('AllowedMethod', ['GET', 'HEAD']),
    elements('AllowedHeader', ['*']),
    elements('ExposeHeader', exposed),
    elements('MaxAgeSeconds', ['3600']),
  ].join('')
  const body = `<CORSConfiguration xmlns="${XMLNS}"><CORSRule>${rule}</CORSRule></CORSConfiguration>`
  try {
    const response = await signedCall(tools, 'PUT', `${tools.address.internal(bucket)}?cors=`, body)
    if (response.status >= 300)
      tools.log.warn('the bucket has no CORS rule', { bucket, status: response.status, code: errorCode(response) })
  } catch (error) {
    tools.log.warn('the bucket has no CORS rule', { bucket, error })
  }
}

const XMLNS = 'http://s3.amazonaws.com/doc/2006-03-01/'

/** Sends a request about a bucket. Those with a body need a checksum. */
async function signedCall(tools: S3Tools, method: 'GET' | 'HEAD' | 'PUT', url: string, text?: string) {
  const body = text === undefined ? undefined : new TextEncoder().encode(text)
  const headers = body ? { 'content-type': 'application/xml', ...(await sha256Header(body)) } : {}
  return createSender(tools)({ method, url, headers, body })
}

async function sha256Base64(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))))
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }
const escapeXml = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)

/** The signing library derives a key for each day and secret key. Beyond this number, the cached ones are discarded. */
const MAX_DERIVED_KEYS = 16

export function createS3Signer(options: { credentials: CredentialSource; region: string; now: () => Date }) {
  const cache = new Map<string, ArrayBuffer>()
  const signerOptions = ({ access_key, secret_key, session_token }: AwsCredentials) => {
    if (cache.size > MAX_DERIVED_KEYS) cache.clear()
    const datetime = options
      .now()
      .toISOString()
      .replaceAll(/[:-]|\.\d{3}/g, '')
    const keys = { accessKeyId: access_key, secretAccessKey: secret_key, sessionToken: session_token }
    return { ...keys, service: 's3', region: options.region, datetime, cache }
  }
  return {
    credentials: options.credentials,
    /** Returns the headers with the signature and the hash of the body. */
    headers: async (
      request: Pick<StoreRequest, 'method' | 'url' | 'headers' | 'body'>,
      credentials: AwsCredentials,
    ) => {
      const { method, url, headers, body } = request
      const hashed = { ...headers, 'x-amz-content-sha256': await sha256Hex(body ?? new Uint8Array()) }
      const signed = await new AwsV4Signer({ ...signerOptions(credentials), method, url, headers: hashed }).sign()
      return Object.fromEntries(signed.headers)
    },
    /** Returns a signed URL for GET. The signature includes the host, so `url` needs the one that clients use. */
    presign: async (url: string, expiresSeconds: number) => {
      const target = new URL(url)
      target.searchParams.set('X-Amz-Expires', String(expiresSeconds))
      const signed = await new AwsV4Signer({
        ...signerOptions(await options.credentials()),
        method: 'GET',
        url: target.href,
        signQuery: true,
      }).sign()
      return signed.url.href
    },
    /** Returns the expiry of the current credentials, and so of every URL signed with them; null without one. */
    expires: async () => (await options.credentials()).expires ?? null,
  }
}
