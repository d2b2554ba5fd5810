import { AwsV4Signer } from 'aws4fetch'
import type { StorageConfig } from '../../../config/types.ts'
import type { CredentialSource } from '../../aws/credentials.ts'
import { sha256Hex } from '../../base/bytes.ts'
import { internal } from '../../base/errors.ts'
import type { OutboundResponse } from '../../base/http.ts'
import type { Logger } from '../../base/log.ts'
import type { S3Address } from './addresses.ts'
import {
  errorCode,
  type ObjectStore,
  objectMethods,
  type StoreCall,
  type StoreRequest,
  storeError,
} from './object-store.ts'

interface S3Tools {
  config: StorageConfig
  call: StoreCall
  signer: ReturnType<typeof createS3Signer>
  address: S3Address
  log: Logger
}

const PREFIX = 'x-amz-meta-'
/** The names of metadata that browser clients read. */
const READ_BY_BROWSERS = ['type', 'new_file']

/**
 * Creates the object store for a bucket of S3 or a compatible server.
 * @param corsOrigins origins of browser clients that may read from a bucket created here
 */
export function createS3Store(tools: S3Tools, corsOrigins: readonly string[]): ObjectStore {
  const { config, call, signer, address } = tools
  const methods = objectMethods(PREFIX, { put: 200, delete: [200, 204] }, async (key, request) => {
    const url = address.internal(config.bucket, key)
    return call({ ...request, url, headers: await signer.headers({ ...request, url }) })
  })
  return {
    ...methods,
    ensureBuckets: async () => {
      const created = await ensureBucket(tools, config.bucket)
      if (created && corsOrigins.length > 0) await allowBrowsers(tools, config.bucket, corsOrigins)
      if (config.engine_state_bucket !== '' && config.engine_state_bucket !== config.bucket)
        await ensureBucket(tools, config.engine_state_bucket)
    },
    presign: async (key) => signer.presign(address.public(config.bucket, key), config.presign_expiry_seconds),
    urlsLapse: () => signer.expires(),
  }
}

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
async function bucketRefused(tools: S3Tools, bucket: string, { status, headers }: OutboundResponse) {
  const region = headers.get('x-amz-bucket-region') ?? tools.config.region
  if (region !== tools.config.region)
    return internal(`The object store refuses access to bucket ${bucket} (${status}; it is in region ${region}).`)
  const told = await signedCall(tools, 'GET', `${tools.address.internal(bucket)}?location=`)
  const answer = [status, told.status >= 400 ? errorCode(told) : ''].filter(Boolean).join(' ')
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

async function signedCall(tools: S3Tools, method: 'GET' | 'HEAD' | 'PUT', url: string, text?: string) {
  const body = text === undefined ? undefined : new TextEncoder().encode(text)
  const contentHeaders: Record<string, string> = body
    ? { 'content-type': 'application/xml', 'x-amz-checksum-sha256': await sha256Base64(body) }
    : {}
  const headers = await tools.signer.headers({ method, url, headers: contentHeaders, body })
  return tools.call({ method, url, headers, body })
}

/** Returns the checksum that requests for bucket rules need: SHA-256, because WebCrypto has no MD5. */
async function sha256Base64(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))))
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }
const escapeXml = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character)

/** The signing library derives a key for each day and secret key. Beyond this number, the cached ones are discarded. */
const MAX_DERIVED_KEYS = 16

export function createS3Signer(options: { credentials: CredentialSource; region: string; now: () => Date }) {
  const cache = new Map<string, ArrayBuffer>()
  const signerOptions = async () => {
    const { access_key, secret_key, session_token } = await options.credentials()
    if (cache.size > MAX_DERIVED_KEYS) cache.clear()
    const datetime = options
      .now()
      .toISOString()
      .replaceAll(/[:-]|\.\d{3}/g, '')
    const keys = { accessKeyId: access_key, secretAccessKey: secret_key, sessionToken: session_token }
    return { ...keys, service: 's3', region: options.region, datetime, cache }
  }
  return {
    /** Returns the headers with the signature and the hash of the body. */
    headers: async (request: Pick<StoreRequest, 'method' | 'url' | 'headers' | 'body'>) => {
      const { method, url, headers, body } = request
      const hashed = { ...headers, 'x-amz-content-sha256': await sha256Hex(body ?? new Uint8Array()) }
      const signed = await new AwsV4Signer({ ...(await signerOptions()), method, url, headers: hashed }).sign()
      return Object.fromEntries(signed.headers)
    },
    /** Returns a signed URL for GET. The signature includes the host, so `url` needs the one that clients use. */
    presign: async (url: string, expiresSeconds: number) => {
      const target = new URL(url)
      target.searchParams.set('X-Amz-Expires', String(expiresSeconds))
      const signed = await new AwsV4Signer({
        ...(await signerOptions()),
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
