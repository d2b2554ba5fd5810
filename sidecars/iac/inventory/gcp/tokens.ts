import type { AuthClient, OAuth2ClientOptions } from 'google-auth-library'
import * as v from 'valibot'
import { memberOf, parseJson } from '../../../../src/base/json.ts'
import { awsCredentials, awsRegion } from '../aws/client.ts'
import {
  type AccessToken,
  asAccessToken,
  ask,
  askJson,
  askShape,
  type ObtainToken,
  tokenAnswer,
  tokenText,
} from '../http.ts'
import { checkShape, InventoryError, type InventoryRequest, readNamedText, serviceUrl } from '../request.ts'

export const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const TOKEN_ADDRESS = 'the token address of the Google credentials'

export interface TokenContext {
  request: InventoryRequest
  /** The universe of the credentials; undefined for the default one. */
  universe: string | undefined
}

interface LibraryCall {
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
  create: (
    library: typeof import('google-auth-library'),
    transporterOptions: NonNullable<OAuth2ClientOptions['transporterOptions']>,
  ) => AuthClient | Promise<AuthClient>,
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

function send({ request, source, url, secrets }: LibraryCall, init: RequestInit | undefined): Promise<unknown> {
  const body = init?.body ? String(init.body) : ''
  const hidden = [...secrets, ...new URLSearchParams(body).getAll('assertion')]
  return askJson({
    request,
    source,
    url,
    method: 'POST',
    headers: Object.fromEntries(new Headers(init?.headers)),
    body,
    secrets: hidden.flatMap((one) => [one, encodeURIComponent(one)]),
  })
}

const Impersonation = v.object({ accessToken: tokenText, expireTime: v.pipe(v.string(), v.isoTimestamp()) })

function readToken({ request, source }: LibraryCall, answer: unknown): AccessToken {
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

const Source = v.object({
  file: v.optional(v.string()),
  url: v.optional(v.string()),
  /** `aws1` for the identity of AWS; `url` is then an address of its metadata service. */
  environment_id: v.optional(v.string()),
  headers: v.optional(v.record(v.string(), v.string()), {}),
  format: v.optional(
    v.object({ type: v.optional(v.string(), 'text'), subject_token_field_name: v.optional(v.string()) }),
    {},
  ),
})

export const ExternalAccountFile = v.object({
  audience: v.string(),
  subject_token_type: v.string(),
  token_url: v.string(),
  service_account_impersonation_url: v.optional(v.string()),
  client_id: v.optional(v.string()),
  client_secret: v.optional(v.string()),
  workforce_pool_user_project: v.optional(v.string()),
  credential_source: Source,
})
type File = v.InferOutput<typeof ExternalAccountFile>

const STS = 'Google Security Token Service'
const UNSUPPORTED =
  'the Google credentials take their subject token from a certificate or a program; ' +
  'this discovery reads it from a file or an address, or makes it for the identity of AWS'

/** Exchanges another issuer's token for one of Google (RFC 8693) or of an account. https://google.aip.dev/auth/4117 */
export function externalAccountToken({ request }: TokenContext, file: File): ObtainToken {
  const { audience, subject_token_type, client_id, client_secret, workforce_pool_user_project } = file
  const source = file.credential_source
  const isAws = source.environment_id === 'aws1'
  if (source.file === undefined && source.url === undefined && !isAws) throw new InventoryError(UNSUPPORTED)
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...(client_id ? { authorization: `Basic ${btoa(`${client_id}:${client_secret ?? ''}`)}` } : {}),
  }
  // The vendor's library would ignore the fetch and time limit of the service.
  const federated: ObtainToken = async () => {
    const subject_token = await (isAws ? awsSubjectToken(request, file) : readSubjectToken(request, source))
    const form = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      scope: SCOPE,
      audience,
      subject_token_type,
      subject_token,
    })
    if (workforce_pool_user_project && !client_id)
      form.set('options', JSON.stringify({ userProject: workforce_pool_user_project }))
    const secrets = [subject_token, encodeURIComponent(subject_token)]
    const url = serviceUrl(file.token_url, TOKEN_ADDRESS)
    const question = { request, source: STS, url, method: 'POST', headers, body: form.toString(), secrets }
    return asAccessToken(await askShape(tokenAnswer, question), request)
  }
  const target = file.service_account_impersonation_url
  return target ? impersonate(request, target, federated) : federated
}

async function readSubjectToken(
  request: InventoryRequest,
  { file, url = '', headers, format }: v.InferOutput<typeof Source>,
): Promise<string> {
  const source = 'the credential_source of the Google credentials'
  if (file === undefined && !URL.canParse(url)) throw new InventoryError(`${source} is no address`)
  const text =
    file !== undefined
      ? await readNamedText(file, 'credential_source', request.env)
      : (await ask({ request, source, url, headers, secrets: Object.values(headers) })).text()
  const token = format.type === 'json' ? fieldOf(text, format.subject_token_field_name ?? '') : text.trim()
  if (!token) throw new InventoryError(`${source} holds no subject token`)
  return token
}

function fieldOf(text: string, name: string): string {
  const value = memberOf(parseJson(text), name)
  return typeof value === 'string' ? value : ''
}

/** Signs a request that proves an AWS identity to Google. Never asks an address in the credential file for keys. */
async function awsSubjectToken(request: InventoryRequest, file: File): Promise<string> {
  const { audience, subject_token_type, token_url } = file
  const region = awsRegion(request)
  const { access_key, secret_key, session_token } = await awsCredentials(request, region)()
  const { AwsClient } = await import('google-auth-library')
  const client = new AwsClient({
    type: 'external_account',
    audience,
    subject_token_type,
    token_url,
    aws_security_credentials_supplier: {
      getAwsRegion: async () => region,
      getAwsSecurityCredentials: async () => ({
        accessKeyId: access_key,
        secretAccessKey: secret_key,
        ...(session_token ? { token: session_token } : {}),
      }),
    },
  })
  return client.retrieveSubjectToken()
}
