import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { OutboundError } from '../../../../src/base/http.ts'
import { parseJson } from '../../../../src/base/json.ts'
import { asAccessToken, askShape, keepToken, type ObtainToken, tokenAnswer } from '../http.ts'
import {
  type Env,
  InventoryError,
  type InventoryRequest,
  parseRsaKey,
  readNamedText,
  serviceUrl,
  setting,
} from '../request.ts'
import {
  ExternalAccountFile,
  externalAccountToken,
  impersonate,
  impersonationUrl,
  obtainByLibrary,
  SCOPE,
  type TokenContext,
} from './tokens.ts'

export type GcpAccess = Awaited<ReturnType<typeof readGcpAccess>>

const NONE =
  'no Google Cloud credentials configured for scope discovery; set GOOGLE_CREDENTIALS, ' +
  'GOOGLE_OAUTH_ACCESS_TOKEN or GOOGLE_APPLICATION_CREDENTIALS, or run where a metadata server answers'

/**
 * Reads the first credentials found: an access token; `GOOGLE_CREDENTIALS` (path or JSON); the application default
 * credentials, which are `GOOGLE_APPLICATION_CREDENTIALS`, the file of gcloud and the metadata server.
 * `GOOGLE_IMPERSONATE_SERVICE_ACCOUNT` then names an account in whose name all calls are made. Returns the addresses of
 * the services and what gives the headers of a call.
 */
export async function readGcpAccess(request: InventoryRequest) {
  const { env } = request
  const accessToken = setting(env, 'GOOGLE_OAUTH_ACCESS_TOKEN')
  const file = accessToken === undefined ? await readConfiguredFile(env) : null
  const endpoints = gcpEndpoints(env, file?.universe)
  const declared = universeOf(env) ?? file?.universe
  const universe = declared === DEFAULT_UNIVERSE ? undefined : declared
  let obtain: ObtainToken
  if (accessToken !== undefined) obtain = async () => ({ value: accessToken, expiresAt: Number.POSITIVE_INFINITY })
  else obtain = file?.token({ request, universe }) ?? metadataServerToken(request)
  const account = setting(env, 'GOOGLE_IMPERSONATE_SERVICE_ACCOUNT')
  if (account) obtain = impersonate(request, impersonationUrl(endpoints.iamCredentials, account), obtain)
  const token = keepToken(request, obtain)
  const project = quotaProject(env, file)
  const own: Record<string, string> = project ? { 'x-goog-user-project': project } : {}
  return { endpoints, headers: async () => ({ authorization: `Bearer ${await token()}`, ...own }) }
}

/** Returns the quota project. As in the engine's provider, a billing project counts only when it is switched on. */
function quotaProject(env: Env, file: CredentialFile | null): string | undefined {
  const override = /^(true|1)$/i.test(setting(env, 'USER_PROJECT_OVERRIDE') ?? '')
  const billing = override ? setting(env, 'GOOGLE_BILLING_PROJECT') : undefined
  return billing ?? setting(env, 'GOOGLE_CLOUD_QUOTA_PROJECT') ?? file?.quotaProject
}

async function readConfiguredFile(env: Env): Promise<CredentialFile | null> {
  const credentials = setting(env, 'GOOGLE_CREDENTIALS', 'GOOGLE_CLOUD_KEYFILE_JSON', 'GCLOUD_KEYFILE_JSON')
  if (credentials !== undefined) {
    const text = credentials.startsWith('{') ? credentials : await readNamedText(credentials, 'GOOGLE_CREDENTIALS', env)
    return parseCredentialFile(text, 'GOOGLE_CREDENTIALS')
  }
  const path = setting(env, 'GOOGLE_APPLICATION_CREDENTIALS')
  const name = 'GOOGLE_APPLICATION_CREDENTIALS'
  if (path !== undefined) return parseCredentialFile(await readNamedText(path, name, env), name)
  const folder = setting(env, 'CLOUDSDK_CONFIG') ?? (env.HOME ? join(env.HOME, '.config', 'gcloud') : null)
  const own = folder === null ? null : join(folder, 'application_default_credentials.json')
  if (own === null || !existsSync(own)) return null
  return parseCredentialFile(await readNamedText(own, 'gcloud', env), 'the credentials file of gcloud')
}

/** The server is on the machine itself, so it answers at once if it exists. */
const LIMITS = { timeoutMs: 5_000, retries: 1 }

/** Obtains tokens. https://cloud.google.com/compute/docs/access/authenticate-workloads#applications */
function metadataServerToken(request: InventoryRequest): ObtainToken {
  const host = setting(request.env, 'GCE_METADATA_HOST') ?? 'metadata.google.internal'
  if (!/^[A-Za-z0-9.\-_[\]:]+$/.test(host)) throw new InventoryError('GCE_METADATA_HOST is not a host')
  const url = `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`
  return async () => {
    try {
      const headers = { 'metadata-flavor': 'Google' }
      const question = { request, source: 'Google metadata server', url, headers, ...LIMITS }
      return asAccessToken(await askShape(tokenAnswer, question), request)
    } catch (error) {
      // The server was the last possibility: without it, no credentials are configured at all.
      if (error instanceof InventoryError && error.cause instanceof OutboundError)
        throw new InventoryError(NONE, { cause: error })
      throw error
    }
  }
}

const DEFAULT_UNIVERSE = 'googleapis.com'

/**
 * Returns the API addresses with their version, without a trailing slash. As for the engine's provider, a variable can
 * give the whole address of one API, version included, and another one the universe of all.
 * @param universe that of the credentials, where they name one
 */
function gcpEndpoints(env: Env, universe: string | undefined) {
  const domain = universeOf(env) ?? universe ?? DEFAULT_UNIVERSE
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(domain)) throw new InventoryError('GOOGLE_UNIVERSE_DOMAIN is not a domain')
  const endpoint = (name: string, service: string) =>
    serviceUrl(setting(env, name) ?? `https://${service}.${domain}/v1`, name)
  return {
    resourceManager: endpoint('GOOGLE_RESOURCE_MANAGER_CUSTOM_ENDPOINT', 'cloudresourcemanager'),
    cloudAsset: endpoint('GOOGLE_CLOUD_ASSET_CUSTOM_ENDPOINT', 'cloudasset'),
    iamCredentials: endpoint('GOOGLE_IAM_CREDENTIALS_CUSTOM_ENDPOINT', 'iamcredentials'),
  }
}

const universeOf = (env: Env): string | undefined =>
  setting(env, 'GOOGLE_UNIVERSE_DOMAIN', 'GOOGLE_CLOUD_UNIVERSE_DOMAIN')

const ImpersonatedFile = v.object({
  service_account_impersonation_url: v.string(),
  delegates: v.optional(v.array(v.string()), []),
  source_credentials: v.unknown(),
})

const Common = v.object({
  type: v.string(),
  universe_domain: v.optional(v.string()),
  quota_project_id: v.optional(v.string()),
})

const SUPPORTED =
  'supported are service_account, authorized_user, external_account, external_account_authorized_user and ' +
  'impersonated_service_account'

/** Parses credentials in one of Google's JSON forms. Errors name `origin` and not the text. */
function parseCredentialFile(text: string, origin: string) {
  const json = parseJson(text)
  if (json === undefined) throw new InventoryError(`${origin} is neither a file nor JSON`)
  const common = v.safeParse(Common, json)
  if (!common.success) throw new InventoryError(`${origin} holds no Google credentials`)
  return {
    universe: common.output.universe_domain,
    /** The project whose quota the calls use. */
    quotaProject: common.output.quota_project_id,
    token: (context: TokenContext) => tokenOf(context, json, origin),
  }
}

type CredentialFile = ReturnType<typeof parseCredentialFile>

function tokenOf(context: TokenContext, json: unknown, origin: string, nested = false): ObtainToken {
  const { type } = checkFields(v.object({ type: v.string() }), json, origin)
  if (type === 'service_account') return serviceAccountToken(context, checkFields(ServiceAccountFile, json, origin))
  if (type === 'authorized_user') return authorizedUserToken(context, checkFields(AuthorizedUserFile, json, origin))
  if (type === 'external_account_authorized_user')
    return workforceUserToken(context, checkFields(WorkforceUserFile, json, origin))
  if (type === 'external_account') return externalAccountToken(context, checkFields(ExternalAccountFile, json, origin))
  if (type !== 'impersonated_service_account' || nested)
    throw new InventoryError(`${origin} holds credentials of a type that this discovery cannot use; ${SUPPORTED}`)
  const file = checkFields(ImpersonatedFile, json, origin)
  const source = tokenOf(context, file.source_credentials, origin, true)
  return impersonate(context.request, file.service_account_impersonation_url, source, file.delegates)
}

function checkFields<Schema extends v.GenericSchema>(
  schema: Schema,
  json: unknown,
  origin: string,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, json)
  if (parsed.success) return parsed.output
  throw new InventoryError(`${origin} lacks ${v.getDotPath(parsed.issues[0]) ?? 'what credentials of its type need'}`)
}

const ServiceAccountFile = v.object({
  client_email: v.pipe(v.string(), v.minLength(1)),
  private_key: v.pipe(v.string(), v.minLength(1)),
  private_key_id: v.optional(v.string()),
  token_uri: v.optional(v.string(), 'https://oauth2.googleapis.com/token'),
})

/**
 * Exchanges a signed assertion, which in other universes is the token itself.
 * https://developers.google.com/identity/protocols/oauth2/service-account
 */
function serviceAccountToken(
  { request, universe }: TokenContext,
  file: v.InferOutput<typeof ServiceAccountFile>,
): ObtainToken {
  // A bad key is refused before the library does it, whose message may quote a part of the key.
  if (!parseRsaKey(file.private_key))
    throw new InventoryError('the private_key of the Google credentials is no RSA key')
  const account = {
    email: file.client_email,
    key: file.private_key,
    ...(file.private_key_id ? { keyId: file.private_key_id } : {}),
    scopes: [SCOPE],
  }
  if (universe !== undefined)
    return async () => {
      const { JWT } = await import('google-auth-library')
      const headers = await new JWT({ ...account, universeDomain: universe }).getRequestHeaders()
      const value = headers.get('authorization')?.replace(/^Bearer /, '') ?? ''
      return asAccessToken({ access_token: value }, request)
    }
  return obtainByLibrary(
    { request, source: 'Google OAuth', url: file.token_uri, secrets: [] },
    ({ JWT }, transporterOptions) =>
      new JWT({ ...account, additionalClaims: { aud: file.token_uri }, transporterOptions }),
  )
}

const AuthorizedUserFile = v.object({
  client_id: v.string(),
  client_secret: v.string(),
  refresh_token: v.string(),
  token_uri: v.optional(v.string(), 'https://oauth2.googleapis.com/token'),
})

/** Obtains tokens from the file that `gcloud auth application-default login` writes. */
function authorizedUserToken(
  { request }: TokenContext,
  { client_id, client_secret, refresh_token, token_uri }: v.InferOutput<typeof AuthorizedUserFile>,
): ObtainToken {
  const account = { clientId: client_id, clientSecret: client_secret, refreshToken: refresh_token }
  return obtainByLibrary(
    { request, source: 'Google OAuth', url: token_uri, secrets: [client_secret, refresh_token] },
    ({ UserRefreshClient }, transporterOptions) => new UserRefreshClient({ ...account, transporterOptions }),
  )
}

const WorkforceUserFile = v.object({
  type: v.literal('external_account_authorized_user'),
  audience: v.optional(v.string(), ''),
  client_id: v.string(),
  client_secret: v.string(),
  refresh_token: v.string(),
  token_url: v.optional(v.string(), 'https://sts.googleapis.com/v1/oauthtoken'),
  token_info_url: v.optional(v.string(), ''),
})

/** Obtains tokens for a user of a workforce pool, signed in by another issuer. */
function workforceUserToken({ request }: TokenContext, file: v.InferOutput<typeof WorkforceUserFile>): ObtainToken {
  return obtainByLibrary(
    {
      request,
      source: 'Google Security Token Service',
      url: file.token_url,
      secrets: [file.client_secret, file.refresh_token],
    },
    ({ ExternalAccountAuthorizedUserClient }, transporterOptions) =>
      new ExternalAccountAuthorizedUserClient({ ...file, transporterOptions }),
  )
}
