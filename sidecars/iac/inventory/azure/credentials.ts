import * as v from 'valibot'
import { askJson } from '../http.ts'
import { checkShape, isOn, readNamedText, serviceUrl, setting } from '../inputs.ts'
import { type ObtainToken, tokenText } from '../tokens.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import { readCertificateProof } from './certificate.ts'
import type { AzureEnvironment } from './environment.ts'
import { managedIdentity } from './managed-identity.ts'
import { type Application, type Proof, signIn } from './sign-in.ts'

const NONE = 'no Azure credentials configured for scope discovery'
const CHOICES =
  'set ARM_TENANT_ID, ARM_CLIENT_ID and one of ARM_CLIENT_SECRET, ARM_CLIENT_CERTIFICATE_PATH and ARM_USE_OIDC, ' +
  'or ARM_USE_MSI, or ARM_USE_AKS_WORKLOAD_IDENTITY'

/**
 * The first form of credentials that is switched on counts, in this order: managed identity, workload identity of AKS,
 * OIDC token, client certificate, client secret. One that is switched on but incomplete is an error and never skipped.
 */
export async function readAzureCredentials(
  request: InventoryRequest,
  environment: AzureEnvironment,
): Promise<ObtainToken> {
  const { env } = request
  if (isOn(env, 'ARM_USE_MSI')) return managedIdentity(request, environment)
  if (isOn(env, 'ARM_USE_AKS_WORKLOAD_IDENTITY')) {
    const application = await readApplication(
      request,
      'ARM_USE_AKS_WORKLOAD_IDENTITY',
      'AZURE_TENANT_ID',
      'AZURE_CLIENT_ID',
    )
    return signIn(request, environment, application, () => readWorkloadIdentity(request))
  }
  if (isOn(env, 'ARM_USE_OIDC'))
    return signIn(request, environment, await readApplication(request, 'ARM_USE_OIDC'), () => readOidcToken(request))
  const certificate = ['ARM_CLIENT_CERTIFICATE_PATH', 'ARM_CLIENT_CERTIFICATE'].find((name) => setting(env, name))
  if (certificate) {
    const application = await readApplication(request, certificate)
    return signIn(request, environment, application, await readCertificateProof(request))
  }
  const clientSecret = await readClientSecret(request)
  if (clientSecret === undefined) throw new InventoryError(`${NONE}; ${CHOICES}`)
  return signIn(request, environment, await readApplication(request, 'ARM_CLIENT_SECRET'), async () => ({
    secret: clientSecret,
  }))
}

async function readClientSecret({ env }: InventoryRequest): Promise<string | undefined> {
  const path = setting(env, 'ARM_CLIENT_SECRET_FILE_PATH')
  // The value is not trimmed: blanks may belong to a secret.
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

const SOURCE = 'GitHub OIDC provider'
const AUDIENCE = 'api://AzureADTokenExchange'

/** Reads the token of the cluster's service account, each time anew because the cluster renews it. */
async function readWorkloadIdentity({ env }: InventoryRequest): Promise<Proof> {
  const path = setting(env, 'AZURE_FEDERATED_TOKEN_FILE')
  if (!path) throw new InventoryError('ARM_USE_AKS_WORKLOAD_IDENTITY is set, but AZURE_FEDERATED_TOKEN_FILE is not')
  return { assertion: await readNamedText(path, 'AZURE_FEDERATED_TOKEN_FILE', env) }
}

/** The token in `ARM_OIDC_TOKEN` or `ARM_OIDC_TOKEN_FILE_PATH`, else one that the host of a GitHub workflow issues. */
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
  const answer = await askJson({ request, source: SOURCE, url: issuer, headers: { authorization: `Bearer ${bearer}` } })
  return { assertion: checkShape(SOURCE, v.object({ value: tokenText }), answer).value }
}
