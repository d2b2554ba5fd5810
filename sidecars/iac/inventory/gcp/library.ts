import type { AuthClient } from 'google-auth-library'
import * as v from 'valibot'
import { askJson } from '../http.ts'
import { checkShape, serviceUrl } from '../inputs.ts'
import { type AccessToken, asAccessToken, type ObtainToken, tokenAnswer, tokenText } from '../tokens.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'

export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
export const TOKEN_ADDRESS = 'the token address of the Google credentials'

export interface TokenContext {
  request: InventoryRequest
  /** The universe of the credentials; undefined for the default one. */
  universe: string | undefined
}

type Library = typeof import('google-auth-library')
type TransporterOptions =
  NonNullable<ConstructorParameters<Library['OAuth2Client']>[0]> extends infer Options
    ? Options extends { transporterOptions?: infer Transporter }
      ? NonNullable<Transporter>
      : never
    : never

export interface LibraryCall {
  request: InventoryRequest
  /** The service that answers, for the text of errors. */
  source: string
  /** The address that receives every request of the library, whatever address the library chose. */
  url: string
  /** By default the token address of the credentials. */
  urlName?: string
  /** Texts that must not appear in an error. Values of the form fields `assertion` and of the headers never do. */
  secrets: readonly string[]
}

/** Obtains tokens by the vendor's library with our fetch, never showing its texts. `create` makes its only client. */
export function obtainByLibrary(
  call: LibraryCall,
  create: (library: Library, transporterOptions: TransporterOptions) => AuthClient | Promise<AuthClient>,
): ObtainToken {
  const url = serviceUrl(call.url, call.urlName ?? TOKEN_ADDRESS)
  return async () => {
    const library = await import('google-auth-library')
    const seen: { token?: AccessToken; failure?: unknown } = {}
    const fetchImplementation: typeof fetch = async (_url, init) => {
      try {
        const answer = await send({ ...call, url }, init)
        seen.token = readToken(call, answer)
        return Response.json(answer)
      } catch (error) {
        seen.failure = error
        // A status that the library does not retry, because our call retries already.
        return Response.json({}, { status: 400 })
      }
    }
    const client = await create(library, { fetchImplementation })
    const { token } = await client.getAccessToken().catch((error: unknown) => {
      throw seen.failure ?? new InventoryError(`no token could be asked of ${call.source}`, { cause: error })
    })
    if (!token || !seen.token) throw new InventoryError(`${call.source} gave no token`)
    return { ...seen.token, value: token }
  }
}

async function send({ request, source, url, secrets }: LibraryCall, init: RequestInit | undefined): Promise<object> {
  const body = init?.body ? String(init.body) : ''
  const assertion = new URLSearchParams(body).get('assertion')
  const answer = await askJson({
    request,
    source,
    url,
    method: 'POST',
    headers: Object.fromEntries(new Headers(init?.headers)),
    body,
    secrets: [...secrets, ...(assertion ? [assertion] : [])].flatMap((one) => [one, encodeURIComponent(one)]),
  })
  return Object(answer)
}

const Impersonation = v.object({ accessToken: tokenText, expireTime: v.pipe(v.string(), v.isoTimestamp()) })

function readToken({ request, source }: LibraryCall, answer: object): AccessToken {
  if (source !== IAM_CREDENTIALS) return asAccessToken(checkShape(source, tokenAnswer, answer), request)
  const { accessToken, expireTime } = checkShape(source, Impersonation, answer)
  return { value: accessToken, expiresAt: Date.parse(expireTime) }
}

const IAM_CREDENTIALS = 'IAM Service Account Credentials'

/** Returns the address that issues tokens for this account. */
export function impersonationUrl(iamCredentials: string, account: string): string {
  if (!/^[^\s@/?#]+@[^\s@/?#]+$/.test(account))
    throw new InventoryError('GOOGLE_IMPERSONATE_SERVICE_ACCOUNT is no service account')
  return `${iamCredentials}/projects/-/serviceAccounts/${encodeURIComponent(account)}:generateAccessToken`
}

/**
 * Obtains tokens for the service account in `url`.
 * https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken
 */
export function impersonate(
  request: InventoryRequest,
  url: string,
  obtain: ObtainToken,
  delegates: readonly string[] = [],
): ObtainToken {
  return obtainByLibrary(
    { request, source: IAM_CREDENTIALS, url, urlName: 'service_account_impersonation_url', secrets: [] },
    async ({ Impersonated, OAuth2Client }, transporterOptions) => {
      const sourceClient = new OAuth2Client({ transporterOptions })
      sourceClient.setCredentials({ access_token: (await obtain()).value })
      return new Impersonated({ sourceClient, targetScopes: [SCOPE], delegates: [...delegates], lifetime: 3600 })
    },
  )
}
