import { askShape } from '../http.ts'
import { serviceUrl } from '../inputs.ts'
import { type AccessToken, asAccessToken, tokenAnswer } from '../tokens.ts'
import type { InventoryRequest } from '../types.ts'

export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'

export interface TokenContext {
  request: InventoryRequest
  /** The universe of the credentials; undefined for the default one. */
  universe: string | undefined
}

/** Exchanges a form for a token. The vendor's library would ignore the fetch and time limit of the service. */
export async function exchangeToken(options: {
  request: InventoryRequest
  source: string
  url: string
  form: Record<string, string>
  headers?: Record<string, string>
  /** Names of the fields whose values must not appear in an error. */
  secretFields: readonly string[]
}): Promise<AccessToken> {
  const { request, source, form } = options
  const answer = await askShape(tokenAnswer, {
    request,
    source,
    url: serviceUrl(options.url, 'the token address of the Google credentials'),
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...options.headers },
    body: new URLSearchParams(form).toString(),
    secrets: options.secretFields.flatMap((name) => [form[name] ?? '', encodeURIComponent(form[name] ?? '')]),
  })
  return asAccessToken(answer, request)
}
