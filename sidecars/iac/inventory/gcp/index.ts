import * as v from 'valibot'
import { askJson } from '../http.ts'
import { checkShape } from '../inputs.ts'
import { readPages } from '../pages.ts'
import { type Inventory, InventoryError, type InventoryRequest } from '../types.ts'
import { type GcpAccess, readGcpAccess } from './credentials.ts'
import { isForeignMember, isServiceOwned } from './leave-out.ts'

const PROJECT = /^[a-z][a-z0-9-]{4,28}[a-z0-9]$/

/**
 * Lists a project: the names of its assets, then the bindings of its IAM policy. A call that is denied fails the
 * discovery. That goes for the policy too: without its bindings an import would look complete that is not.
 */
export const gcpInventory: Inventory = async (request) => {
  const { scopeId } = request
  if (!PROJECT.test(scopeId)) throw new InventoryError(`'${scopeId}' is not a GCP project id`)
  const access = await readGcpAccess(request)
  const { resourceManager, cloudAsset } = access.endpoints
  const ask = createAsk(request, access)
  const number = await readProjectNumber(ask, resourceManager, scopeId)
  const assets = await listAssetNames(ask, cloudAsset, scopeId, number)
  const bindings = await listBindingNames(ask, resourceManager, scopeId)
  request.log.info('scope listed', { provider: 'gcp', assets: assets.length, bindings: bindings.length })
  return [...new Set([...assets, ...bindings])]
}

const ASSETS = 'Cloud Asset Inventory'
const MANAGER = 'Cloud Resource Manager'
const MAX_PAGES = 200
const PAGE_SIZE = 500
const FIELDS = 'name,assetType,labels'

const Asset = v.object({
  /** `//service/path`. */
  name: v.pipe(v.string(), v.startsWith('//')),
  assetType: v.string(),
  labels: v.nullish(v.record(v.string(), v.unknown()), {}),
})

const Project = v.object({
  projectNumber: v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.regex(/^\d{1,20}$/)),
})
const AssetPage = v.object({ results: v.optional(v.array(Asset), []), nextPageToken: v.nullish(v.string()) })
const Policy = v.object({
  bindings: v.optional(
    v.array(v.object({ role: v.pipe(v.string(), v.minLength(1)), members: v.optional(v.array(v.string()), []) })),
    [],
  ),
})

type Ask = (call: { source: string; url: string; method?: string; json?: unknown }) => Promise<unknown>
const createAsk =
  (request: InventoryRequest, { headers }: GcpAccess): Ask =>
  (call) =>
    askJson({ ...call, request, headers })

/** https://cloud.google.com/resource-manager/reference/rest/v1/projects/get */
async function readProjectNumber(ask: Ask, resourceManager: string, projectId: string): Promise<string> {
  const answer = await ask({ source: MANAGER, url: `${resourceManager}/projects/${projectId}` })
  return checkShape(MANAGER, Project, answer).projectNumber
}

/**
 * Names of the project's assets without `//service/`; the project's number in them becomes its id.
 * https://cloud.google.com/asset-inventory/docs/reference/rest/v1/TopLevel/searchAllResources
 */
async function listAssetNames(ask: Ask, cloudAsset: string, projectId: string, number: string): Promise<string[]> {
  const assets = await readPages({
    source: ASSETS,
    maxPages: MAX_PAGES,
    read: async (cursor) => {
      const query = new URLSearchParams({
        pageSize: String(PAGE_SIZE),
        readMask: FIELDS,
        ...(cursor === null ? {} : { pageToken: cursor }),
      })
      const answer = await ask({
        source: ASSETS,
        url: `${cloudAsset}/projects/${projectId}:searchAllResources?${query}`,
      })
      const { results, nextPageToken } = checkShape(ASSETS, AssetPage, answer)
      return { items: results, next: nextPageToken }
    },
  })
  const byNumber = new RegExp(`(^|/)projects/${number}(?=/|$)`, 'g')
  return assets
    .filter((asset) => !isServiceOwned(asset, projectId))
    .map(({ name }) => name.replace(/^\/\/[^/]*\//, '').replaceAll(byNumber, `$1projects/${projectId}`))
}

/**
 * One entry `<project> <role> <member>` for each binding of the project's policy.
 * https://cloud.google.com/resource-manager/reference/rest/v1/projects/getIamPolicy
 */
async function listBindingNames(ask: Ask, resourceManager: string, projectId: string): Promise<string[]> {
  const answer = await ask({
    source: MANAGER,
    url: `${resourceManager}/projects/${projectId}:getIamPolicy`,
    method: 'POST',
    json: { options: { requestedPolicyVersion: 3 } },
  })
  const { bindings } = checkShape(MANAGER, Policy, answer)
  return bindings.flatMap(({ role, members }) =>
    members.filter((member) => !isForeignMember(member, projectId)).map((member) => `${projectId} ${role} ${member}`),
  )
}
