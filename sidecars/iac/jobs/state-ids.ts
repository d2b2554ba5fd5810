import { isJsonObject, itemsOf, type Json } from '../../../src/base/json.ts'
import { kubernetesIdentifiers } from '../inventory/kubernetes/identifier.ts'

type Extraction = { ok: true; ids: string[] } | { ok: false; text: string }

/**
 * Lists the identifiers in a state document: `arn`, else `id`, and for Kubernetes those of the inventory, because an id
 * such as `shop/web` does not distinguish a Deployment from a Service.
 */
export function stateResourceIds(document: string): Extraction {
  if (document.trim() === '') return { ok: true, ids: [] }
  const unparsable: Extraction = { ok: false, text: 'state pull returned an unparsable state document' }
  let state: Json
  try {
    state = JSON.parse(document)
  } catch {
    return unparsable
  }
  if (!isJsonObject(state)) return unparsable
  const ids = new Set<string>()
  for (const resource of itemsOf(state.resources)) {
    if (!isJsonObject(resource) || resource.mode !== 'managed') continue
    for (const instance of itemsOf(resource.instances)) {
      if (!isJsonObject(instance) || !isJsonObject(instance.attributes)) continue
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
