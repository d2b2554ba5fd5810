import { readFileIfAny } from '../inputs.ts'
import { type Inventory, InventoryError, type InventoryRequest, RefusedError } from '../types.ts'
import { type Api, createApi, SOURCE } from './api.ts'
import { openCluster } from './cluster.ts'
import { identifierOf, isPlain } from './identifier.ts'
import { apiVersionOf, readKinds, type ServedKind } from './kinds.ts'
import { leavesOut, leavesOutKind } from './leave-out.ts'
import { listObjects, type ObjectMetadata } from './objects.ts'

/** Number of kinds listed at the same time. API servers limit each user to a fair share. */
const PARALLEL = 4
/** Statuses of a kind that may not be listed, was removed meanwhile, or cannot be listed at all. */
const SKIPPED = [403, 404, 405]

/** Lists manageable objects in the form of `identifierOf`. Skips and logs forbidden kinds; fails when all are. */
export const kubernetesInventory: Inventory = async (request) => {
  const api = await createApi(request, await openCluster(request, readFileIfAny))
  const kinds = (await readKinds(api)).filter((kind) => !leavesOutKind(kind))
  if (kinds.length === 0) throw new InventoryError(`${SOURCE} serves no kinds of objects`)
  return identifiersOf(kinds, await listAll(request, api, kinds))
}

/** Lists the objects of each kind, in the order of the kinds; empty for a skipped kind. */
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

/** Returns unique identifiers. Of an object in two groups, such as an old and a new one, the first counts. */
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
