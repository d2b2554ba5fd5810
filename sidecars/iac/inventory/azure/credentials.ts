import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { ClientSecretCredentialOptions, TokenCredential } from '@azure/identity'
import * as v from 'valibot'
import { type AccessToken, asAccessToken, askShape, type ObtainToken, tokenAnswer, tokenText } from '../http.ts'
import {
  InventoryError,
  type InventoryRequest,
  isOn,
  readNamed,
  readNamedText,
  serviceUrl,
  setting,
} from '../request.ts'

const NONE = 'no Azure credentials configured for scope discovery'
const CHOICES =
  'set ARM_TENANT_ID, ARM_CLIENT_ID and one of ARM_CLIENT_SECRET, ARM_CLIENT_CERTIFICATE_PATH and ARM_USE_OIDC, ' +
  'or ARM_USE_MSI, or ARM_USE_AKS_WORKLOAD_IDENTITY'

/**
 * Reads the first form of credentials that is switched on, in this order: managed identity, workload identity of AKS,
 * OIDC token, client certificate, client secret. An incomplete one is an error and never skipped.
 */
export async function readAzureCredentials(
  request: InventoryRequest,
  environment: AzureEnvironment,
): Promise<ObtainToken> {
  const { env } = request
  const application = async (prove: () => Promise<Proof>, form: string, ...instead: string[]) =>
    signIn(request, environment, await readApplication(request, form, ...instead), prove)
  if (isOn(env, 'ARM_USE_MSI')) return managedIdentity(request, environment)
  if (isOn(env, 'ARM_USE_AKS_WORKLOAD_IDENTITY')) {
    const instead = ['AZURE_TENANT_ID', 'AZURE_CLIENT_ID']
    return application(() => readWorkloadIdentity(request), 'ARM_USE_AKS_WORKLOAD_IDENTITY', ...instead)
  }
  if (isOn(env, 'ARM_USE_OIDC')) return application(() => readOidcToken(request), 'ARM_USE_OIDC')
  const certificate = ['ARM_CLIENT_CERTIFICATE_PATH', 'ARM_CLIENT_CERTIFICATE'].find((name) => setting(env, name))
  if (certificate) {
    const named = await readApplication(request, certificate)
    const pem = await readCertificate(request)
    return signIn(request, environment, named, async () => ({ pem }))
  }
  const path = setting(env, 'ARM_CLIENT_SECRET_FILE_PATH')
  // Not trimmed: blanks may belong to a secret.
  const secret = env.ARM_CLIENT_SECRET || (path && (await readNamedText(path, 'ARM_CLIENT_SECRET_FILE_PATH', env)))
  if (!secret) throw new InventoryError(`${NONE}; ${CHOICES}`)
  return application(async () => ({ secret }), 'ARM_CLIENT_SECRET')
}

async function readApplication({ env }: InventoryRequest, form: string, ...instead: string[]): Promise<Application> {
  const [tenantInstead = '', clientInstead = ''] = instead
  const tenantId = setting(env, 'ARM_TENANT_ID', tenantInstead)
  const path = setting(env, 'ARM_CLIENT_ID_FILE_PATH')
  const clientId =
    setting(env, 'ARM_CLIENT_ID') ??
    (path ? await readNamedText(path, 'ARM_CLIENT_ID_FILE_PATH', env) : setting(env, clientInstead))
  if (tenantId && clientId) return { tenantId, clientId }
  const missing = [tenantId ? '' : 'ARM_TENANT_ID', clientId ? '' : 'ARM_CLIENT_ID'].filter(Boolean).join(' and ')
  throw new InventoryError(`${NONE}; ${form} needs ${missing} too`)
}

const GITHUB = 'GitHub OIDC provider'
const AUDIENCE = 'api://AzureADTokenExchange'

/** Reads the token of the cluster's service account, each time because the cluster renews it. */
async function readWorkloadIdentity({ env }: InventoryRequest): Promise<Proof> {
  const path = setting(env, 'AZURE_FEDERATED_TOKEN_FILE')
  if (!path) throw new InventoryError('ARM_USE_AKS_WORKLOAD_IDENTITY is set, but AZURE_FEDERATED_TOKEN_FILE is not')
  return { assertion: await readNamedText(path, 'AZURE_FEDERATED_TOKEN_FILE', env) }
}

/** Reads `ARM_OIDC_TOKEN` or `ARM_OIDC_TOKEN_FILE_PATH`, else asks the host of a GitHub workflow for a token. */
async function readOidcToken(request: InventoryRequest): Promise<Proof> {
  const { env } = request
  const token = setting(env, 'ARM_OIDC_TOKEN')
  if (token) return { assertion: token }
  const path = setting(env, 'ARM_OIDC_TOKEN_FILE_PATH')
  if (path) return { assertion: await readNamedText(path, 'ARM_OIDC_TOKEN_FILE_PATH', env) }
  const url = setting(env, 'ARM_OIDC_REQUEST_URL', 'ACTIONS_ID_TOKEN_REQUEST_URL')
  const bearer = setting(env, 'ARM_OIDC_REQUEST_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN')
  if (!url || !bearer)
    throw new InventoryError(
      'ARM_USE_OIDC is set, but neither ARM_OIDC_TOKEN, ARM_OIDC_TOKEN_FILE_PATH nor ARM_OIDC_REQUEST_URL ' +
        'and _TOKEN are',
    )
  const issuer = new URL(serviceUrl(url, 'ARM_OIDC_REQUEST_URL'))
  issuer.searchParams.set('audience', AUDIENCE)
  const headers = { authorization: `Bearer ${bearer}` }
  const { value } = await askShape(v.object({ value: tokenText }), { request, source: GITHUB, url: issuer, headers })
  return { assertion: value }
}

const INSTANCE = 'http://169.254.169.254/metadata/identity/oauth2/token'
/** The service is on the machine itself, so it answers at once if it exists. */
const LIMITS = { timeoutMs: 10_000, retries: 3 }

const seconds = v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,12}$/), v.transform(Number))])
const Lifetime = v.object({ access_token: tokenText, expires_in: v.optional(seconds), expires_on: v.optional(seconds) })

/** Obtains tokens from `ARM_MSI_ENDPOINT`, else `IDENTITY_ENDPOINT` (App Service), else the metadata service. */
function managedIdentity(request: InventoryRequest, environment: AzureEnvironment): ObtainToken {
  return async () => {
    const { url, headers } = identityEndpoint(request, environment.audience)
    const question = { request, source: 'Azure managed identity', url, headers, ...LIMITS }
    const { access_token, expires_in = 300, expires_on } = await askShape(Lifetime, question)
    return { value: access_token, expiresAt: (expires_on ?? request.now().getTime() / 1000 + expires_in) * 1000 }
  }
}

function identityEndpoint({ env }: InventoryRequest, resource: string): { url: URL; headers: Record<string, string> } {
  const own = setting(env, 'ARM_MSI_ENDPOINT')
  const endpoint = setting(env, 'IDENTITY_ENDPOINT')
  const key = setting(env, 'IDENTITY_HEADER')
  const hosted = own === undefined && endpoint !== undefined && key !== undefined
  const url = new URL(own ?? (hosted ? endpoint : INSTANCE))
  url.searchParams.set('api-version', hosted ? '2019-08-01' : '2018-02-01')
  url.searchParams.set('resource', resource)
  const clientId = setting(env, 'ARM_CLIENT_ID')
  if (clientId) url.searchParams.set('client_id', clientId)
  return { url, headers: hosted ? { 'x-identity-header': key } : { metadata: 'true' } }
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g

/** Reads key and certificate, PKCS #12 or PEM, as the unencrypted PEM that the vendor's library alone reads. */
async function readCertificate({ env }: InventoryRequest): Promise<string> {
  const path = setting(env, 'ARM_CLIENT_CERTIFICATE_PATH')
  const name = path ? 'ARM_CLIENT_CERTIFICATE_PATH' : 'ARM_CLIENT_CERTIFICATE'
  const bytes = path ? await readNamed(path, name, env) : Buffer.from(env.ARM_CLIENT_CERTIFICATE ?? '', 'base64')
  const { keys, certificates } = await parse(bytes, env.ARM_CLIENT_CERTIFICATE_PASSWORD ?? '', name)
  for (const key of keys)
    for (const certificate of certificates)
      if (key.asymmetricKeyType === 'rsa' && certificate.checkPrivateKey(key))
        return `${key.export({ format: 'pem', type: 'pkcs8' })}${certificate.toString()}`
  throw new InventoryError(`${name} holds no RSA key with its certificate`)
}

async function parse(bytes: Buffer, password: string, name: string): Promise<KeysAndCertificates> {
  try {
    const text = bytes.toString('latin1')
    return text.includes('-----BEGIN ') ? readPem(text, password) : await readPkcs12(bytes, password)
  } catch {
    throw new InventoryError(`${name} is neither PKCS #12 nor PEM, or ARM_CLIENT_CERTIFICATE_PASSWORD does not open it`)
  }
}

function readPem(text: string, passphrase: string): KeysAndCertificates {
  const contents: KeysAndCertificates = { keys: [], certificates: [] }
  for (const [block, label = ''] of text.matchAll(BLOCK)) {
    if (label === 'CERTIFICATE') contents.certificates.push(new X509Certificate(block))
    if (label.endsWith('PRIVATE KEY')) contents.keys.push(createPrivateKey({ key: block, passphrase }))
  }
  return contents
}

interface KeysAndCertificates {
  keys: KeyObject[]
  certificates: X509Certificate[]
}

/**
 * Decrypts PKCS #12 (RFC 7292, DER), which neither the library nor Node reads. The checksum is not verified: a key that
 * fits its certificate was decrypted correctly. Errors of any kind: wrong password, unknown cipher, no such file.
 */
async function readPkcs12(bytes: Buffer, password: string): Promise<KeysAndCertificates> {
  const { default: forge } = await import('node-forge')
  const { asn1, pkcs12, pki, util } = forge
  const open = (passphrase: string) => {
    const file = asn1.fromDer(bytes.toString('binary'))
    // The library supports only ASCII passwords in the checksum of AES-encrypted content.
    if (Array.isArray(file.value)) file.value = file.value.slice(0, 2)
    return pkcs12.pkcs12FromAsn1(file, passphrase)
  }
  const { safeContents } = attempt(() => open(password)) ?? open(util.encodeUtf8(password))
  const contents: KeysAndCertificates = { keys: [], certificates: [] }
  for (const { key, cert } of safeContents.flatMap(({ safeBags }) => safeBags)) {
    if (key) contents.keys.push(createPrivateKey(pki.privateKeyToPem(key)))
    if (cert) contents.certificates.push(new X509Certificate(pki.certificateToPem(cert)))
  }
  return contents
}

/** Old ciphers use the password in UTF-16, current ones in UTF-8. */
function attempt<Value>(work: () => Value): Value | null {
  try {
    return work()
  } catch {
    return null
  }
}

interface Application {
  tenantId: string
  clientId: string
}

/** The proof of an application: a secret, a token of another issuer, or key and certificate in PEM. */
type Proof = { secret: string } | { assertion: string } | { pem: string }

const ENTRA = 'Microsoft Entra ID'

/**
 * Obtains tokens by the vendor's library, with a new credential each, so that it caches none. `prove` runs each time.
 * https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 */
function signIn(
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
      throw client.failure ?? new InventoryError(`no token could be asked of ${ENTRA}`, { cause: error })
    })
    if (!token || !client.token) throw new InventoryError(`${ENTRA} gave no token`)
    return client.token
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
      source: ENTRA,
      url: `${login}${outgoing.url.slice(authority.length)}`,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
      secrets: secrets.flatMap((one) => [one, encodeURIComponent(one)]),
    })
    endpoint.token = asAccessToken(answer, request)
    return answerOf(outgoing, { token_type: 'Bearer', expires_in: 3600, ...answer })
  }

  const endpoint = {
    /** The address for the library, which accepts https only; on this machine the real one may be plain http. */
    authority,
    /** The reason why the last request has failed, in words for the user. */
    failure: undefined as unknown,
    token: null as AccessToken | null,
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
          throw new InventoryError(`an address that is none of ${ENTRA} was to be asked`)
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

/** The addresses of one Azure cloud, without a trailing slash. */
export interface AzureEnvironment {
  login: string
  /** Resource Manager, Resource Graph included. */
  management: string
  audience: string
}

/** The known clouds: names in `ARM_ENVIRONMENT`, host of the sign-in, host of Resource Manager. */
const CLOUDS: readonly (readonly [names: string[], login: string, management: string])[] = [
  [['public', 'azurepubliccloud'], 'login.microsoftonline.com', 'management.azure.com'],
  [['usgovernment', 'azureusgovernmentcloud'], 'login.microsoftonline.us', 'management.usgovcloudapi.net'],
  [['china', 'azurechinacloud'], 'login.chinacloudapi.cn', 'management.chinacloudapi.cn'],
]

/** Selects the cloud as the engine's provider does: `ARM_METADATA_HOSTNAME`, else `ARM_ENVIRONMENT`. */
export async function readAzureEnvironment(request: InventoryRequest): Promise<AzureEnvironment> {
  const host = setting(request.env, 'ARM_METADATA_HOSTNAME', 'ARM_METADATA_HOST')
  if (host !== undefined) return readMetadata(request, host)
  const name = (setting(request.env, 'ARM_ENVIRONMENT') ?? 'public').toLowerCase()
  const [, login, management] = CLOUDS.find(([names]) => names.includes(name)) ?? []
  if (!login || !management)
    throw new InventoryError('ARM_ENVIRONMENT names no Azure cloud; known are public, usgovernment and china')
  return { login: `https://${login}`, management: `https://${management}`, audience: `https://${management}` }
}

const Description = v.object({
  name: v.optional(v.string()),
  authentication: v.object({ loginEndpoint: v.string(), audiences: v.pipe(v.array(v.string()), v.minLength(1)) }),
  resourceManager: v.string(),
})
const METADATA = 'Azure metadata service'

/** Reads one description or a list of them. https://learn.microsoft.com/rest/api/resources/metadata */
async function readMetadata(request: InventoryRequest, host: string): Promise<AzureEnvironment> {
  const base = serviceUrl(host.includes('://') ? host : `https://${host}`, 'ARM_METADATA_HOSTNAME')
  const url = `${base}/metadata/endpoints?api-version=2022-09-01`
  const all = [await askShape(v.union([Description, v.array(Description)]), { request, source: METADATA, url })].flat()
  const wanted = setting(request.env, 'ARM_ENVIRONMENT')?.toLowerCase()
  const description = all.find(({ name }) => wanted !== undefined && name?.toLowerCase() === wanted) ?? all[0]
  if (!description) throw new InventoryError(`${METADATA} describes no cloud`)
  return {
    login: serviceUrl(description.authentication.loginEndpoint, `the login endpoint of the ${METADATA}`),
    management: serviceUrl(description.resourceManager, `the resource manager of the ${METADATA}`),
    audience: (description.authentication.audiences[0] ?? description.resourceManager).replace(/\/+$/, ''),
  }
}
