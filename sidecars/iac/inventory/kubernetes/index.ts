import { type Inventory, InventoryError, type InventoryRequest, RefusedError, readFileIfAny } from '../request.ts'
import {
  type Api,
  apiVersionOf,
  createApi,
  listObjects,
  type ObjectMetadata,
  readKinds,
  type ServedKind,
  SOURCE,
} from './api.ts'
import { openCluster } from './cluster.ts'
import { identifierOf, isPlain } from './identifier.ts'

/** Statuses of a kind that may not be listed, was removed meanwhile, or cannot be listed at all. */
const SKIPPED = [403, 404, 405]

/** Lists manageable objects in the form of `identifierOf`. Skips and logs forbidden kinds; fails when all are. */
export const kubernetesInventory: Inventory = async (request) => {
  const api = await createApi(request, await openCluster(request, readFileIfAny))
  const kinds = (await readKinds(api)).filter((kind) => !KINDS.has(fullName(kind)))
  if (kinds.length === 0) throw new InventoryError(`${SOURCE} serves no kinds of objects`)
  return identifiersOf(kinds, await listAll(request, api, kinds))
}

/** Lists the objects of each kind, in the order of the kinds; empty for a skipped kind. */
async function listAll(request: InventoryRequest, api: Api, kinds: readonly ServedKind[]): Promise<ObjectMetadata[][]> {
  const lists: ObjectMetadata[][] = kinds.map(() => [])
  const refusals: RefusedError[] = []
  const waiting = [...kinds.entries()]
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, kind] = next
      lists[index] = await listObjects(api, kind).catch((error: unknown) => {
        if (!(error instanceof RefusedError) || !SKIPPED.includes(error.status)) throw error
        refusals.push(error)
        request.log.warn('inventory leaves out a kind', {
          kind: kind.kind,
          api_version: apiVersionOf(kind),
          reason: error.message,
        })
        return []
      })
    }
  }
  try {
    // Few kinds at the same time: API servers limit each user to a fair share.
    await Promise.all(Array.from({ length: 4 }, work))
  } finally {
    waiting.length = 0
  }
  const [first] = refusals
  if (first && refusals.length === kinds.length) throw first
  return lists
}

/** Returns unique identifiers. Of an object in two groups, such as an old and a new one, the first counts. */
function identifiersOf(kinds: readonly ServedKind[], lists: readonly (readonly ObjectMetadata[])[]): string[] {
  const seen = new Set<string>()
  return kinds.flatMap((kind, index) =>
    (lists[index] ?? []).flatMap((object) => {
      if (leavesOut(kind, object) || !isPlain(object.name) || seen.has(object.uid)) return []
      if (object.uid !== '') seen.add(object.uid)
      const namespace = kind.namespaced ? object.namespace : null
      return [identifierOf({ apiVersion: apiVersionOf(kind), kind: kind.kind, namespace, name: object.name })]
    }),
  )
}

/** Kinds, as `resource.group`, that the cluster writes itself or that are short-lived. */
const KINDS = new Set([
  'bindings',
  'certificatesigningrequests.certificates.k8s.io',
  'controllerrevisions.apps',
  'csinodes.storage.k8s.io',
  'csistoragecapacities.storage.k8s.io',
  'endpoints',
  'endpointslices.discovery.k8s.io',
  'events',
  'events.events.k8s.io',
  'ipaddresses.networking.k8s.io',
  'leases.coordination.k8s.io',
  'leasecandidates.coordination.k8s.io',
  'nodes',
  'podtemplates',
  'resourceslices.resource.k8s.io',
  'servicecidrs.networking.k8s.io',
  'storageversions.internal.apiserver.k8s.io',
  'volumeattachments.storage.k8s.io',
])
const SYSTEM_NAMESPACE = /^(kube|gke|gmp|openshift)-/
const SYSTEM_NAME = /^(system:|kubeadm:)/

/** Labels that the cluster, its bootstrap, its vendor or a package manager sets on its own objects. */
const LABELS = [
  'addonmanager.kubernetes.io/mode',
  'eks.amazonaws.com/component',
  'kube-aggregator.kubernetes.io/automanaged',
  'kubernetes.io/bootstrapping',
  'kubernetes.io/cluster-service',
  'tfstate',
]
const ANNOTATIONS = [
  'apf.kubernetes.io/autoupdate-spec',
  'control-plane.alpha.kubernetes.io/leader',
  'kubernetes.io/config.mirror',
  'meta.helm.sh/release-name',
  'pv.kubernetes.io/provisioned-by',
]

/** Objects that every new namespace or cluster has, as `resource.group` and name. */
const BORN = new Map([
  ['configmaps', /^(kube-root-ca\.crt|openshift-service-ca\.crt)$/],
  ['namespaces', /^(default|(kube|gke|gmp|openshift)-.*)$/],
  ['priorityclasses.scheduling.k8s.io', /^system-/],
  ['secrets', /^sh\.helm\.release\.v1\./],
  ['serviceaccounts', /^default$/],
])

const fullName = ({ resource, group }: ServedKind) => (group === '' ? resource : `${resource}.${group}`)

/** Reports whether an object is not managed by code: the cluster made it, or it is being deleted. */
function leavesOut(kind: ServedKind, object: ObjectMetadata): boolean {
  const { name, namespace, labels, annotations, ownerReferences, deletionTimestamp } = object
  return (
    ownerReferences.length > 0 ||
    Boolean(deletionTimestamp) ||
    SYSTEM_NAMESPACE.test(namespace) ||
    SYSTEM_NAME.test(name) ||
    LABELS.some((key) => Object.hasOwn(labels, key)) ||
    ANNOTATIONS.some((key) => Object.hasOwn(annotations, key)) ||
    BORN.get(fullName(kind))?.test(name) ||
    (kind.resource === 'services' && namespace === 'default' && name === 'kubernetes') ||
    isGeneratedToken(kind, object)
  )
}

/** Reports whether a cluster made this token, as before 1.24 for each service account, with such a name. */
function isGeneratedToken({ resource, group }: ServedKind, { name, annotations }: ObjectMetadata): boolean {
  const account = annotations['kubernetes.io/service-account.name'] ?? ''
  const rest = name.startsWith(`${account}-`) ? name.slice(account.length + 1) : ''
  return resource === 'secrets' && group === '' && account !== '' && /^(token|dockercfg)-[a-z0-9]{5}$/.test(rest)
}
