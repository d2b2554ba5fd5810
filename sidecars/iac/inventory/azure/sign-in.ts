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
    const client = new TokenEndpoint(request, environment, application, proof)
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

/** Sends the library's requests by our fetch, to the tenant's token endpoint only, and answers questions about it. */
class TokenEndpoint implements HttpClient {
  /** The address for the library, which accepts https only; on this machine the real one may be plain http. */
  readonly authority: string
  /** The reason why the last request has failed, in words for the user. */
  failure: unknown
  lifetimeMs = DEFAULT_LIFETIME_S * 1000
  readonly #tenant: string
  readonly #secrets: string[]
  readonly #request: InventoryRequest
  readonly #login: string

  constructor(request: InventoryRequest, { login }: AzureEnvironment, { tenantId }: Application, proof: Proof) {
    this.#request = request
    this.#login = login
    this.authority = login.replace(/^http:/, 'https:')
    this.#tenant = `${this.authority}/${tenantId}`
    this.#secrets = 'pem' in proof ? [] : Object.values(proof)
  }

  async sendRequest(outgoing: Outgoing): Promise<Answer> {
    try {
      const path = outgoing.url.startsWith(`${this.#tenant}/`) ? outgoing.url.slice(this.#tenant.length) : ''
      if (/^\/v2\.0\/\.well-known\/openid-configuration(\?|$)/.test(path)) return this.#describe(outgoing)
      if (!/^\/oauth2\/v2\.0\/token(\?|$)/.test(path) || typeof outgoing.body !== 'string')
        throw new InventoryError(`an address that is none of ${SOURCE} was to be asked`)
      return await this.#exchange(outgoing, outgoing.body)
    } catch (error) {
      this.failure = error
      throw error
    }
  }

  async #exchange(outgoing: Outgoing, body: string): Promise<Answer> {
    const assertion = new URLSearchParams(body).get('client_assertion')
    const answer = await askShape(tokenAnswer, {
      request: this.#request,
      source: SOURCE,
      url: `${this.#login}${outgoing.url.slice(this.authority.length)}`,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
      secrets: [...this.#secrets, ...(assertion ? [assertion] : [])].flatMap((one) => [one, encodeURIComponent(one)]),
    })
    this.lifetimeMs = (answer.expires_in ?? DEFAULT_LIFETIME_S) * 1000
    return answerOf(outgoing, { token_type: 'Bearer', expires_in: DEFAULT_LIFETIME_S, ...answer })
  }

  /** Answers for the metadata of an unknown cloud: the library would post the secret to the addresses in it. */
  #describe(outgoing: Outgoing): Answer {
    return answerOf(outgoing, {
      issuer: `${this.#tenant}/v2.0`,
      authorization_endpoint: `${this.#tenant}/oauth2/v2.0/authorize`,
      token_endpoint: `${this.#tenant}/oauth2/v2.0/token`,
      jwks_uri: `${this.#tenant}/discovery/v2.0/keys`,
    })
  }
}

/** Builds an answer for the library, which needs no headers. */
function answerOf(request: Outgoing, body: object): Answer {
  return { request, status: 200, headers: request.headers, bodyAsText: JSON.stringify(body) }
}
