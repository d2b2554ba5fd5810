import * as v from 'valibot'
import { askJson } from '../http.ts'
import { checkShape, setting } from '../inputs.ts'
import { type ObtainToken, tokenText } from '../tokens.ts'
import type { InventoryRequest } from '../types.ts'
import type { AzureEnvironment } from './environment.ts'

const SOURCE = 'Azure managed identity'
const INSTANCE = 'http://169.254.169.254/metadata/identity/oauth2/token'
/** The service is on the machine itself, so it answers at once where there is one. */
const TIMEOUT_MS = 10_000
const RETRIES = 3

const seconds = v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,12}$/), v.transform(Number))])
const Answer = v.object({ access_token: tokenText, expires_in: v.optional(seconds), expires_on: v.optional(seconds) })

/**
 * Obtains tokens for the identity of the machine. A virtual machine has an instance metadata service; App Service and
 * Container Apps name an address in `IDENTITY_ENDPOINT`. `ARM_MSI_ENDPOINT` goes before both.
 */
export function managedIdentity(request: InventoryRequest, environment: AzureEnvironment): ObtainToken {
  return async () => {
    const { url, headers } = identityEndpoint(request, environment.audience)
    const answer = await askJson({ request, source: SOURCE, url, headers, timeoutMs: TIMEOUT_MS, retries: RETRIES })
    const { access_token, expires_in, expires_on } = checkShape(SOURCE, Answer, answer)
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
