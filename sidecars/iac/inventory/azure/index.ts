import * as v from 'valibot'
import { isUuid } from '../../../../src/base/text.ts'
import { askShape, keepToken, readPages } from '../http.ts'
import { type Inventory, InventoryError, type InventoryRequest } from '../request.ts'
import { type AzureEnvironment, readAzureCredentials, readAzureEnvironment } from './credentials.ts'

/** Lists the ARM ids of a subscription's resources, groups and role assignments, as far as the identity may read. */
export const azureInventory: Inventory = async (request) => {
  if (!isUuid(request.scopeId)) throw new InventoryError(`'${request.scopeId}' is not an Azure subscription id`)
  const environment = await readAzureEnvironment(request)
  const token = keepToken(request, await readAzureCredentials(request, environment))
  const rows = await readResourceGraph(request, environment, token)
  const ids = new Set(withoutServiceOwned(rows).map(({ id }) => id))
  request.log.info('scope listed', { provider: 'azure', found: rows.length, listed: ids.size })
  return [...ids].sort()
}

const SOURCE = 'Azure Resource Graph'

/** The query for resources, groups and role assignments of a subscription. No part of it comes from a request. */
const QUERY = [
  'resources',
  '| project id, type, name, managedBy, tags, scope = ""',
  "| union (resourcecontainers | where type =~ 'microsoft.resources/subscriptions/resourcegroups' " +
    '| project id, type, name, managedBy, tags, scope = "")',
  "| union (authorizationresources | where type =~ 'microsoft.authorization/roleassignments' " +
    '| project id, type, name, managedBy = "", tags = dynamic(null), scope = tostring(properties.scope))',
  '| order by id asc',
].join('\n')

const Row = v.object({
  id: v.pipe(v.string(), v.minLength(1)),
  type: v.string(),
  name: v.nullish(v.string(), ''),
  managedBy: v.nullish(v.string(), ''),
  tags: v.nullish(v.record(v.string(), v.unknown()), {}),
  /** Of a role assignment: the ARM id of its target. */
  scope: v.nullish(v.string(), ''),
})
type Row = v.InferOutput<typeof Row>

const Answer = v.object({
  data: v.array(Row),
  resultTruncated: v.pipe(
    v.optional(v.union([v.boolean(), v.string()]), false),
    v.transform((flag) => String(flag).toLowerCase() === 'true'),
  ),
  $skipToken: v.nullish(v.string()),
})

/** Reads all pages. https://learn.microsoft.com/rest/api/azureresourcegraph/resourcegraph/resources/resources */
function readResourceGraph(
  request: InventoryRequest,
  { management }: AzureEnvironment,
  token: () => Promise<string>,
): Promise<Row[]> {
  const call = {
    request,
    source: SOURCE,
    url: `${management}/providers/Microsoft.ResourceGraph/resources?api-version=2022-10-01`,
    method: 'POST',
    headers: async () => ({ authorization: `Bearer ${await token()}` }),
  }
  const read = async (cursor: string | null) => {
    const options = { $top: 1000, ...(cursor === null ? {} : { $skipToken: cursor }) }
    const page = await askShape(Answer, { ...call, json: { query: QUERY, subscriptions: [request.scopeId], options } })
    // With a token for the next page, truncated only means that there is one.
    if (page.resultTruncated && !page.$skipToken) throw new InventoryError(`${SOURCE} cut its result off`)
    return { items: page.data, next: page.$skipToken }
  }
  return readPages(SOURCE, read, 100)
}

const GROUP = 'microsoft.resources/subscriptions/resourcegroups'
/** Types that Azure creates itself, here for the failures that Application Insights detects. */
const MADE_BY_AZURE = ['microsoft.alertsmanagement/smartdetectoralertrules']
const IN_GROUP = /^\/subscriptions\/[^/]+\/resourcegroups\/([^/]+)/i
/** Node resource groups of AKS, and the group that Azure creates for Network Watcher. */
const SERVICE_GROUP = /^(mc_.*|networkwatcherrg)$/i

const groupOf = (id: string): string | undefined => IN_GROUP.exec(id)?.[1]?.toLowerCase()

/** Drops groups of a service with their content, and resources that Azure creates or hides. */
function withoutServiceOwned(rows: readonly Row[]): Row[] {
  const serviceGroups = new Set(rows.filter(isServiceGroup).map(({ id }) => groupOf(id)))
  const inServiceGroup = (id: string) => {
    const group = groupOf(id)
    return group !== undefined && (serviceGroups.has(group) || SERVICE_GROUP.test(group))
  }
  return rows.filter((row) => !inServiceGroup(row.id) && !inServiceGroup(row.scope) && !isMadeByAzure(row))
}

const isServiceGroup = ({ id, type, managedBy }: Row): boolean =>
  type.toLowerCase() === GROUP && (managedBy !== '' || SERVICE_GROUP.test(groupOf(id) ?? ''))

const isMadeByAzure = ({ type, tags }: Row): boolean =>
  MADE_BY_AZURE.includes(type.toLowerCase()) ||
  Object.keys(tags).some((key) => key.toLowerCase().startsWith('hidden-link'))
