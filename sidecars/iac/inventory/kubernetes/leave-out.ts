import type { ServedKind } from './kinds.ts'
import type { ObjectMetadata } from './objects.ts'

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
const BORN = new Map(
  Object.entries({
    configmaps: /^(kube-root-ca\.crt|openshift-service-ca\.crt)$/,
    namespaces: /^(default|(kube|gke|gmp|openshift)-.*)$/,
    'priorityclasses.scheduling.k8s.io': /^system-/,
    secrets: /^sh\.helm\.release\.v1\./,
    serviceaccounts: /^default$/,
  }),
)

const fullName = ({ resource, group }: ServedKind) => (group === '' ? resource : `${resource}.${group}`)

export const leavesOutKind = (kind: ServedKind): boolean => KINDS.has(fullName(kind))

/** Reports whether an object is not managed by code: the cluster made it, or it is being deleted. */
export function leavesOut(kind: ServedKind, object: ObjectMetadata): boolean {
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
