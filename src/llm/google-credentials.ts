import * as v from 'valibot'
import { type ChainTools, CredentialError } from '../aws/credentials.ts'
import { OutboundError, type OutboundRequest, send, TRANSIENT_STATUSES } from '../base/http.ts'
import { memberOf, parseJson } from '../base/json.ts'

interface GoogleTools extends Pick<ChainTools, 'fetch' | 'readFile'> {
  now: () => number
}

/** Sources of tokens, in the order of use. An unconfigured one is empty. */
interface GoogleSources {
  /** A finished token, which is not renewed. */
  access_token: string
  /** The path of a credentials file, or its JSON text. */
  credentials: string
  credentials_file: string
  /** The path at which Google's tools store a user's credentials; used when the file exists. */
  wellKnownFile: string
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const METADATA = 'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token'
const RENEW_BEFORE_MS = 5 * 60_000

/** Returns a source of bearer tokens, cached until five minutes before expiry. It throws `CredentialError`. */
export function googleTokens(sources: GoogleSources, tools: GoogleTools): () => Promise<string> {
  if (sources.access_token !== '') return async () => sources.access_token
  let kept: Token | null = null
  let pending: Promise<Token> | null = null
  return async () => {
    if (kept && tools.now() < kept.expires_at - RENEW_BEFORE_MS) return kept.value
    pending ??= obtainToken(sources, tools).finally(() => {
      pending = null
    })
    kept = await pending
    return kept.value
  }
}

type Token = Awaited<ReturnType<typeof fetchToken>>

async function obtainToken(sources: GoogleSources, tools: GoogleTools) {
  const file = await findFile(sources, tools)
  if (!file)
    return fetchToken(
      tools,
      { url: METADATA, headers: { 'metadata-flavor': 'Google' }, timeoutMs: 3_000 },
      'no credentials are set up (VERTEXAI_CREDENTIALS, GOOGLE_APPLICATION_CREDENTIALS, GOOGLE_OAUTH_ACCESS_TOKEN), ' +
        'and the metadata server',
    )
  const body = new URLSearchParams(file.type === 'service_account' ? await signGrant(file, tools) : refreshGrant(file))
  return fetchToken(tools, { url: file.token_uri, method: 'POST', body, timeoutMs: 10_000 }, 'the token service')
}

async function findFile(sources: GoogleSources, tools: GoogleTools): Promise<CredentialFile | null> {
  const { credentials, credentials_file, wellKnownFile } = sources
  if (credentials.startsWith('{')) return parseCredentialFile(credentials, 'VERTEXAI_CREDENTIALS')
  if (credentials !== '') return readCredentialFile(credentials, 'the file that VERTEXAI_CREDENTIALS names', tools)
  if (credentials_file !== '')
    return readCredentialFile(credentials_file, 'the file that GOOGLE_APPLICATION_CREDENTIALS names', tools)
  const text = wellKnownFile === '' ? null : await tools.readFile(wellKnownFile).catch(() => null)
  return text === null ? null : parseCredentialFile(text, 'the credentials file of gcloud')
}

async function readCredentialFile(path: string, what: string, tools: GoogleTools): Promise<CredentialFile> {
  const text = await tools.readFile(path).catch((cause: unknown) => {
    throw new CredentialError(`${what} cannot be read`, cause, false)
  })
  if (text === null) throw new CredentialError(`${what} does not exist`)
  return parseCredentialFile(text, what)
}

async function signGrant(
  file: v.InferOutput<typeof serviceAccount>,
  tools: GoogleTools,
): Promise<Record<string, string>> {
  const { importPKCS8, SignJWT } = await import('jose')
  const key = await importPKCS8(file.private_key, 'RS256').catch((cause: unknown) => {
    throw new CredentialError('the private key of the service account cannot be read', cause, false)
  })
  const now = Math.floor(tools.now() / 1000)
  const assertion = await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(file.private_key_id && { kid: file.private_key_id }) })
    .setIssuer(file.client_email)
    .setSubject(file.client_email)
    .setAudience(file.token_uri)
    .setIssuedAt(now)
    .setExpirationTime(now + 3600)
    .sign(key)
  return { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }
}

const refreshGrant = ({ type: _, token_uri: __, ...user }: v.InferOutput<typeof authorizedUser>) => ({
  grant_type: 'refresh_token',
  ...user,
})

const answerSchema = v.object({
  access_token: v.pipe(v.string(), v.nonEmpty()),
  expires_in: v.optional(v.number(), 3600),
})

/** @param what the subject of an error text, for example `the token service` */
async function fetchToken(tools: GoogleTools, tokenRequest: OutboundRequest, what: string) {
  const response = await send(tools.fetch, {
    ...tokenRequest,
    retries: 1,
    retryStatuses: TRANSIENT_STATUSES,
    maxBytes: 1024 * 1024,
  }).catch((cause: unknown) => {
    const reason = cause instanceof OutboundError ? cause.message : 'the request was refused'
    throw new CredentialError(`${what} does not answer (${reason})`, cause, true)
  })
  if (response.status !== 200)
    throw new CredentialError(
      `${what} answers ${response.status}${errorCodeOf(response.text())}`,
      undefined,
      response.status >= 500,
    )
  const answer = v.safeParse(answerSchema, parseJson(response.text()))
  if (!answer.success) throw new CredentialError(`${what} answers without a token`)
  return { value: answer.output.access_token, expires_at: tools.now() + answer.output.expires_in * 1000 }
}

/** Returns the error code of a response, for example ` (invalid_grant)`. The rest of it might contain a secret. */
function errorCodeOf(text: string): string {
  const code = /"error"\s*:\s*"([a-z_]{1,40})"/.exec(text)?.[1]
  return code ? ` (${code})` : ''
}

const filled = v.pipe(v.string(), v.nonEmpty())
const token_uri = v.optional(v.string(), 'https://oauth2.googleapis.com/token')
const serviceAccount = v.object({
  type: v.literal('service_account'),
  client_email: filled,
  private_key: filled,
  private_key_id: v.optional(v.string()),
  token_uri,
})
const authorizedUser = v.object({
  type: v.literal('authorized_user'),
  client_id: filled,
  client_secret: filled,
  refresh_token: filled,
  token_uri,
})

const credentialFile = v.variant('type', [serviceAccount, authorizedUser])
type CredentialFile = v.InferOutput<typeof credentialFile>

/**
 * Parses the credentials of a service account or of a user. Throws `CredentialError`, whose text quotes nothing of the
 * file.
 * @param what the name of the file in error texts
 */
function parseCredentialFile(text: string, what: string): CredentialFile {
  const value = parseJson(text)
  if (value === undefined) throw new CredentialError(`${what} is not JSON`)
  const parsed = v.safeParse(credentialFile, value)
  if (parsed.success) return parsed.output
  const type = memberOf(value, 'type')
  throw new CredentialError(
    type === 'service_account' || type === 'authorized_user'
      ? `${what} lacks a field`
      : `${what} is of a type that is not supported (supported: service_account, authorized_user)`,
  )
}
