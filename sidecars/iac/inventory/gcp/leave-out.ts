/** What of an asset, as Cloud Asset Inventory describes it, tells who made it. */
interface Asset {
  /** `//service/path`. */
  name: string
  /** For example `storage.googleapis.com/Bucket`. */
  assetType: string
  labels: Record<string, unknown>
}

const PROJECT = 'cloudresourcemanager.googleapis.com/Project'
const BUCKET = 'storage.googleapis.com/Bucket'
const SERVICE_ACCOUNT = 'iam.googleapis.com/ServiceAccount'
/** Buckets that Dataproc, Cloud Functions, Cloud Run and Cloud Build make for themselves. */
const SERVICE_BUCKET = /^(dataproc-staging-|dataproc-temp-|gcf-sources-|gcf-v2-|run-sources-)|_cloudbuild$/

const lastSegment = (name: string): string => name.slice(name.lastIndexOf('/') + 1)

/** Whether a service of Google has made this asset, or it is the project itself. */
export function isServiceOwned({ name, assetType, labels }: Asset, projectId: string): boolean {
  const last = lastSegment(name)
  return (
    assetType === PROJECT ||
    Object.keys(labels).some((key) => key.startsWith('goog-')) ||
    last.startsWith('gke-') ||
    (assetType === BUCKET && SERVICE_BUCKET.test(last)) ||
    (assetType === SERVICE_ACCOUNT && isServiceAgent(last, projectId))
  )
}

/** Whether a member of a binding is gone, or is an account that Google or another project owns. */
export const isForeignMember = (member: string, projectId: string): boolean =>
  member.startsWith('deleted:') || isServiceAgent(member, projectId)

const isServiceAgent = (account: string, projectId: string): boolean =>
  account.endsWith('.gserviceaccount.com') && !account.endsWith(`@${projectId}.iam.gserviceaccount.com`)
