import { askJson } from '../http.ts'
import { serviceUrl, shaped } from '../inputs.ts'
import { type AccessToken, asAccessToken, tokenAnswer } from '../tokens.ts'
import type { InventoryRequest } from '../types.ts'

export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'

/** What a form of credentials needs to get a token. */
export interface Granting {
  request: InventoryRequest
  /** Set when it is not the default one. */
  universe: string | undefined
}

/** One exchange at a token endpoint. */
export async function grant(options: {
  request: InventoryRequest
  source: string
  url: string
  form: Record<string, string>
  headers?: Record<string, string>
  /** Names of the fields that must not stand in an error. */
  secret_fields: readonly string[]
}): Promise<AccessToken> {
  const { request, source, form } = options
  const answer = await askJson({
    request,
    source,
    url: serviceUrl(options.url, 'the token address of the Google credentials'),
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...options.headers },
    body: new URLSearchParams(form).toString(),
    secrets: options.secret_fields.flatMap((name) => [form[name] ?? '', encodeURIComponent(form[name] ?? '')]),
  })
  return asAccessToken(shaped(source, tokenAnswer, answer), request)
}
