import { keepToken } from '../tokens.ts'
import { type Inventory, InventoryError } from '../types.ts'
import { azureCredentials } from './credentials.ts'
import { azureEnvironment } from './environment.ts'
import { withoutServiceOwned } from './leave-out.ts'
import { resourceGraphRows } from './resource-graph.ts'

const SUBSCRIPTION = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Lists a subscription: ARM ids of resources, resource groups and role assignments as Azure spells them, ordered by id.
 * What the identity may not read is not in Azure's answer, and so not in the list.
 */
export const azureInventory: Inventory = async (request) => {
  if (!SUBSCRIPTION.test(request.scope_id))
    throw new InventoryError(`'${request.scope_id}' is not an Azure subscription id`)
  const environment = await azureEnvironment(request)
  const token = keepToken(request, await azureCredentials(request, environment))
  const rows = await resourceGraphRows(request, environment, token)
  const ids = new Set(withoutServiceOwned(rows).map(({ id }) => id))
  request.log.info('scope listed', { provider: 'azure', found: rows.length, listed: ids.size })
  return [...ids].sort(byCode)
}

const byCode = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
