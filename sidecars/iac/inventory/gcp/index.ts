import * as v from 'valibot'
import { askJson } from '../http.ts'
import { shaped } from '../inputs.ts'
import { readPages } from '../pages.ts'
import { type Inventory, InventoryError, type InventoryRequest } from '../types.ts'
import { type GcpAccess, gcpAccess } from './credentials.ts'
import { isForeignMember, isServiceOwned } from './leave-out.ts'

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
const Found = v.object({ results: v.optional(v.array(Asset), []), nextPageToken: v.nullish(v.string()) })
const Policy = v.object({
  bindings: v.optional(
    v.array(v.object({ role: v.pipe(v.string(), v.minLength(1)), members: v.optional(v.array(v.string()), []) })),
    [],
  ),
})

type Ask = (call: { source: string; url: string; method?: string; json?: unknown }) => Promise<unknown>
const asker =
  (request: InventoryRequest, { headers }: GcpAccess): Ask =>
  (call) =>
    askJson({ ...call, request, headers })

/** https://cloud.google.com/resource-manager/reference/rest/v1/projects/get */
async function projectNumber(ask: Ask, resource_manager: string, project_id: string): Promise<string> {
  const answer = await ask({ source: MANAGER, url: `${resource_manager}/projects/${project_id}` })
  return shaped(MANAGER, Project, answer).projectNumber
}

/**
 * Names of the project's assets without `//service/`; the project's number in them becomes its id.
 * https://cloud.google.com/asset-inventory/docs/reference/rest/v1/TopLevel/searchAllResources
 */
async function assetNames(ask: Ask, cloud_asset: string, project_id: string, number: string): Promise<string[]> {
  const assets = await readPages({
    source: ASSETS,
    max_pages: MAX_PAGES,
    read: async (cursor) => {
      const query = new URLSearchParams({
        pageSize: String(PAGE_SIZE),
        readMask: FIELDS,
        ...(cursor === null ? {} : { pageToken: cursor }),
      })
      const answer = await ask({
        source: ASSETS,
        url: `${cloud_asset}/projects/${project_id}:searchAllResources?${query}`,
      })
      const { results, nextPageToken } = shaped(ASSETS, Found, answer)
      return { items: results, next: nextPageToken }
    },
  })
  const byNumber = new RegExp(`(^|/)projects/${number}(?=/|$)`, 'g')
  return assets
    .filter((asset) => !isServiceOwned(asset, project_id))
    .map(({ name }) => name.replace(/^\/\/[^/]*\//, '').replaceAll(byNumber, `$1projects/${project_id}`))
}

/**
 * One entry `<project> <role> <member>` for each binding of the project's policy.
 * https://cloud.google.com/resource-manager/reference/rest/v1/projects/getIamPolicy
 */
async function bindingNames(ask: Ask, resource_manager: string, project_id: string): Promise<string[]> {
  const answer = await ask({
    source: MANAGER,
    url: `${resource_manager}/projects/${project_id}:getIamPolicy`,
    method: 'POST',
    json: { options: { requestedPolicyVersion: 3 } },
  })
  const { bindings } = shaped(MANAGER, Policy, answer)
  return bindings.flatMap(({ role, members }) =>
    members.filter((member) => !isForeignMember(member, project_id)).map((member) => `${project_id} ${role} ${member}`),
  )
}
