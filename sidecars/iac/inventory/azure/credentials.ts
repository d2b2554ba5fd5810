import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import * as v from 'valibot'
import { askShape } from '../http.ts'
import { isOn, readNamed, readNamedText, serviceUrl, setting } from '../inputs.ts'
import { type ObtainToken, tokenText } from '../tokens.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import type { AzureEnvironment } from './environment.ts'
import { type Application, type Proof, signIn } from './sign-in.ts'

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
    return signIn(request, environment, named, await readCertificateProof(request))
  }
  const secret = await readClientSecret(request)
  if (secret === undefined) throw new InventoryError(`${NONE}; ${CHOICES}`)
  return application(async () => ({ secret }), 'ARM_CLIENT_SECRET')
}

async function readClientSecret({ env }: InventoryRequest): Promise<string | undefined> {
  const path = setting(env, 'ARM_CLIENT_SECRET_FILE_PATH')
  // Not trimmed: blanks may belong to a secret.
  return env.ARM_CLIENT_SECRET || (path ? await readNamedText(path, 'ARM_CLIENT_SECRET_FILE_PATH', env) : undefined)
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

const SOURCE = 'Azure managed identity'
const INSTANCE = 'http://169.254.169.254/metadata/identity/oauth2/token'
/** Milliseconds. The service is on the machine itself, so it answers at once if it exists. */
const TIMEOUT_MS = 10_000
const RETRIES = 3

const seconds = v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,12}$/), v.transform(Number))])
const Answer = v.object({ access_token: tokenText, expires_in: v.optional(seconds), expires_on: v.optional(seconds) })

/** Obtains tokens from `ARM_MSI_ENDPOINT`, else `IDENTITY_ENDPOINT` (App Service), else the metadata service. */
function managedIdentity(request: InventoryRequest, environment: AzureEnvironment): ObtainToken {
  return async () => {
    const { url, headers } = identityEndpoint(request, environment.audience)
    const question = { request, source: SOURCE, url, headers, timeoutMs: TIMEOUT_MS, retries: RETRIES }
    const { access_token, expires_in, expires_on } = await askShape(Answer, question)
    const expiresAt =
      expires_on === undefined ? request.now().getTime() + (expires_in ?? 300) * 1000 : expires_on * 1000
    return { value: access_token, expiresAt }
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

/** Reads certificate and key, PKCS #12 or PEM. The vendor's library signs but reads unencrypted PEM only. */
async function readCertificateProof(request: InventoryRequest): Promise<() => Promise<Proof>> {
  const { key, certificate } = await loadCertificate(request)
  const pem = `${key.export({ format: 'pem', type: 'pkcs8' })}${certificate.toString()}`
  return async () => ({ pem })
}

async function loadCertificate({ env }: InventoryRequest): Promise<{ key: KeyObject; certificate: X509Certificate }> {
  const path = setting(env, 'ARM_CLIENT_CERTIFICATE_PATH')
  const name = path ? 'ARM_CLIENT_CERTIFICATE_PATH' : 'ARM_CLIENT_CERTIFICATE'
  const bytes = path ? await readNamed(path, name, env) : Buffer.from(env.ARM_CLIENT_CERTIFICATE ?? '', 'base64')
  const { keys, certificates } = await parse(bytes, env.ARM_CLIENT_CERTIFICATE_PASSWORD ?? '', name)
  for (const key of keys)
    for (const certificate of certificates)
      if (key.asymmetricKeyType === 'rsa' && certificate.checkPrivateKey(key)) return { key, certificate }
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
