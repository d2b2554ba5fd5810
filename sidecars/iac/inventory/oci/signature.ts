import { createHash, createSign, type KeyObject } from 'node:crypto'
import { ask, jsonOf } from '../http.ts'
import type { InventoryRequest } from '../types.ts'

export interface Signer {
  /** `<tenancy>/<user>/<fingerprint>`, or `ST$<token>`. */
  keyId: string
  key: KeyObject
}

/**
 * Signs a call: a POST if it has a JSON body, else a GET. Version 1 signs exactly these headers in this order.
 * https://docs.oracle.com/iaas/Content/API/Concepts/signingrequests.htm
 */
export function signHeaders(
  { keyId, key }: Signer,
  url: URL,
  body: string | null,
  now: Date,
  { withHost = true } = {},
): Record<string, string> {
  const headers: Record<string, string> = {
    date: now.toUTCString(),
    ...(withHost ? { host: url.host } : {}),
    ...(body === null ? {} : headersOf(body)),
  }
  const lines = [
    `(request-target): ${body === null ? 'get' : 'post'} ${url.pathname}${url.search}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  const signature = createSign('RSA-SHA256').update(lines.join('\n')).sign(key, 'base64')
  const names = ['(request-target)', ...Object.keys(headers)].join(' ')
  const parameters = `keyId="${keyId}",algorithm="rsa-sha256",headers="${names}",signature="${signature}"`
  return { ...headers, authorization: `Signature version="1",${parameters}` }
}

const headersOf = (body: string): Record<string, string> => ({
  'content-length': String(Buffer.byteLength(body)),
  'content-type': 'application/json',
  'x-content-sha256': createHash('sha256').update(body).digest('base64'),
})

/** Makes one signed call: a POST with this document, or a GET when it is null. */
export type OciClient = (source: string, url: URL, document: unknown) => Promise<{ json: unknown; headers: Headers }>

export function createOciClient(request: InventoryRequest, signer: () => Promise<Signer>): OciClient {
  return async (source, url, document) => {
    const body = document === null ? null : JSON.stringify(document)
    const headers = async () => signHeaders(await signer(), url, body, request.now())
    const { keyId } = await signer()
    const secrets = keyId.startsWith('ST$') ? [keyId.slice(3)] : []
    const call = { request, source, url, headers, secrets }
    const response = await ask(body === null ? call : { ...call, method: 'POST', body })
    return { json: jsonOf(source, response), headers: response.headers }
  }
}
