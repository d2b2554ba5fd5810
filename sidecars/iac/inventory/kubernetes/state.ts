import { identifierOf, isPlain, type ObjectName } from './identifier.ts'

type Attributes = Record<string, unknown>

/** The kind and the API versions of a type of the provider, whose name stands here without prefix and version. */
const TYPES = new Map<string, readonly [kind: string, ...apiVersions: string[]]>(
  Object.entries({
    api_service: ['APIService', 'apiregistration.k8s.io/v1'],
    cluster_role: ['ClusterRole', 'rbac.authorization.k8s.io/v1'],
    cluster_role_binding: ['ClusterRoleBinding', 'rbac.authorization.k8s.io/v1'],
    config_map: ['ConfigMap', 'v1'],
    cron_job: ['CronJob', 'batch/v1', 'batch/v1beta1'],
    csi_driver: ['CSIDriver', 'storage.k8s.io/v1'],
    daemon_set: ['DaemonSet', 'apps/v1'],
    daemonset: ['DaemonSet', 'apps/v1'],
    default_service_account: ['ServiceAccount', 'v1'],
    deployment: ['Deployment', 'apps/v1'],
    endpoint_slice: ['EndpointSlice', 'discovery.k8s.io/v1'],
    endpoints: ['Endpoints', 'v1'],
    horizontal_pod_autoscaler: ['HorizontalPodAutoscaler', 'autoscaling/v2', 'autoscaling/v2beta2', 'autoscaling/v1'],
    ingress: ['Ingress', 'networking.k8s.io/v1', 'networking.k8s.io/v1beta1', 'extensions/v1beta1'],
    ingress_class: ['IngressClass', 'networking.k8s.io/v1'],
    job: ['Job', 'batch/v1'],
    limit_range: ['LimitRange', 'v1'],
    mutating_webhook_configuration: ['MutatingWebhookConfiguration', 'admissionregistration.k8s.io/v1'],
    namespace: ['Namespace', 'v1'],
    network_policy: ['NetworkPolicy', 'networking.k8s.io/v1'],
    persistent_volume: ['PersistentVolume', 'v1'],
    persistent_volume_claim: ['PersistentVolumeClaim', 'v1'],
    pod: ['Pod', 'v1'],
    pod_disruption_budget: ['PodDisruptionBudget', 'policy/v1', 'policy/v1beta1'],
    priority_class: ['PriorityClass', 'scheduling.k8s.io/v1'],
    replication_controller: ['ReplicationController', 'v1'],
    resource_quota: ['ResourceQuota', 'v1'],
    role: ['Role', 'rbac.authorization.k8s.io/v1'],
    role_binding: ['RoleBinding', 'rbac.authorization.k8s.io/v1'],
    runtime_class: ['RuntimeClass', 'node.k8s.io/v1'],
    secret: ['Secret', 'v1'],
    service: ['Service', 'v1'],
    service_account: ['ServiceAccount', 'v1'],
    stateful_set: ['StatefulSet', 'apps/v1'],
    storage_class: ['StorageClass', 'storage.k8s.io/v1'],
    validating_webhook_configuration: ['ValidatingWebhookConfiguration', 'admissionregistration.k8s.io/v1'],
  } as const),
)

/**
 * Identifiers, as the inventory writes them, of what one instance in a state document manages. There is one for each
 * API version under which a cluster may list the object, and none for a type that manages no object of its own.
 */
export function kubernetesIdentifiers(type: string, attributes: Attributes): string[] {
  return objectsOf(type, attributes)
    .filter(({ name }) => isPlain(name))
    .map(identifierOf)
}

function objectsOf(type: string, attributes: Attributes): ObjectName[] {
  if (type === 'kubernetes_manifest')
    return manifestObjects(attributes.object) ?? manifestObjects(attributes.manifest) ?? []
  if (type === 'kubectl_manifest')
    return namedObject(attributes.api_version, attributes.kind, attributes.namespace, attributes.name) ?? []
  const [kind, ...apiVersions] = TYPES.get(
    /^kubernetes_([a-z_]+?)(_v\d+((alpha|beta)\d+)?)?$/.exec(type)?.[1] ?? '',
  ) ?? ['']
  const [, namespace = null, name = ''] =
    typeof attributes.id === 'string' ? (/^(?:([^/]+)\/)?([^/]+)$/.exec(attributes.id) ?? []) : []
  return name === '' ? [] : apiVersions.map((apiVersion) => ({ apiVersion, kind, namespace, name }))
}

/** The object of a manifest. A value of any type stands in a state document as `{ value, type }`. */
function manifestObjects(attribute: unknown): ObjectName[] | null {
  if (!isObject(attribute)) return null
  const manifest = isObject(attribute.value) ? attribute.value : attribute
  const metadata = isObject(manifest.metadata) ? manifest.metadata : {}
  return namedObject(manifest.apiVersion, manifest.kind, metadata.namespace, metadata.name)
}

function namedObject(apiVersion: unknown, kind: unknown, namespace: unknown, name: unknown): ObjectName[] | null {
  if (!isFilled(apiVersion) || !isFilled(kind) || !isFilled(name)) return null
  return [{ apiVersion, kind, namespace: isFilled(namespace) ? namespace : null, name }]
}

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isObject = (value: unknown): value is Attributes =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
