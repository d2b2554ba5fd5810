import * as v from 'valibot'
import { readPages } from '../http.ts'
import { checkShape } from '../inputs.ts'
import { RefusedError } from '../types.ts'
import { type Api, SOURCE } from './api.ts'
import { basePathOf, type ServedKind } from './kinds.ts'

const PAGE_SIZE = 500
const MAX_PAGES = 200
/** Limit of attempts: a list restarts when it takes longer than the server keeps its beginning. */
const MAX_ATTEMPTS = 3
/** Requests metadata only, so that the content of a Secret stays on a server that can omit it. */
const ACCEPT = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'

const texts = v.nullish(v.record(v.string(), v.nullish(v.string(), '')), {})
const metadataSchema = v.object({
  name: v.pipe(v.string(), v.nonEmpty(), v.maxLength(253)),
  namespace: v.nullish(v.string(), ''),
  uid: v.nullish(v.string(), ''),
  labels: texts,
  annotations: texts,
  ownerReferences: v.nullish(v.array(v.unknown()), []),
  deletionTimestamp: v.nullish(v.string()),
})
const listSchema = v.object({
  metadata: v.nullish(v.object({ continue: v.nullish(v.string()) })),
  items: v.nullable(v.array(v.object({ metadata: metadataSchema }))),
})

export type ObjectMetadata = v.InferOutput<typeof metadataSchema>

/** Lists a kind in the cluster, else in the namespace. Errors: `RefusedError` 403, 404, 405; else `InventoryError`. */
export async function listObjects(api: Api, kind: ServedKind): Promise<ObjectMetadata[]> {
  try {
    return await listAt(api, `${basePathOf(kind)}/${kind.resource}`)
  } catch (error) {
    if (!(error instanceof RefusedError) || error.status !== 403 || !kind.namespaced || api.namespace === '')
      throw error
    return listAt(api, `${basePathOf(kind)}/namespaces/${encodeURIComponent(api.namespace)}/${kind.resource}`)
  }
}

async function listAt(api: Api, path: string): Promise<ObjectMetadata[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readPages({
        source: `${SOURCE} at ${path}`,
        maxPages: MAX_PAGES,
        read: async (cursor) => {
          const query = new URLSearchParams({
            limit: String(PAGE_SIZE),
            ...(cursor === null ? {} : { continue: cursor }),
          })
          const { items, metadata } = checkShape(SOURCE, listSchema, await api.get(`${path}?${query}`, ACCEPT))
          return { items: (items ?? []).map((item) => item.metadata), next: metadata?.continue }
        },
      })
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== 410 || attempt >= MAX_ATTEMPTS) throw error
    }
  }
}
