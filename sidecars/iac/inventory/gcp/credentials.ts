import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OutboundError } from '../../../../src/base/http.ts'
import { askShape } from '../http.ts'
import { type Env, readNamedText, serviceUrl, setting } from '../inputs.ts'
import { asAccessToken, keepToken, type ObtainToken, tokenAnswer } from '../tokens.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import { type CredentialFile, parseCredentialFile } from './credential-file.ts'
import { impersonate, impersonationUrl } from './library.ts'

export interface GcpAccess {
  endpoints: ReturnType<typeof gcpEndpoints>
  /** Returns the headers of a call. */
  headers: () => Promise<Record<string, string>>
}

const NONE =
  'no Google Cloud credentials configured for scope discovery; set GOOGLE_CREDENTIALS, ' +
  'GOOGLE_OAUTH_ACCESS_TOKEN or GOOGLE_APPLICATION_CREDENTIALS, or run where a metadata server answers'

/**
 * Reads the first credentials found: an access token; `GOOGLE_CREDENTIALS` (path or JSON); the application default
 * credentials, which are `GOOGLE_APPLICATION_CREDENTIALS`, the file of gcloud and the metadata server.
 * `GOOGLE_IMPERSONATE_SERVICE_ACCOUNT` then names an account in whose name all calls are made.
 */
export async function readGcpAccess(request: InventoryRequest): Promise<GcpAccess> {
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

const SOURCE = 'Google metadata server'
/** Milliseconds. The server is on the machine itself, so it answers at once if it exists. */
const TIMEOUT_MS = 5_000

/** Obtains tokens. https://cloud.google.com/compute/docs/access/authenticate-workloads#applications */
function metadataServerToken(request: InventoryRequest): ObtainToken {
  const host = setting(request.env, 'GCE_METADATA_HOST') ?? 'metadata.google.internal'
  if (!/^[A-Za-z0-9.\-_[\]:]+$/.test(host)) throw new InventoryError('GCE_METADATA_HOST is not a host')
  const url = `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`
  return async () => {
    try {
      const headers = { 'metadata-flavor': 'Google' }
      const question = { request, source: SOURCE, url, headers, timeoutMs: TIMEOUT_MS, retries: 1 }
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
 * Returns the API addresses with their version, without a trailing slash. As for the engine's provider, a variable can give the whole address of one API, version
 * included, and another one the universe of all.
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
