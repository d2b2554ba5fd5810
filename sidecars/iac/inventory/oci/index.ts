import * as v from 'valibot'
import { type Page, readPages } from '../http.ts'
import { checkShape, type Inventory, InventoryError } from '../request.ts'
import { ociEndpoints, readOciAccess } from './credentials.ts'
import { createOciClient, type OciClient } from './signature.ts'

const SOURCE = 'OCI Search'

const Item = v.object({
  identifier: v.pipe(v.string(), v.minLength(1)),
  resourceType: v.string(),
  lifecycleState: v.nullish(v.string(), ''),
  displayName: v.nullish(v.string(), ''),
})
type Item = v.InferOutput<typeof Item>
const Answer = v.object({ items: v.array(Item) })

/**
 * Lists a compartment in the configured region: the ids of what OCI Search finds directly in it. Compartments inside it
 * are listed, their content is not. Kinds that Search does not know are absent, and so is what may not be read.
 */
export const ociInventory: Inventory = async (request) => {
  const { scopeId, env, log } = request
  const realm = realmOf(scopeId)
  const access = await readOciAccess(request, realm)
  const endpoints = ociEndpoints(env, access.region, realm)
  const client = createOciClient(request, access.signer)
  const resources = await readPages(SOURCE, (cursor) => searchPage(client, endpoints.search, scopeId, cursor))
  const ids = new Set(await readProviderIds(resources.filter(isManageable), client, endpoints.objectStorage))
  log.info('scope listed', { provider: 'oci', region: access.region, found: resources.length, listed: ids.size })
  return [...ids]
}

/** Reads one page. https://docs.oracle.com/iaas/api/#/en/search/20180409/ResourceSummary/SearchResources */
async function searchPage(
  client: OciClient,
  endpoint: string,
  compartmentId: string,
  cursor: string | null,
): Promise<Page<Item>> {
  const url = new URL(`${endpoint}/20180409/resources`)
  url.searchParams.set('limit', '1000')
  if (cursor !== null) url.searchParams.set('page', cursor)
  // Safe in the query: the form of the id has been checked. States are filtered later, as not every kind has one.
  const query = `query all resources where compartmentId = '${compartmentId}'`
  const { json, headers } = await client(SOURCE, url, { type: 'Structured', query })
  return { items: checkShape(SOURCE, Answer, json).items, next: headers.get('opc-next-page') }
}

const OBJECT_STORAGE = 'OCI Object Storage'
const Namespace = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,100}$/))

const isBucket = ({ resourceType, displayName }: Item): boolean =>
  resourceType.toLowerCase() === 'bucket' && displayName !== ''

/**
 * Returns the ids of the engine's provider: OCIDs, except for a bucket, which would look unmanaged with one. Its id has
 * the namespace of the tenancy, which is asked for, and its name.
 */
async function readProviderIds(items: readonly Item[], client: OciClient, objectStorage: string): Promise<string[]> {
  if (!items.some(isBucket)) return items.map(({ identifier }) => identifier)
  const { json } = await client(OBJECT_STORAGE, new URL(`${objectStorage}/n/`), null)
  const namespace = checkShape(OBJECT_STORAGE, Namespace, json)
  return items.map((item) => (isBucket(item) ? `n/${namespace}/b/${item.displayName}` : item.identifier))
}

/** `ocid1.<kind>.<realm>.[region][.reserved].<id>`; a tenancy is its root compartment. */
const COMPARTMENT =
  /^ocid1\.(?:compartment|tenancy)\.(oc[0-9]{1,4})\.[a-z0-9-]{0,64}\.(?:[a-z0-9-]{0,64}\.)?[a-z0-9]{1,255}$/

/**
 * Returns the realm, such as `oc1`. A valid id holds no quote that could end the text in a query.
 * https://docs.oracle.com/iaas/Content/General/Concepts/identifiers.htm
 */
function realmOf(scopeId: string): string {
  const realm = COMPARTMENT.exec(scopeId)?.[1]
  if (realm === undefined) throw new InventoryError(`'${scopeId}' is not an OCI compartment id`)
  return realm
}

/** Kinds that belong to another resource or are mere records. Search does not distinguish the few made by code. */
const DEPENDENT = /^(privateip|vnic|vnicattachment|bootvolumeattachment|dbnode|consolehistory|workrequest)$/i

/** States of deleted resources. Search lists them for a while, a key or vault until its deletion is final. */
const GONE = ['terminated', 'terminating', 'deleted', 'deleting', 'pending_deletion', 'scheduling_deletion']

const isManageable = ({ resourceType, lifecycleState }: Item): boolean =>
  !DEPENDENT.test(resourceType) && !GONE.includes(lifecycleState.toLowerCase())
