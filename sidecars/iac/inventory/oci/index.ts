import * as v from 'valibot'
import { shaped } from '../inputs.ts'
import { type Page, readPages } from '../pages.ts'
import type { Inventory } from '../types.ts'
import { type OciClient, ociClient } from './client.ts'
import { ociAccess } from './credentials.ts'
import { ociEndpoints } from './endpoint.ts'
import { providerIds } from './identifiers.ts'
import { isManageable } from './leave-out.ts'
import { realmOf } from './scope.ts'

const SOURCE = 'OCI Search'
const MAX_PAGES = 200
const PAGE_SIZE = 1000

const Item = v.object({
  identifier: v.pipe(v.string(), v.minLength(1)),
  resourceType: v.string(),
  lifecycleState: v.nullish(v.string(), ''),
  displayName: v.nullish(v.string(), ''),
})
type Item = v.InferOutput<typeof Item>
const Answer = v.object({ items: v.array(Item) })

/**
 * Lists a compartment, in the configured region: ids of what OCI Search finds directly in it. Compartments inside
 * it are listed, what they hold is not. Kinds that Search does not know and what the credentials may not read are absent.
 */
export const ociInventory: Inventory = async (request) => {
  const { scope_id, env, log } = request
  const realm = realmOf(scope_id)
  const access = await ociAccess(request, realm)
  const endpoints = ociEndpoints(env, access.region, realm)
  const client = ociClient(request, access)
  const read = (cursor: string | null) => searchPage(client, endpoints.search, scope_id, cursor)
  const found = await readPages({ source: SOURCE, max_pages: MAX_PAGES, read })
  const ids = new Set(await providerIds(found.filter(isManageable), client, endpoints.object_storage))
  log.info('scope listed', { provider: 'oci', region: access.region, found: found.length, listed: ids.size })
  return [...ids]
}

/** https://docs.oracle.com/iaas/api/#/en/search/20180409/ResourceSummary/SearchResources */
async function searchPage(
  client: OciClient,
  endpoint: string,
  compartment_id: string,
  cursor: string | null,
): Promise<Page<Item>> {
  const url = new URL(`${endpoint}/20180409/resources`)
  url.searchParams.set('limit', String(PAGE_SIZE))
  if (cursor !== null) url.searchParams.set('page', cursor)
  // Safe to put in: the form of the id has been checked. States are sorted out by us, as not every kind has one.
  const query = `query all resources where compartmentId = '${compartment_id}'`
  const { json, headers } = await client(SOURCE, url, { type: 'Structured', query })
  return { items: shaped(SOURCE, Answer, json).items, next: headers.get('opc-next-page') }
}
