import type { ClientSecretCredentialOptions, TokenCredential } from '@azure/identity'
import { askShape } from '../http.ts'
import { type ObtainToken, tokenAnswer } from '../tokens.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import type { AzureEnvironment } from './environment.ts'

export interface Application {
  tenantId: string
  clientId: string
}

/** The proof of an application: a secret, a token of another issuer, or key and certificate in PEM. */
export type Proof = { secret: string } | { assertion: string } | { pem: string }

const SOURCE = 'Microsoft Entra ID'

/**
 * Obtains tokens by the vendor's library, with a new credential each, so that it caches none. `prove` runs each time.
 * https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 */
export function signIn(
  request: InventoryRequest,
  environment: AzureEnvironment,
  application: Application,
  prove: () => Promise<Proof>,
): ObtainToken {
  if (!/^[A-Za-z0-9.-]+$/.test(application.tenantId))
    throw new InventoryError('ARM_TENANT_ID is neither the id nor a domain of a tenant')
  return async () => {
    const proof = await prove()
    const client = createTokenEndpoint(request, environment, application, proof)
    const credential = await createCredential(application, proof, {
      authorityHost: client.authority,
      disableInstanceDiscovery: true,
      httpClient: client,
      retryOptions: { maxRetries: 0 },
    })
    const token = await credential.getToken(`${environment.audience}/.default`).catch((error: unknown) => {
      throw client.failure ?? new InventoryError(`no token could be asked of ${SOURCE}`, { cause: error })
    })
    if (token === null) throw new InventoryError(`${SOURCE} gave no token`)
    return { value: token.token, expiresAt: request.now().getTime() + client.lifetimeMs }
  }
}

/** Creates the one credential that is configured; the library's chain of all kinds is never used. */
async function createCredential(
  { tenantId, clientId }: Application,
  proof: Proof,
  options: ClientSecretCredentialOptions,
): Promise<TokenCredential> {
  const library = await import('@azure/identity')
  if ('secret' in proof) return new library.ClientSecretCredential(tenantId, clientId, proof.secret, options)
  if ('pem' in proof)
    return new library.ClientCertificateCredential(tenantId, clientId, { certificate: proof.pem }, options)
  return new library.ClientAssertionCredential(tenantId, clientId, async () => proof.assertion, options)
}

type HttpClient = NonNullable<ClientSecretCredentialOptions['httpClient']>
type Outgoing = Parameters<HttpClient['sendRequest']>[0]
type Answer = Awaited<ReturnType<HttpClient['sendRequest']>>

const DEFAULT_LIFETIME_S = 3600

/**
 * Creates the client that sends the library's requests by our fetch, to the tenant's token endpoint only, and answers
 * questions about it.
 */
function createTokenEndpoint(
  request: InventoryRequest,
  { login }: AzureEnvironment,
  { tenantId }: Application,
  proof: Proof,
) {
  const authority = login.replace(/^http:/, 'https:')
  const tenant = `${authority}/${tenantId}`

  async function exchange(outgoing: Outgoing, body: string): Promise<Answer> {
    const assertion = new URLSearchParams(body).get('client_assertion')
    const secrets = [...('pem' in proof ? [] : Object.values(proof)), ...(assertion ? [assertion] : [])]
    const answer = await askShape(tokenAnswer, {
      request,
      source: SOURCE,
      url: `${login}${outgoing.url.slice(authority.length)}`,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
      secrets: secrets.flatMap((one) => [one, encodeURIComponent(one)]),
    })
    endpoint.lifetimeMs = (answer.expires_in ?? DEFAULT_LIFETIME_S) * 1000
    return answerOf(outgoing, { token_type: 'Bearer', expires_in: DEFAULT_LIFETIME_S, ...answer })
  }

  const endpoint = {
    /** The address for the library, which accepts https only; on this machine the real one may be plain http. */
    authority,
    /** The reason why the last request has failed, in words for the user. */
    failure: undefined as unknown,
    lifetimeMs: DEFAULT_LIFETIME_S * 1000,
    async sendRequest(outgoing: Outgoing): Promise<Answer> {
      try {
        const path = outgoing.url.startsWith(`${tenant}/`) ? outgoing.url.slice(tenant.length) : ''
        // The metadata of an unknown cloud could name other addresses, to which the library would post the secret.
        if (/^\/v2\.0\/\.well-known\/openid-configuration(\?|$)/.test(path))
          return answerOf(outgoing, {
            issuer: `${tenant}/v2.0`,
            authorization_endpoint: `${tenant}/oauth2/v2.0/authorize`,
            token_endpoint: `${tenant}/oauth2/v2.0/token`,
            jwks_uri: `${tenant}/discovery/v2.0/keys`,
          })
        if (!/^\/oauth2\/v2\.0\/token(\?|$)/.test(path) || typeof outgoing.body !== 'string')
          throw new InventoryError(`an address that is none of ${SOURCE} was to be asked`)
        return await exchange(outgoing, outgoing.body)
      } catch (error) {
        endpoint.failure = error
        throw error
      }
    },
  }
  return endpoint
}

/** Builds an answer for the library, which needs no headers. */
function answerOf(request: Outgoing, body: object): Answer {
  return { request, status: 200, headers: request.headers, bodyAsText: JSON.stringify(body) }
}
