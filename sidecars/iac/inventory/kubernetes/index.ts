import { readFileIfAny } from '../inputs.ts'
import { type Inventory, InventoryError, type InventoryRequest, RefusedError } from '../types.ts'
import { type Api, createApi, SOURCE } from './api.ts'
import { openCluster } from './cluster.ts'
import { identifierOf, isPlain } from './identifier.ts'
import { apiVersionOf, readKinds, type ServedKind } from './kinds.ts'
import { leavesOut, leavesOutKind } from './leave-out.ts'
import { listObjects, type ObjectMetadata } from './objects.ts'

/** So many kinds are listed at the same time. API servers give each user a fair share and refuse more. */
const PARALLEL = 4
/** Listing a kind is not allowed, the kind is gone since the kinds were read, or it cannot be listed after all. */
const SKIPPED = [403, 404, 405]

/**
 * Lists the objects of a cluster that code could manage, as `apiVersion=…,kind=…,namespace=…,name=…` (see
 * `identifierOf`). The scope is any name that the operator gave the cluster. Kinds that may not be listed are left out
 * and logged. When none may be listed the discovery fails.
 */
export const kubernetesInventory: Inventory = async (request) => {
  const api = await createApi(request, await openCluster(request, readFileIfAny))
  const kinds = (await readKinds(api)).filter((kind) => !leavesOutKind(kind))
  if (kinds.length === 0) throw new InventoryError(`${SOURCE} serves no kinds of objects`)
  return identifiersOf(kinds, await listAll(request, api, kinds))
}

/** Lists the objects of each kind, in the order of the kinds. The list is empty for a kind that is left out. */
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
    await Promise.all(Array.from({ length: PARALLEL }, work))
  } finally {
    waiting.length = 0
  }
  const [first] = refusals
  if (first && refusals.length === kinds.length) throw first
  return lists
}

/** The same object may be served in two groups, such as an old and a new one. The first counts. */
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
