import * as v from 'valibot'
import type { Fetch } from '../../../../src/base/http.ts'
import { askJson, readPages } from '../http.ts'
import { checkShape, type InventoryRequest, RefusedError } from '../request.ts'
import { type Cluster, type CurrentCluster, transportOf } from './cluster.ts'

export const SOURCE = 'Kubernetes API'

export type Api = Awaited<ReturnType<typeof createApi>>

export async function createApi(request: InventoryRequest, current: CurrentCluster) {
  const transports = new WeakMap<Cluster, Fetch>()
  const fetchOf = (cluster: Cluster) => {
    const fetch = transports.get(cluster) ?? transportOf(cluster, request.fetch)
    transports.set(cluster, fetch)
    return fetch
  }
  const ask = (cluster: Cluster, path: string, accept: string) =>
    askJson({
      source: SOURCE,
      url: `${cluster.server}${path}`,
      headers: { ...cluster.headers, accept },
      request,
      fetch: fetchOf(cluster),
    })
  return {
    /** The namespace that is listed if the whole cluster may not be; empty when unknown. */
    namespace: (await current()).namespace,
    log: request.log,
    /** Reads `path`, which is relative to the server's address and has its query. Errors: `InventoryError`. */
    get: async (path: string, accept: string): Promise<unknown> => {
      const cluster = await current()
      try {
        return await ask(cluster, path, accept)
      } catch (error) {
        if (!(error instanceof RefusedError) || error.status !== 401) throw error
        // Credentials can end before their time, for example when they are replaced.
        const other = await current(cluster)
        if (other === cluster) throw error
        return ask(other, path, accept)
      }
    },
  }
}

export interface ServedKind {
  /** Empty for the core group. */
  group: string
  version: string
  kind: string
  /** Its name in URLs. */
  resource: string
  namespaced: boolean
}

/** Since version 1.26 one request returns all groups. Older servers need one per version of each group. */
const DISCOVERY =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,' +
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json'

/** Reads every kind that can be listed, created and deleted, in the version that its group prefers. */
export async function readKinds(api: Api): Promise<ServedKind[]> {
  const kinds = new Map<string, ServedKind>()
  for (const path of ['/api', '/apis']) {
    for (const kind of await readServed(api, path)) {
      const key = `${kind.group}/${kind.resource}`
      if (!kinds.has(key)) kinds.set(key, kind)
    }
  }
  return [...kinds.values()]
}

export const apiVersionOf = ({ group, version }: Pick<ServedKind, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`

/** Returns `/api/v1` or `/apis/<group>/<version>`. */
const basePathOf = ({ group, version }: Pick<ServedKind, 'group' | 'version'>): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`

async function readServed(api: Api, path: string): Promise<ServedKind[]> {
  const answer = checkShape(SOURCE, answerSchema, await api.get(path, DISCOVERY))
  if (answer.kind === 'APIGroupDiscoveryList') return answer.items.flatMap((item) => aggregatedKinds(api, item))
  const versions =
    answer.kind === 'APIVersions'
      ? answer.versions.map((version) => ({ group: '', version }))
      : answer.groups.flatMap((group) =>
          sortPreferredFirst(group).map(({ version }) => ({ group: group.name, version })),
        )
  const kinds: ServedKind[] = []
  for (const version of versions) kinds.push(...(await readVersion(api, version)))
  return kinds
}

/** A text that becomes part of URLs and identifiers. */
const part = v.pipe(v.string(), v.regex(/^[a-z0-9.-]{1,253}$/))
const kindName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9]{1,63}$/))
const verbs = v.nullish(v.array(v.string()), [])

const discoverySchema = v.object({
  metadata: v.nullish(v.object({ name: v.nullish(v.union([part, v.literal('')]), '') }), {}),
  versions: v.nullish(
    v.array(
      v.object({
        version: part,
        freshness: v.nullish(v.string()),
        resources: v.nullish(
          v.array(
            v.object({
              resource: part,
              responseKind: v.nullish(v.object({ kind: kindName })),
              scope: v.nullish(v.string()),
              verbs,
            }),
          ),
          [],
        ),
      }),
    ),
    [],
  ),
})
const groupSchema = v.object({
  name: part,
  versions: v.array(v.object({ version: part })),
  preferredVersion: v.nullish(v.object({ version: v.string() })),
})
const answerSchema = v.variant('kind', [
  v.object({ kind: v.literal('APIGroupDiscoveryList'), items: v.array(discoverySchema) }),
  v.object({ kind: v.literal('APIVersions'), versions: v.array(part) }),
  v.object({ kind: v.literal('APIGroupList'), groups: v.array(groupSchema) }),
])
const versionSchema = v.object({
  resources: v.array(v.object({ name: v.string(), kind: kindName, namespaced: v.boolean(), verbs })),
})

const isManageable = (allowed: readonly string[]) =>
  ['list', 'create', 'delete'].every((verb) => allowed.includes(verb))

/** Returns the kinds of a group. The server names the preferred version first. */
function aggregatedKinds(api: Api, { metadata, versions }: v.InferOutput<typeof discoverySchema>): ServedKind[] {
  const group = metadata?.name ?? ''
  return versions.flatMap(({ version, freshness, resources }) => {
    if (freshness === 'Stale')
      api.log.warn('inventory leaves out kinds whose server does not answer', {
        api_version: apiVersionOf({ group, version }),
      })
    return (freshness === 'Stale' ? [] : resources).flatMap(({ resource, responseKind, scope, verbs }) =>
      responseKind && isManageable(verbs)
        ? [{ group, version, kind: responseKind.kind, resource, namespaced: scope === 'Namespaced' }]
        : [],
    )
  })
}

const sortPreferredFirst = ({ versions, preferredVersion }: v.InferOutput<typeof groupSchema>) =>
  versions.toSorted(
    (a, b) => Number(b.version === preferredVersion?.version) - Number(a.version === preferredVersion?.version),
  )

/** Reads the kinds of one version; none while the extension server that serves them is unavailable. */
async function readVersion(api: Api, at: { group: string; version: string }): Promise<ServedKind[]> {
  try {
    const { resources } = checkShape(SOURCE, versionSchema, await api.get(basePathOf(at), 'application/json'))
    return resources.flatMap(({ name, kind, namespaced, verbs }) =>
      v.is(part, name) && isManageable(verbs) ? [{ ...at, kind, resource: name, namespaced }] : [],
    )
  } catch (error) {
    if (!(error instanceof RefusedError) || at.group === '' || ![403, 404, 503].includes(error.status)) throw error
    api.log.warn('inventory leaves out kinds whose server does not answer', {
      api_version: apiVersionOf(at),
      reason: error.message,
    })
    return []
  }
}

/** Requests metadata only, so that the content of a Secret stays on a server that can omit it. */
const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'

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
      return await readPages(`${SOURCE} at ${path}`, async (cursor) => {
        const query = new URLSearchParams({ limit: '500', ...(cursor === null ? {} : { continue: cursor }) })
        const { items, metadata } = checkShape(SOURCE, listSchema, await api.get(`${path}?${query}`, METADATA))
        return { items: (items ?? []).map((item) => item.metadata), next: metadata?.continue }
      })
    } catch (error) {
      // A list restarts when it takes longer than the server keeps its beginning.
      if (!(error instanceof RefusedError) || error.status !== 410 || attempt >= 3) throw error
    }
  }
}
