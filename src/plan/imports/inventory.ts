import type { Masker } from '../../base/masking.ts'
import type { Cloud } from '../../base/vocabulary.ts'
import { identityOf } from './identifiers.ts'
import { resourceKind } from './kinds.ts'
import type { Excluded } from './unmanaged.ts'

/** A resource of a scope; `kind` is the cloud's word, null when the identifier does not tell. */
export interface ListedResource {
  kind: string | null
  resource_id: string
}

/** The listing of an import preview: each resource of the scope once, by kind and identifier. */
export interface ScopeInventory {
  /** Version of this document's format. */
  version: 1
  provider: Cloud
  scope_id: string
  /** The request, which selects nothing here. */
  request: string
  counts: { managed: number; unmanaged: number; left_out: number }
  /** Resources in the state. */
  managed: ListedResource[]
  /** Resources that can be imported. */
  unmanaged: ListedResource[]
  /** Resources that are neither managed nor importable, with reasons. */
  left_out: (ListedResource & { reason: string })[]
}

const HIDDEN = 'Its identifier holds a sensitive value and is hidden here, so it cannot be chosen by its identifier.'

/**
 * Sorts the resources of a scope into managed, importable and left out. Identifiers are masked; one that masking
 * changes cannot be chosen and is left out.
 * @param found result of comparing scope and state: `ids` to import, and `withheld` with reasons
 */
export function takeInventory(
  place: Pick<ScopeInventory, 'provider' | 'scope_id' | 'request'>,
  found: { scope: readonly string[]; ids: readonly string[]; withheld: readonly Excluded[] },
  masker: Masker,
): ScopeInventory {
  const { provider, scope_id, request } = place
  const listed = (id: string): ListedResource => {
    const resourceId = masker.text(id)
    return { kind: resourceKind(provider, resourceId), resource_id: resourceId }
  }
  const isHidden = (id: string) => masker.text(id) !== id
  const managed = managedInScope(provider, found).map(listed).sort(byKind)
  const unmanaged = found.ids
    .filter((id) => !isHidden(id))
    .map(listed)
    .sort(byKind)
  const hidden = found.ids.filter(isHidden).map((id) => ({ ...listed(id), reason: HIDDEN }))
  const withheld = found.withheld.map(({ resource_id, details }) => ({ ...listed(resource_id), reason: details }))
  const leftOut = [...withheld, ...hidden].sort(byKind)
  return {
    version: 1,
    provider,
    scope_id: masker.text(scope_id),
    request: masker.text(request),
    counts: { managed: managed.length, unmanaged: unmanaged.length, left_out: leftOut.length },
    managed,
    unmanaged,
    left_out: leftOut,
  }
}

/** Returns the identifiers in the scope that are neither importable nor withheld, each in its first spelling. */
function managedInScope(
  provider: Cloud,
  { scope, ids, withheld }: { scope: readonly string[]; ids: readonly string[]; withheld: readonly Excluded[] },
): string[] {
  const identity = identityOf(provider)
  const seen = new Set([...ids, ...withheld.map(({ resource_id }) => resource_id)].map(identity))
  return scope.filter((id) => {
    const key = identity(id)
    if (id.trim() === '' || seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** Compares by kind, null last, then by identifier, in code-point order. */
const byKind = (a: ListedResource, b: ListedResource) =>
  Number(a.kind === null) - Number(b.kind === null) ||
  compare(a.kind ?? '', b.kind ?? '') ||
  compare(a.resource_id, b.resource_id)

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
