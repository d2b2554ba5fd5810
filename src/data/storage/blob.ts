import type { StorageConfig } from '../../../config/types.ts'
import type { Logger } from '../../base/log.ts'
import { objectPath, withoutTrailingSlash } from './addresses.ts'
import {
  errorCode,
  type ObjectStore,
  objectMethods,
  readKeys,
  type StoreCall,
  type StoreClock,
  type StoreRequest,
  storeError,
} from './object-store.ts'
import { watchStore } from './watch.ts'

/** Creates the store for an Azure storage container. CORS is a setting of the account and is not changed. */
export function createBlobStore(tools: {
  config: StorageConfig
  call: StoreCall
  log: Logger
  clock: StoreClock
  now: () => Date
}): ObjectStore {
  const { config, call, log, clock } = tools
  const endpoint = withoutTrailingSlash(config.endpoint_url)
  const blobUrl = (base: string, key: string) => `${base}/${config.bucket}/${objectPath(key)}`
  const sendSigned = (request: StoreRequest) =>
    call(request, (unsigned) => sharedKeyHeaders(config, unsigned, clock.now()))
  const ensureContainer = async (container: string) => {
    const response = await sendSigned({ method: 'PUT', url: `${endpoint}/${container}?restype=container`, headers: {} })
    if (response.status === 201) return log.info('container created', { container })
    if (response.status !== 409 || errorCode(response) === 'ContainerBeingDeleted')
      throw storeError(response, `the creation of container ${container}`)
  }
  const methods = objectMethods('x-ms-meta-', { put: 201, delete: [202] }, (key, request) => {
    const type: Record<string, string> = request.method === 'PUT' ? { 'x-ms-blob-type': 'BlockBlob' } : {}
    return sendSigned({ ...request, url: blobUrl(endpoint, key), headers: { ...request.headers, ...type } })
  })
  return {
    ...methods,
    ensureBuckets: async () => {
      for (const container of new Set([config.bucket, config.engine_state_bucket]))
        if (container !== '') await ensureContainer(container)
    },
    list: async (prefix) => {
      const query = new URLSearchParams({ restype: 'container', comp: 'list', prefix, maxresults: '1000' })
      const url = `${endpoint}/${config.bucket}?${query}`
      return readKeys(await sendSigned({ method: 'GET', url, headers: {} }), 'Name', prefix)
    },
    presign: async (key) => {
      const expires = new Date(clock.now().getTime() + config.presign_expiry_seconds * 1000)
      const sas = await readSas(config, config.bucket, key, expires)
      return `${blobUrl(withoutTrailingSlash(config.public_endpoint_url), key)}?${sas}`
    },
    urlsLapse: async () => null,
    isOn: watchStore(async (signal) => {
      const url = `${endpoint}/${config.bucket}?restype=container`
      const head = await sendSigned({ method: 'HEAD', url, headers: {}, signal })
      if (head.status !== 200) throw storeError(head, `a look at container ${config.bucket}`)
    }, tools),
  }
}

/** The version of the blob service whose signatures are used. */
const VERSION = '2021-12-02'

type Account = Pick<StorageConfig, 'account_name' | 'account_key'>

/** Returns the headers of a request with its SharedKey signature, whose lines have a prescribed order. */
async function sharedKeyHeaders(
  account: Account,
  request: Pick<StoreRequest, 'method' | 'url' | 'headers' | 'body'>,
  now: Date,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = {
    ...request.headers,
    'x-ms-date': now.toUTCString(),
    'x-ms-version': VERSION,
  }
  const serviceHeaders = Object.entries(headers).filter(([name]) => name.startsWith('x-ms-'))
  const text = [
    request.method,
    '', // Content-Encoding
    '', // Content-Language
    request.body?.byteLength ? String(request.body.byteLength) : '',
    '', // Content-MD5
    headers['content-type'] ?? '',
    ...['', '', '', '', '', ''], // Date, four conditions, Range
    ...serviceHeaders.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}:${value}`),
    canonicalResource(account.account_name, new URL(request.url)),
  ].join('\n')
  return {
    ...headers,
    authorization: `SharedKey ${account.account_name}:${await hmacBase64(account.account_key, text)}`,
  }
}

function canonicalResource(account: string, url: URL): string {
  const parameters = [...url.searchParams].map(([name, value]) => `\n${name.toLowerCase()}:${value}`).sort()
  return `/${account}${url.pathname}${parameters.join('')}`
}

/** Returns the query of a URL that grants reading one blob until it expires (a service SAS). */
async function readSas(account: Account, container: string, key: string, expires: Date): Promise<URLSearchParams> {
  const expiry = expires.toISOString().replace(/\.\d{3}Z$/, 'Z')
  const text = [
    'r',
    '', // start
    expiry,
    `/blob/${account.account_name}/${container}/${key}`,
    ...['', '', ''], // identifier, address range, protocol
    VERSION,
    'b',
    ...['', '', '', '', '', '', ''], // snapshot, encryption scope, five response headers
  ].join('\n')
  return new URLSearchParams({
    sv: VERSION,
    sr: 'b',
    sp: 'r',
    se: expiry,
    sig: await hmacBase64(account.account_key, text),
  })
}

async function hmacBase64(keyBase64: string, text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(keyBase64), (character) => character.charCodeAt(0))
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text))
  return btoa(String.fromCharCode(...new Uint8Array(signature)))
}
