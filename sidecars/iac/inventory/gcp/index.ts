import * as v from 'valibot'
import { askShape, type Question, readPages } from '../http.ts'
import { type Inventory, InventoryError, type InventoryRequest } from '../request.ts'
import { type GcpAccess, readGcpAccess } from './credentials.ts'

/** Lists assets, then the bindings of the IAM policy. Any denied call fails: a partial list would look complete. */
export const gcpInventory: Inventory = async (request) => {
  const { scopeId } = request
  if (!/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(scopeId)) throw new InventoryError(`'${scopeId}' is not a GCP project id`)
  const access = await readGcpAccess(request)
  const { resourceManager, cloudAsset } = access.endpoints
  const ask = createAsk(request, access)
  // https://cloud.google.com/resource-manager/reference/rest/v1/projects/get
  const project = { source: MANAGER, url: `${resourceManager}/projects/${scopeId}` }
  const { projectNumber: number } = await ask(Project, project)
  const assets = await listAssetNames(ask, cloudAsset, scopeId, number)
  const bindings = await listBindingNames(ask, resourceManager, scopeId)
  request.log.info('scope listed', { provider: 'gcp', assets: assets.length, bindings: bindings.length })
  return [...new Set([...assets, ...bindings])]
}

const ASSETS = 'Cloud Asset Inventory'
const MANAGER = 'Cloud Resource Manager'

const Asset = v.object({
  /** The full name, `//service/path`. */
  name: v.pipe(v.string(), v.startsWith('//')),
  assetType: v.string(),
  labels: v.nullish(v.record(v.string(), v.unknown()), {}),
})

type Asset = v.InferOutput<typeof Asset>

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

type Ask = ReturnType<typeof createAsk>

const createAsk =
  (request: InventoryRequest, { headers }: GcpAccess) =>
  <Schema extends v.GenericSchema>(schema: Schema, call: Pick<Question, 'source' | 'url' | 'method' | 'json'>) =>
    askShape(schema, { ...call, request, headers })

/**
 * Lists asset names without `//service/`, with the project's id in place of its number.
 * https://cloud.google.com/asset-inventory/docs/reference/rest/v1/TopLevel/searchAllResources
 */
async function listAssetNames(ask: Ask, cloudAsset: string, projectId: string, number: string): Promise<string[]> {
  const assets = await readPages(ASSETS, async (cursor) => {
    const query = new URLSearchParams({ pageSize: '500', readMask: 'name,assetType,labels' })
    if (cursor !== null) query.set('pageToken', cursor)
    const url = `${cloudAsset}/projects/${projectId}:searchAllResources?${query}`
    const { results, nextPageToken } = await ask(AssetPage, { source: ASSETS, url })
    return { items: results, next: nextPageToken }
  })
  const byNumber = new RegExp(`(^|/)projects/${number}(?=/|$)`, 'g')
  return assets
    .filter((asset) => !isServiceOwned(asset, projectId))
    .map(({ name }) => name.replace(/^\/\/[^/]*\//, '').replaceAll(byNumber, `$1projects/${projectId}`))
}

/**
 * Lists `<project> <role> <member>` for each binding of the project's policy.
 * https://cloud.google.com/resource-manager/reference/rest/v1/projects/getIamPolicy
 */
async function listBindingNames(ask: Ask, resourceManager: string, projectId: string): Promise<string[]> {
  const { bindings } = await ask(Policy, {
    source: MANAGER,
    url: `${resourceManager}/projects/${projectId}:getIamPolicy`,
    method: 'POST',
    json: { options: { requestedPolicyVersion: 3 } },
  })
  return bindings.flatMap(({ role, members }) =>
    members
      .filter((member) => !member.startsWith('deleted:') && !isServiceAgent(member, projectId))
      .map((member) => `${projectId} ${role} ${member}`),
  )
}

/** Buckets that Dataproc, Cloud Functions, Cloud Run and Cloud Build create for themselves. */
const SERVICE_BUCKET = /^(dataproc-staging-|dataproc-temp-|gcf-sources-|gcf-v2-|run-sources-)|_cloudbuild$/

/** Reports whether a service of Google created this asset, or it is the project itself. */
function isServiceOwned({ name, assetType, labels }: Asset, projectId: string): boolean {
  const last = name.slice(name.lastIndexOf('/') + 1)
  return (
    assetType === 'cloudresourcemanager.googleapis.com/Project' ||
    Object.keys(labels).some((key) => key.startsWith('goog-')) ||
    last.startsWith('gke-') ||
    (assetType === 'storage.googleapis.com/Bucket' && SERVICE_BUCKET.test(last)) ||
    (assetType === 'iam.googleapis.com/ServiceAccount' && isServiceAgent(last, projectId))
  )
}

/** Reports whether Google or another project owns an account. */
const isServiceAgent = (account: string, projectId: string): boolean =>
  account.endsWith('.gserviceaccount.com') && !account.endsWith(`@${projectId}.iam.gserviceaccount.com`)
