import { isJsonObject } from '../../../../src/base/json.ts'

interface ObjectName {
  /** `v1` or `<group>/<version>`. */
  apiVersion: string
  kind: string
  /** Null for objects of the whole cluster. */
  namespace: string | null
  name: string
}

/** Renders the id of a `kubernetes_manifest`; `<namespace>/<name>` would not distinguish kinds. */
export function identifierOf({ apiVersion, kind, namespace, name }: ObjectName): string {
  return `apiVersion=${apiVersion},kind=${kind},${namespace === null ? '' : `namespace=${namespace},`}name=${name}`
}

/** Parses an identifier; null for a text of any other form. */
function parseIdentifier(text: string): ObjectName | null {
  const match = /^apiVersion=([^,=]+),kind=([^,=]+),(?:namespace=([^,=]+),)?name=([^,=]+)$/.exec(text)
  const [, apiVersion, kind, namespace, name] = match ?? []
  return apiVersion && kind && name ? { apiVersion, kind, namespace: namespace ?? null, name } : null
}

/** Reports whether a name fits into an identifier, whose parts are separated by commas and equals signs. */
export const isPlain = (name: string): boolean => /^[^,=\s]{1,253}$/.test(name)

/**
 * Returns the id that `import` expects for an identifier and the block at `address`. Any other text, and an object of
 * another kind, stays unchanged, so that the provider refuses it instead of importing a namesake.
 */
export function importIdOf(address: string, resourceId: string): string {
  const object = parseIdentifier(resourceId)
  const type =
    address
      .replace(/\[[^\]]*\]$/, '')
      .split('.')
      .at(-2) ?? ''
  if (object === null || type === 'kubernetes_manifest' || isOfAnotherKind(type, object)) return resourceId
  const { apiVersion, kind, namespace, name } = object
  if (type.startsWith('kubernetes_')) return namespace === null ? name : `${namespace}/${name}`
  if (type === 'kubectl_manifest')
    return [apiVersion, kind, name, ...(namespace === null ? [] : [namespace])].join('//')
  return resourceId
}

/** Reports whether the object is of another kind. A foreign API group may reuse the name of a built-in kind. */
function isOfAnotherKind(type: string, { apiVersion, kind }: ObjectName): boolean {
  const known = objectsOfType(type)
  return (
    known !== null && (known.kind !== kind || !known.apiVersions.some((own) => groupOf(own) === groupOf(apiVersion)))
  )
}

const groupOf = (apiVersion: string) => (apiVersion.includes('/') ? apiVersion.split('/')[0] : '')

/** Types of the provider, whose name has neither prefix nor version here, by the API versions of their kinds. */
const TYPES: readonly (readonly [apiVersions: string, ...types: string[]])[] = [
  ['v1', 'config_map', 'default_service_account', 'endpoints', 'limit_range', 'namespace', 'persistent_volume'],
  ['v1', 'persistent_volume_claim', 'pod', 'replication_controller', 'resource_quota', 'secret', 'service'],
  ['v1', 'service_account'],
  ['admissionregistration.k8s.io/v1', 'mutating_webhook_configuration', 'validating_admission_policy'],
  ['admissionregistration.k8s.io/v1', 'validating_webhook_configuration'],
  ['apiregistration.k8s.io/v1', 'api_service'],
  ['apps/v1', 'daemon_set', 'daemonset', 'deployment', 'stateful_set'],
  ['autoscaling/v2 autoscaling/v2beta2 autoscaling/v1', 'horizontal_pod_autoscaler'],
  ['batch/v1', 'job'],
  ['batch/v1 batch/v1beta1', 'cron_job'],
  ['discovery.k8s.io/v1', 'endpoint_slice'],
  ['networking.k8s.io/v1', 'ingress_class', 'network_policy'],
  ['networking.k8s.io/v1 networking.k8s.io/v1beta1 extensions/v1beta1', 'ingress'],
  ['node.k8s.io/v1', 'runtime_class'],
  ['policy/v1 policy/v1beta1', 'pod_disruption_budget'],
  ['rbac.authorization.k8s.io/v1', 'cluster_role', 'cluster_role_binding', 'role', 'role_binding'],
  ['scheduling.k8s.io/v1', 'priority_class'],
  ['storage.k8s.io/v1', 'csi_driver', 'storage_class'],
]
/** Kinds whose name is not that of their type in Pascal case. */
const KINDS: Readonly<Record<string, string>> = {
  api_service: 'APIService',
  csi_driver: 'CSIDriver',
  daemonset: 'DaemonSet',
  default_service_account: 'ServiceAccount',
}

/** Returns the objects of a type such as `kubernetes_service_v1`; null for none of its own, or for any kind. */
function objectsOfType(type: string): { kind: string; apiVersions: string[] } | null {
  const name = /^kubernetes_([a-z_]+?)(_v\d+((alpha|beta)\d+)?)?$/.exec(type)?.[1] ?? ''
  const [apiVersions] = TYPES.find(([, ...types]) => types.includes(name)) ?? []
  if (apiVersions === undefined) return null
  const kind = KINDS[name] ?? name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return { kind, apiVersions: apiVersions.split(' ') }
}

type Attributes = Record<string, unknown>

/** Returns an instance's identifiers, one per API version under which a cluster may list the object. */
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
  const { kind, apiVersions } = objectsOfType(type) ?? { kind: '', apiVersions: [] }
  const [, namespace = null, name = ''] =
    typeof attributes.id === 'string' ? (/^(?:([^/]+)\/)?([^/]+)$/.exec(attributes.id) ?? []) : []
  return name === '' ? [] : apiVersions.map((apiVersion) => ({ apiVersion, kind, namespace, name }))
}

/** Reads the object of a manifest. A state document stores a value of any type as `{ value, type }`. */
function manifestObjects(attribute: unknown): ObjectName[] | null {
  if (!isJsonObject(attribute)) return null
  const manifest = isJsonObject(attribute.value) ? attribute.value : attribute
  const metadata = isJsonObject(manifest.metadata) ? manifest.metadata : {}
  return namedObject(manifest.apiVersion, manifest.kind, metadata.namespace, metadata.name)
}

function namedObject(apiVersion: unknown, kind: unknown, namespace: unknown, name: unknown): ObjectName[] | null {
  if (!isFilled(apiVersion) || !isFilled(kind) || !isFilled(name)) return null
  return [{ apiVersion, kind, namespace: isFilled(namespace) ? namespace : null, name }]
}

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== ''
