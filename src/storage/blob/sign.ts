import type { StorageConfig } from '../../../config/types.ts'
import type { StoreRequest } from '../call.ts'

/** Version of the blob service that both signatures are written for. */
const VERSION = '2021-12-02'

type Account = Pick<StorageConfig, 'account_name' | 'account_key'>

/** The headers with a SharedKey authorization added. */
export async function sharedKeyHeaders(
  account: Account,
  request: Pick<StoreRequest, 'method' | 'url' | 'headers' | 'body'>,
  now: Date,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = {
    ...request.headers,
    'x-ms-date': now.toUTCString(),
    'x-ms-version': VERSION,
  }
  const named = Object.entries(headers).filter(([name]) => name.startsWith('x-ms-'))
  const text = [
    request.method,
    '', // Content-Encoding
    '', // Content-Language
    request.body?.byteLength ? String(request.body.byteLength) : '',
    '', // Content-MD5
    headers['content-type'] ?? '',
    ...['', '', '', '', '', ''], // Date, four conditions, Range
    ...named.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => `${name}:${value}`),
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

/** Query of a service SAS for one blob: read permission and expiry, nothing else. */
export async function readSas(
  account: Account,
  container: string,
  key: string,
  expires: Date,
): Promise<URLSearchParams> {
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

async function hmacBase64(key_base64: string, text: string): Promise<string> {
  const bytes = Uint8Array.from(atob(key_base64), (character) => character.charCodeAt(0))
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text))
  return btoa(String.fromCharCode(...new Uint8Array(signature)))
}
