import { identifierOf, isPlain, type ObjectName, objectsOfType } from './identifier.ts'

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
