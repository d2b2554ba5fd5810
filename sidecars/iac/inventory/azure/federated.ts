import * as v from 'valibot'
import { askJson } from '../http.ts'
import { readNamedText, serviceUrl, setting, shaped } from '../inputs.ts'
import { tokenText } from '../tokens.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import type { Proof } from './sign-in.ts'

const SOURCE = 'GitHub OIDC provider'
const AUDIENCE = 'api://AzureADTokenExchange'

/** The token of the cluster's service account, read anew each time: the cluster renews it. */
export async function workloadIdentity({ env }: InventoryRequest): Promise<Proof> {
  const path = setting(env, 'AZURE_FEDERATED_TOKEN_FILE')
  if (!path) throw new InventoryError('ARM_USE_AKS_WORKLOAD_IDENTITY is set, but AZURE_FEDERATED_TOKEN_FILE is not')
  return { client_assertion: await readNamedText(path, 'AZURE_FEDERATED_TOKEN_FILE', env) }
}

/** `ARM_OIDC_TOKEN`, else `ARM_OIDC_TOKEN_FILE_PATH`, else what the host of a GitHub workflow issues. */
export async function oidcToken(request: InventoryRequest): Promise<Proof> {
  const { env } = request
  const token = setting(env, 'ARM_OIDC_TOKEN')
  if (token) return { client_assertion: token }
  const path = setting(env, 'ARM_OIDC_TOKEN_FILE_PATH')
  if (path) return { client_assertion: await readNamedText(path, 'ARM_OIDC_TOKEN_FILE_PATH', env) }
  const url = setting(env, 'ARM_OIDC_REQUEST_URL', 'ACTIONS_ID_TOKEN_REQUEST_URL')
  const bearer = setting(env, 'ARM_OIDC_REQUEST_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_TOKEN')
  if (!url || !bearer)
    throw new InventoryError(
      'ARM_USE_OIDC is set, but neither ARM_OIDC_TOKEN, ARM_OIDC_TOKEN_FILE_PATH nor ARM_OIDC_REQUEST_URL and _TOKEN are',
    )
  const issuer = new URL(serviceUrl(url, 'ARM_OIDC_REQUEST_URL'))
  issuer.searchParams.set('audience', AUDIENCE)
  const answer = await askJson({ request, source: SOURCE, url: issuer, headers: { authorization: `Bearer ${bearer}` } })
  return { client_assertion: shaped(SOURCE, v.object({ value: tokenText }), answer).value }
}
