import { objectsOfType } from './resource-types.ts'

/** One object of a cluster, by name. */
export interface ObjectName {
  /** `v1` or `<group>/<version>`. */
  apiVersion: string
  kind: string
  /** Null for objects of the whole cluster. */
  namespace: string | null
  name: string
}

/**
 * The form in which the provider imports a `kubernetes_manifest`. The ids of its typed resources (`<namespace>/<name>`)
 * are shorter, but do not tell a Deployment from a Service of the same name, so they are no use in a list of all kinds.
 */
export function identifierOf({ apiVersion, kind, namespace, name }: ObjectName): string {
  return `apiVersion=${apiVersion},kind=${kind},${namespace === null ? '' : `namespace=${namespace},`}name=${name}`
}

/** Null for a text of any other form. */
export function parseIdentifier(text: string): ObjectName | null {
  const match = /^apiVersion=([^,=]+),kind=([^,=]+),(?:namespace=([^,=]+),)?name=([^,=]+)$/.exec(text)
  const [, apiVersion, kind, namespace, name] = match ?? []
  return apiVersion && kind && name ? { apiVersion, kind, namespace: namespace ?? null, name } : null
}

/** Whether the name can stand in an identifier: commas and equals signs separate its parts. */
export const isPlain = (name: string): boolean => /^[^,=\s]{1,253}$/.test(name)

/**
 * What `import` takes for an identifier of the inventory, which depends on the type of the resource block; any
 * other text is returned as it is. So is an object of another kind than the block's, which the provider then refuses:
 * by namespace and name alone it would take in a namesake, a Deployment for a Service.
 * @param address the address of the resource block, which may lie in a module and have an index
 */
export function importIdOf(address: string, resourceId: string): string {
  const object = parseIdentifier(resourceId)
  const type =
    address
      .replace(/\[[^\]]*\]$/, '')
      .split('.')
      .at(-2) ?? ''
  if (object === null || type === 'kubernetes_manifest') return resourceId
  if (isOfAnotherKind(type, object)) return resourceId
  const { apiVersion, kind, namespace, name } = object
  if (type.startsWith('kubernetes_')) return namespace === null ? name : `${namespace}/${name}`
  if (type === 'kubectl_manifest')
    return [apiVersion, kind, name, ...(namespace === null ? [] : [namespace])].join('//')
  return resourceId
}

/** A kind of an API group that somebody else defined may have the name of one of the cluster's own. */
function isOfAnotherKind(type: string, { apiVersion, kind }: ObjectName): boolean {
  const known = objectsOfType(type)
  return (
    known !== null && (known.kind !== kind || !known.apiVersions.some((own) => groupOf(own) === groupOf(apiVersion)))
  )
}

const groupOf = (apiVersion: string) => (apiVersion.includes('/') ? apiVersion.split('/')[0] : '')
