import * as v from 'valibot'
import { ask } from '../http.ts'
import { shaped } from '../inputs.ts'
import { type Page, readPages } from '../pages.ts'
import { type Inventory, InventoryError, type InventoryRequest } from '../types.ts'
import { type OciAccess, ociAccess } from './credentials.ts'
import { searchEndpoint } from './endpoint.ts'
import { isManageable } from './leave-out.ts'
import { realmOf } from './scope.ts'
import { signedPost } from './signature.ts'

const SOURCE = 'OCI Search'
const MAX_PAGES = 200
const PAGE_SIZE = 1000

const Item = v.object({
  identifier: v.pipe(v.string(), v.minLength(1)),
  resourceType: v.string(),
  lifecycleState: v.nullish(v.string(), ''),
})
type Item = v.InferOutput<typeof Item>
const Answer = v.object({ items: v.array(Item) })

/**
 * Lists a compartment, in the configured region: OCIDs of what OCI Search finds directly in it. Compartments inside
 * it are listed, what they hold is not. Kinds that Search does not know and what the credentials may not read are absent.
 */
export const ociInventory: Inventory = async (request) => {
  const realm = realmOf(request.scope_id)
  const access = await ociAccess(request)
  const endpoint = searchEndpoint(request.env, access.region, realm)
  const items = await readPages({ source: SOURCE, max_pages: MAX_PAGES, read: (cursor) => searchPage(request, access, endpoint, cursor) })
  const ids = new Set(items.filter(isManageable).map(({ identifier }) => identifier))
  request.log.info('scope listed', { provider: 'oci', region: access.region, found: items.length, listed: ids.size })
  return [...ids]
}

/** https://docs.oracle.com/iaas/api/#/en/search/20180409/ResourceSummary/SearchResources */
async function searchPage(request: InventoryRequest, access: OciAccess, endpoint: string, cursor: string | null): Promise<Page<Item>> {
  const url = new URL(`${endpoint}/20180409/resources`)
  url.searchParams.set('limit', String(PAGE_SIZE))
  if (cursor !== null) url.searchParams.set('page', cursor)
  // Safe to put in: the form of the id has been checked. States are sorted out by us, as not every kind has one.
  const query = `query all resources where compartmentId = '${request.scope_id}'`
  const body = JSON.stringify({ type: 'Structured', query })
  const headers = async () => signedPost(await access.signer(), url, body, request.now())
  const { key_id } = await access.signer()
  const secrets = key_id.startsWith('ST$') ? [key_id.slice(3)] : []
  const response = await ask({ request, source: SOURCE, url, method: 'POST', headers, body, secrets })
  return {
    items: shaped(
      SOURCE,
      Answer,
      jsonOf(() => response.json()),
    ).items,
    next: response.headers.get('opc-next-page'),
  }
}

function jsonOf(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    throw new InventoryError(`200 from ${SOURCE}: the answer is not JSON`)
  }
}
