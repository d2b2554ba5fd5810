import { kubernetesIdentifiers } from '../inventory/kubernetes/identifier.ts'

type Extraction = { ok: true; ids: string[] } | { ok: false; text: string }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/**
 * Lists the identifiers in a state document: `arn`, else `id`, and for Kubernetes those of the inventory, because an id
 * such as `shop/web` does not distinguish a Deployment from a Service.
 */
export function stateResourceIds(document: string): Extraction {
  if (document.trim() === '') return { ok: true, ids: [] }
  const unparsable: Extraction = { ok: false, text: 'state pull returned an unparsable state document' }
  let state: unknown
  try {
    state = JSON.parse(document)
  } catch {
    return unparsable
  }
  if (!isObject(state)) return unparsable
  const ids = new Set<string>()
  for (const resource of asList(state.resources)) {
    if (!isObject(resource) || resource.mode !== 'managed') continue
    for (const instance of asList(resource.instances)) {
      if (!isObject(instance) || !isObject(instance.attributes)) continue
      const id = identifierOf(instance.attributes)
      if (id !== null) ids.add(id)
      for (const name of kubernetesIdentifiers(String(resource.type), instance.attributes)) ids.add(name)
    }
  }
  return { ok: true, ids: [...ids] }
}

function identifierOf(attributes: Record<string, unknown>): string | null {
  for (const value of [attributes.arn, attributes.id]) if (typeof value === 'string' && value !== '') return value
  return null
}
