/** One object of a cluster, by name. */
export interface ObjectName {
  /** `v1` or `<group>/<version>`. */
  api_version: string
  kind: string
  /** Null for objects of the whole cluster. */
  namespace: string | null
  name: string
}

/**
 * The form in which the provider imports a `kubernetes_manifest`. The ids of its typed resources (`<namespace>/<name>`) are
 * shorter but do not tell a Deployment from a Service of the same name, so they identify nothing in a list of all kinds.
 */
export function identifierOf({ api_version, kind, namespace, name }: ObjectName): string {
  return `apiVersion=${api_version},kind=${kind},${namespace === null ? '' : `namespace=${namespace},`}name=${name}`
}

/** Null for a text of any other form. */
export function parseIdentifier(text: string): ObjectName | null {
  const match = /^apiVersion=([^,=]+),kind=([^,=]+),(?:namespace=([^,=]+),)?name=([^,=]+)$/.exec(text)
  const [, api_version, kind, namespace, name] = match ?? []
  return api_version && kind && name ? { api_version, kind, namespace: namespace ?? null, name } : null
}

/** Whether the name can stand in an identifier: commas and equals signs separate its parts. */
export const isPlain = (name: string): boolean => /^[^,=\s]{1,253}$/.test(name)

/**
 * What `import` takes for an identifier of the inventory, which depends on the type of the resource block; any
 * other text is returned as it is.
 * @param address of the resource block, in modules and with an index or not
 */
export function importIdOf(address: string, resource_id: string): string {
  const object = parseIdentifier(resource_id)
  const type =
    address
      .replace(/\[[^\]]*\]$/, '')
      .split('.')
      .at(-2) ?? ''
  if (object === null || type === 'kubernetes_manifest') return resource_id
  const { api_version, kind, namespace, name } = object
  if (type.startsWith('kubernetes_')) return namespace === null ? name : `${namespace}/${name}`
  if (type === 'kubectl_manifest')
    return [api_version, kind, name, ...(namespace === null ? [] : [namespace])].join('//')
  return resource_id
}
