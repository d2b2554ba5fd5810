import { createPrivateKey } from 'node:crypto'
import * as v from 'valibot'
import type { ObtainToken } from '../tokens.ts'
import { InventoryError } from '../types.ts'
import { ExternalAccountFile, externalAccountToken } from './external-account.ts'
import { impersonate, obtainByLibrary, SCOPE, type TokenContext } from './library.ts'

const ImpersonatedFile = v.object({
  type: v.literal('impersonated_service_account'),
  service_account_impersonation_url: v.string(),
  delegates: v.optional(v.array(v.string()), []),
  source_credentials: v.unknown(),
})

const Common = v.object({
  type: v.string(),
  universe_domain: v.optional(v.string()),
  quota_project_id: v.optional(v.string()),
})

export interface CredentialFile {
  universe: string | undefined
  /** The project whose quota the calls use. */
  quotaProject: string | undefined
  token: (context: TokenContext) => ObtainToken
}

const SUPPORTED =
  'supported are service_account, authorized_user, external_account, external_account_authorized_user and ' +
  'impersonated_service_account'

/** Parses credentials in one of Google's JSON forms. Errors name `origin` and not the text. */
export function parseCredentialFile(text: string, origin: string): CredentialFile {
  const json = parse(text, origin)
  const common = v.safeParse(Common, json)
  if (!common.success) throw new InventoryError(`${origin} holds no Google credentials`)
  return {
    universe: common.output.universe_domain,
    quotaProject: common.output.quota_project_id,
    token: (context) => tokenOf(context, json, origin),
  }
}

function parse(text: string, origin: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InventoryError(`${origin} is neither a file nor JSON`)
  }
}

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
  type: v.literal('service_account'),
  client_email: v.pipe(v.string(), v.minLength(1)),
  private_key: v.pipe(v.string(), v.minLength(1)),
  private_key_id: v.optional(v.string()),
  token_uri: v.optional(v.string(), 'https://oauth2.googleapis.com/token'),
  universe_domain: v.optional(v.string()),
})
type File = v.InferOutput<typeof ServiceAccountFile>

const LIFETIME_MS = 3600 * 1000

/**
 * Exchanges a signed assertion, which in other universes is the token itself.
 * https://developers.google.com/identity/protocols/oauth2/service-account
 */
function serviceAccountToken({ request, universe }: TokenContext, file: File): ObtainToken {
  checkSigningKey(file.private_key)
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
      return { value, expiresAt: request.now().getTime() + LIFETIME_MS }
    }
  return obtainByLibrary(
    { request, source: 'Google OAuth', url: file.token_uri, secrets: [] },
    ({ JWT }, transporterOptions) =>
      new JWT({ ...account, additionalClaims: { aud: file.token_uri }, transporterOptions }),
  )
}

/** Refuses a bad key before the library does, because a message of the parser may quote a part of it. */
function checkSigningKey(pem: string): void {
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'rsa') return
  } catch {
    // The error below suffices.
  }
  throw new InventoryError('the private_key of the Google credentials is no RSA key')
}

const AuthorizedUserFile = v.object({
  type: v.literal('authorized_user'),
  client_id: v.string(),
  client_secret: v.string(),
  refresh_token: v.string(),
  token_uri: v.optional(v.string(), 'https://oauth2.googleapis.com/token'),
})

/** Obtains tokens from the file that `gcloud auth application-default login` writes. */
function authorizedUserToken(
  { request }: TokenContext,
  { client_id: clientId, client_secret, refresh_token, token_uri }: v.InferOutput<typeof AuthorizedUserFile>,
): ObtainToken {
  const [clientSecret, refreshToken] = [client_secret, refresh_token]
  return obtainByLibrary(
    { request, source: 'Google OAuth', url: token_uri, secrets: [clientSecret, refreshToken] },
    ({ UserRefreshClient }, transporterOptions) =>
      new UserRefreshClient({ clientId, clientSecret, refreshToken, transporterOptions }),
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
