import { type Inventory, InventoryError } from '../types.ts'
import { asker, assetNames, bindingNames, projectNumber } from './assets.ts'
import { gcpAccess } from './credentials.ts'

const PROJECT = /^[a-z][a-z0-9-]{4,28}[a-z0-9]$/

/**
 * Lists a project: names of its assets, then the bindings of its IAM policy. A call that is denied fails the discovery,
 * the policy's too: a list without bindings would make an import look complete that is not.
 */
export const gcpInventory: Inventory = async (request) => {
  const { scope_id } = request
  if (!PROJECT.test(scope_id)) throw new InventoryError(`'${scope_id}' is not a GCP project id`)
  const access = await gcpAccess(request)
  const { resource_manager, cloud_asset } = access.endpoints
  const ask = asker(request, access)
  const number = await projectNumber(ask, resource_manager, scope_id)
  const assets = await assetNames(ask, cloud_asset, scope_id, number)
  const bindings = await bindingNames(ask, resource_manager, scope_id)
  request.log.info('scope listed', { provider: 'gcp', assets: assets.length, bindings: bindings.length })
  return [...new Set([...assets, ...bindings])]
}
