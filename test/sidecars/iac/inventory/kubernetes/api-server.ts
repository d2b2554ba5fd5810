type Json = Record<string, unknown>

export interface Kind {
  kind: string
  resource: string
  /** Default true. */
  namespaced?: boolean
  verbs?: string[]
  objects?: Json[]
}

export interface Served {
  /** Kinds by API version, in the server's order: the first version of a group is the preferred one. */
  kinds: Record<string, Kind[]>
  /** True if discovery returns all groups at once; default true. */
  aggregated?: boolean
  /** Versions whose own server is down. */
  stale?: string[]
  /** Takes precedence over all other answers. */
  instead?: (url: URL, headers: Headers, count: number) => Response | null
}

export const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

export const status = (code: number, reason: string, message: string, headers?: Record<string, string>): Response =>
  Response.json(
    { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code },
    { status: code, headers },
  )
export const forbidden = (resource: string): Response =>
  status(
    403,
    'Forbidden',
    `${resource} is forbidden: User "system:serviceaccount:default:lister" cannot list resource "${resource}"`,
  )

/** Makes a kubeconfig of one context, by default of cluster `c` and user `u`. */
export const kubeconfig = (given: { user: object; cluster?: object; context?: object; name?: string }) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': given.name ?? 'main',
  contexts: [{ name: given.name ?? 'main', context: { cluster: 'c', user: 'u', namespace: 'shop', ...given.context } }],
  clusters: [{ name: 'c', cluster: { server: 'https://one.example:6443', ...given.cluster } }],
  users: [{ name: 'u', user: given.user }],
})

let uids = 0
export const object = (name: string, more: Json = {}): Json => ({
  metadata: {
    name,
    namespace: 'shop',
    uid: `uid-${++uids}`,
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    ...more,
  },
})

/** Plays the API server of a cluster in its documented forms, and records the requests. */
export function apiServer(served: Served) {
  const requests: { path: string; query: Record<string, string>; headers: Headers }[] = []
  const answer = (url: URL, headers: Headers): Response => {
    requests.push({ path: url.pathname, query: Object.fromEntries(url.searchParams), headers })
    return (
      served.instead?.(url, headers, requests.length) ??
      discovery(served, url, headers) ??
      list(served, url, headers) ??
      status(404, 'NotFound', 'the server could not find the requested resource')
    )
  }
  return { answer, requests }
}

const groupOf = (api_version: string) => (api_version.includes('/') ? (api_version.split('/')[0] ?? '') : '')
const versionOf = (api_version: string) => api_version.split('/').at(-1) ?? ''

function discovery({ kinds, aggregated = true, stale = [] }: Served, url: URL, headers: Headers): Response | null {
  const root = /^\/(api|apis)$/.exec(url.pathname)?.[1]
  const versions = Object.keys(kinds).filter((version) => (groupOf(version) === '') === (root === 'api'))
  if (root && aggregated) {
    const as = /v=(v2|v2beta1);as=APIGroupDiscoveryList/.exec(headers.get('accept') ?? '')?.[1]
    if (!as) return null
    const items = [...new Set(versions.map(groupOf))].map((group) => ({
      metadata: { creationTimestamp: null, ...(group === '' ? {} : { name: group }) },
      versions: versions
        .filter((version) => groupOf(version) === group)
        .map((version) => ({
          version: versionOf(version),
          freshness: stale.includes(version) ? 'Stale' : 'Current',
          resources: kinds[version]?.map(({ kind, resource, namespaced = true, verbs = ALL_VERBS }) => ({
            resource,
            responseKind: { group: '', version: '', kind },
            scope: namespaced ? 'Namespaced' : 'Cluster',
            singularResource: kind.toLowerCase(),
            verbs,
            subresources: [
              { subresource: 'status', responseKind: { group: '', version: '', kind }, verbs: ['get', 'patch'] },
            ],
          })),
        })),
    }))
    return Response.json({
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${as}`,
      metadata: {},
      items,
    })
  }
  if (root === 'api') return Response.json({ kind: 'APIVersions', versions, serverAddressByClientCIDRs: [] })
  if (root === 'apis') {
    const groups = [...new Set(versions.map(groupOf))].map((name) => {
      const own = versions
        .filter((version) => groupOf(version) === name)
        .map((groupVersion) => ({ groupVersion, version: versionOf(groupVersion) }))
      // Only the preferred version counts here, not the order.
      return { name, versions: own.toReversed(), preferredVersion: own[0] }
    })
    return Response.json({ kind: 'APIGroupList', apiVersion: 'v1', groups })
  }
  const groupVersion = /^\/(?:api|apis)\/(v1|[^/]+\/v[^/]+)$/.exec(url.pathname)?.[1] ?? ''
  if (stale.includes(groupVersion))
    return status(503, 'ServiceUnavailable', 'the server is currently unable to handle the request')
  const resources = kinds[groupVersion]?.flatMap(({ kind, resource, namespaced = true, verbs = ALL_VERBS }) => [
    { name: resource, singularName: '', namespaced, kind, verbs, shortNames: [] },
    { name: `${resource}/status`, singularName: '', namespaced, kind, verbs: ['get', 'patch', 'update'] },
  ])
  return resources ? Response.json({ kind: 'APIResourceList', groupVersion, resources }) : null
}

/** Lists pages of `limit` with the position as token of the next one. */
function list({ kinds }: Served, url: URL, headers: Headers): Response | null {
  const [, version = '', namespace, resource] =
    /^\/(?:api|apis)\/(v1|[^/]+\/v[^/]+)\/(?:namespaces\/([^/]+)\/)?([^/]+)$/.exec(url.pathname) ?? []
  const kind = kinds[version]?.find((candidate) => candidate.resource === resource)
  if (!kind) return null
  const all = (kind.objects ?? []).filter(({ metadata }) => !namespace || Object(metadata).namespace === namespace)
  const from = Number(url.searchParams.get('continue') ?? 0)
  const to = from + Number(url.searchParams.get('limit') ?? all.length)
  const next = to < all.length ? { continue: String(to), remainingItemCount: all.length - to } : {}
  const partial = (headers.get('accept') ?? '').includes('as=PartialObjectMetadataList;g=meta.k8s.io;v=v1')
  const form = partial
    ? { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' }
    : { kind: `${kind.kind}List`, apiVersion: version }
  return Response.json({ ...form, metadata: { resourceVersion: '100', ...next }, items: all.slice(from, to) })
}
