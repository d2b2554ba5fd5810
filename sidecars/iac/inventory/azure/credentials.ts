import { isOn, readNamedText, setting } from '../inputs.ts'
import type { ObtainToken } from '../tokens.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import { certificateProof } from './certificate.ts'
import type { AzureEnvironment } from './environment.ts'
import { oidcToken, workloadIdentity } from './federated.ts'
import { managedIdentity } from './managed-identity.ts'
import { type Application, signIn } from './sign-in.ts'

const NONE = 'no Azure credentials configured for scope discovery'
const CHOICES =
  'set ARM_TENANT_ID, ARM_CLIENT_ID and one of ARM_CLIENT_SECRET, ARM_CLIENT_CERTIFICATE_PATH and ARM_USE_OIDC, or ARM_USE_MSI, or ARM_USE_AKS_WORKLOAD_IDENTITY'

/**
 * The first form that is switched on counts, in this order: managed identity, workload identity of AKS, OIDC token,
 * client certificate, client secret. One that is switched on and incomplete is an error, never skipped.
 */
export async function azureCredentials(request: InventoryRequest, environment: AzureEnvironment): Promise<ObtainToken> {
  const { env } = request
  if (isOn(env, 'ARM_USE_MSI')) return managedIdentity(request, environment)
  if (isOn(env, 'ARM_USE_AKS_WORKLOAD_IDENTITY')) {
    const application = await applicationOf(
      request,
      'ARM_USE_AKS_WORKLOAD_IDENTITY',
      'AZURE_TENANT_ID',
      'AZURE_CLIENT_ID',
    )
    return signIn(request, environment, application, () => workloadIdentity(request))
  }
  if (isOn(env, 'ARM_USE_OIDC'))
    return signIn(request, environment, await applicationOf(request, 'ARM_USE_OIDC'), () => oidcToken(request))
  const certificate = ['ARM_CLIENT_CERTIFICATE_PATH', 'ARM_CLIENT_CERTIFICATE'].find((name) => setting(env, name))
  if (certificate) {
    const application = await applicationOf(request, certificate)
    return signIn(request, environment, application, await certificateProof(request, environment, application))
  }
  const client_secret = await clientSecret(request)
  if (client_secret === undefined) throw new InventoryError(`${NONE}; ${CHOICES}`)
  return signIn(request, environment, await applicationOf(request, 'ARM_CLIENT_SECRET'), async () => ({
    client_secret,
  }))
}

async function clientSecret({ env }: InventoryRequest): Promise<string | undefined> {
  const path = setting(env, 'ARM_CLIENT_SECRET_FILE_PATH')
  // Blanks may belong to a secret.
  return env.ARM_CLIENT_SECRET || (path ? await readNamedText(path, 'ARM_CLIENT_SECRET_FILE_PATH', env) : undefined)
}

async function applicationOf({ env }: InventoryRequest, form: string, ...instead: string[]): Promise<Application> {
  const [tenantInstead = '', clientInstead = ''] = instead
  const tenant_id = setting(env, 'ARM_TENANT_ID', tenantInstead)
  const path = setting(env, 'ARM_CLIENT_ID_FILE_PATH')
  const client_id =
    setting(env, 'ARM_CLIENT_ID') ??
    (path ? await readNamedText(path, 'ARM_CLIENT_ID_FILE_PATH', env) : setting(env, clientInstead))
  if (tenant_id && client_id) return { tenant_id, client_id }
  const missing = [tenant_id ? '' : 'ARM_TENANT_ID', client_id ? '' : 'ARM_CLIENT_ID'].filter(Boolean).join(' and ')
  throw new InventoryError(`${NONE}; ${form} needs ${missing} too`)
}
