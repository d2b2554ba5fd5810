import { ask } from '../http.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import type { OciAccess } from './credentials.ts'
import { signHeaders } from './signature.ts'

export interface OciAnswer {
  json: unknown
  headers: Headers
}

/** Makes one signed call: a POST with this document, or a GET when it is null. */
export type OciClient = (source: string, url: URL, document: unknown) => Promise<OciAnswer>

export function createOciClient(request: InventoryRequest, access: OciAccess): OciClient {
  return async (source, url, document) => {
    const body = document === null ? null : JSON.stringify(document)
    const headers = async () => signHeaders(await access.signer(), url, body, request.now())
    const { keyId } = await access.signer()
    const secrets = keyId.startsWith('ST$') ? [keyId.slice(3)] : []
    const call = { request, source, url, headers, secrets }
    const response = await ask(body === null ? call : { ...call, method: 'POST', body })
    return { json: jsonOf(source, () => response.json()), headers: response.headers }
  }
}

function jsonOf(source: string, read: () => unknown): unknown {
  try {
    return read()
  } catch {
    throw new InventoryError(`200 from ${source}: the answer is not JSON`)
  }
}
