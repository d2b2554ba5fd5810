import { HttpResponse, http } from 'msw'
import { describe, expect, it } from 'vitest'
import { kubernetesInventory } from '../../../../../sidecars/iac/inventory/kubernetes/index.ts'
import { interceptRequests } from '../../../../helpers/intercept.ts'
import { expectText, outcome } from '../outside.ts'
import { apiServer, forbidden, object, type Served, status } from './api-server.ts'

const outside = interceptRequests()

const SERVER = 'https://cluster.example:6443'
const ENV = { KUBE_HOST: SERVER, KUBE_TOKEN: 'token-of-the-account' }

async function discover(served: Served, env: Record<string, string> = {}, more = {}) {
  const server = apiServer(served)
  outside.use(http.all(`${SERVER}/*`, ({ request }) => server.answer(new URL(request.url), request.headers)))
  return { ...(await outcome(kubernetesInventory, 'cluster-1', { ...ENV, ...env }, more)), requests: server.requests }
}

const SHOP_NAMESPACE = object('shop', { namespace: undefined })
const SHOP: Served['kinds'] = {
  v1: [
    { kind: 'ConfigMap', resource: 'configmaps', objects: [object('settings')] },
    { kind: 'Namespace', resource: 'namespaces', namespaced: false, objects: [SHOP_NAMESPACE] },
    { kind: 'Service', resource: 'services', objects: [object('web')] },
  ],
  'apps/v1': [
    { kind: 'Deployment', resource: 'deployments', objects: [object('web'), object('api', { namespace: 'back' })] },
  ],
}
/** Answers at these paths instead of the server. */
const answering = (path: string, answer: () => Response | null) => (url: URL) =>
  url.pathname.endsWith(path) ? answer() : null
const configMaps = (count: number): Served['kinds'] => {
  const objects = Array.from({ length: count }, (_, index) => object(`c${index}`))
  return { v1: [{ kind: 'ConfigMap', resource: 'configmaps', objects }] }
}
const SHOP_IDS = [
  'apiVersion=v1,kind=ConfigMap,namespace=shop,name=settings',
  'apiVersion=v1,kind=Namespace,name=shop',
  'apiVersion=v1,kind=Service,namespace=shop,name=web',
  'apiVersion=apps/v1,kind=Deployment,namespace=shop,name=web',
  'apiVersion=apps/v1,kind=Deployment,namespace=back,name=api',
]

describe('a cluster', () => {
  it('is listed kind by kind, by metadata alone', async () => {
    const { ids, error, requests } = await discover({ kinds: SHOP })
    expect(error).toBe('')
    expect(ids).toEqual(SHOP_IDS)
    expect(requests.map(({ path }) => path)).toEqual([
      '/api',
      '/apis',
      '/api/v1/configmaps',
      '/api/v1/namespaces',
      '/api/v1/services',
      '/apis/apps/v1/deployments',
    ])
    expect(new Set(requests.map(({ headers }) => headers.get('authorization')))).toEqual(
      new Set(['Bearer token-of-the-account']),
    )
    for (const { query, headers } of requests.slice(2)) {
      expect(query).toEqual({ limit: '500' })
      expect(headers.get('accept')).toMatch(/^application\/json;as=PartialObjectMetadataList;g=meta\.k8s\.io;v=v1,/)
    }
  })

  it('without discovery of all groups at once is the same', async () => {
    const { ids, requests } = await discover({ kinds: SHOP, aggregated: false })
    expect(ids).toEqual(SHOP_IDS)
    expect(requests.slice(0, 4).map(({ path }) => path)).toEqual(['/api', '/api/v1', '/apis', '/apis/apps/v1'])
  })

  it('may be below a path', async () => {
    const server = apiServer({ kinds: SHOP })
    const path = '/k8s/clusters/c-1'
    outside.use(
      http.all(`${SERVER}${path}/*`, ({ request }) =>
        server.answer(new URL(request.url.replace(path, '')), request.headers),
      ),
    )
    expect((await outcome(kubernetesInventory, 's', { ...ENV, KUBE_HOST: `${SERVER}${path}/` })).ids).toEqual(SHOP_IDS)
  })

  it.each([
    true,
    false,
  ])('names each kind in the preferred version that has it (aggregated: %s)', async (aggregated) => {
    const scaler = { kind: 'HorizontalPodAutoscaler', resource: 'horizontalpodautoscalers', objects: [object('web')] }
    const kinds: Served['kinds'] = {
      'autoscaling/v2': [scaler],
      'autoscaling/v1': [scaler],
      'example.com/v1': [{ kind: 'Shop', resource: 'shops', objects: [object('one')] }],
      'example.com/v1alpha1': [{ kind: 'Till', resource: 'tills', namespaced: false, objects: [object('two')] }],
    }
    expect((await discover({ kinds, aggregated })).ids).toEqual([
      'apiVersion=autoscaling/v2,kind=HorizontalPodAutoscaler,namespace=shop,name=web',
      'apiVersion=example.com/v1,kind=Shop,namespace=shop,name=one',
      'apiVersion=example.com/v1alpha1,kind=Till,name=two',
    ])
  })

  it('shows an object once that two groups serve', async () => {
    const objects = [object('front')]
    const kinds: Served['kinds'] = {
      'networking.k8s.io/v1': [{ kind: 'Ingress', resource: 'ingresses', objects }],
      'extensions/v1beta1': [{ kind: 'Ingress', resource: 'ingresses', objects }],
    }
    expect((await discover({ kinds })).ids).toEqual([
      'apiVersion=networking.k8s.io/v1,kind=Ingress,namespace=shop,name=front',
    ])
  })

  it('is read page by page', async () => {
    const { ids, requests } = await discover({ kinds: configMaps(1201) })
    expect(ids).toHaveLength(1201)
    expect(requests.slice(2).map(({ query }) => query)).toEqual([
      { limit: '500' },
      { limit: '500', continue: '500' },
      { limit: '500', continue: '1000' },
    ])
  })

  const MANY = configMaps(600)

  it('is read anew when the server has forgotten the beginning of a list', async () => {
    let expired = 1
    const gone = (url: URL) =>
      url.searchParams.has('continue') && expired-- > 0
        ? status(410, 'Expired', 'The provided continue parameter is too old')
        : null
    const { ids, requests } = await discover({ kinds: MANY, instead: gone })
    expect(ids).toHaveLength(600)
    expect(requests.slice(2).map(({ query }) => query.continue)).toEqual([undefined, '500', undefined, '500'])
  })

  it('that forgets again and again cannot be listed', async () => {
    const gone = (url: URL) => (url.searchParams.has('continue') ? status(410, 'Expired', 'too old') : null)
    const { error, requests } = await discover({ kinds: MANY, instead: gone })
    expect(error).toBe('410 from Kubernetes API: too old')
    expect(requests).toHaveLength(8)
  })

  it('has at most two hundred pages of a kind', async () => {
    let page = 0
    const endless = () => Response.json({ metadata: { continue: `p${++page}` }, items: [] })
    const { error } = await discover({ kinds: MANY, instead: answering('/configmaps', endless) })
    expect(error).toBe('Kubernetes API at /api/v1/configmaps has more than 200 pages of results')
    expect(page).toBe(200)
  })
})

describe('left out', () => {
  const OF_AN_ACCOUNT = { annotations: { 'kubernetes.io/service-account.name': 'ci' } }
  /** Kinds by their name: resource, API version, and true for one of the whole cluster. */
  const KINDS = {
    APIService: ['apiservices', 'apiregistration.k8s.io/v1', true],
    ClusterRole: ['clusterroles', 'rbac.authorization.k8s.io/v1', true],
    ConfigMap: ['configmaps', 'v1', false],
    Deployment: ['deployments', 'apps/v1', false],
    FlowSchema: ['flowschemas', 'flowcontrol.apiserver.k8s.io/v1', true],
    Namespace: ['namespaces', 'v1', true],
    PersistentVolume: ['persistentvolumes', 'v1', false],
    Pod: ['pods', 'v1', false],
    PriorityClass: ['priorityclasses', 'scheduling.k8s.io/v1', true],
    Role: ['roles', 'rbac.authorization.k8s.io/v1', false],
    Secret: ['secrets', 'v1', false],
    Service: ['services', 'v1', false],
    ServiceAccount: ['serviceaccounts', 'v1', false],
  } as const
  /** Serves two objects of a kind, one of them with this metadata. */
  const one = (kind: keyof typeof KINDS, more: object): Served['kinds'] => {
    const [resource, version, isOfCluster] = KINDS[kind]
    const objects = [object('kept'), { metadata: { ...Object(object('gone')).metadata, ...more } }]
    return { [version]: [{ kind, resource, namespaced: !isOfCluster, objects }] }
  }

  it.each([
    ['owned objects', one('Pod', { ownerReferences: [{ kind: 'ReplicaSet', name: 'web' }] })],
    ['objects that are going', one('ConfigMap', { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['the namespaces of the system', one('ConfigMap', { namespace: 'kube-system' })],
    ['the root certificate of each namespace', one('ConfigMap', { name: 'kube-root-ca.crt' })],
    ['releases of helm', one('Secret', { name: 'sh.helm.release.v1.web.v1', labels: { owner: 'helm' } })],
    ['what helm installed', one('Deployment', { annotations: { 'meta.helm.sh/release-name': 'web' } })],
    ['states of an engine', one('Secret', { name: 'tfstate-default-shop', labels: { tfstate: 'true' } })],
    ['generated tokens', one('Secret', { name: 'ci-token-x7k2p', ...OF_AN_ACCOUNT })],
    ['default service accounts', one('ServiceAccount', { name: 'default' })],
    ['the API itself', one('Service', { name: 'kubernetes', namespace: 'default' })],
    ['provisioned volumes', one('PersistentVolume', { annotations: { 'pv.kubernetes.io/provisioned-by': 'x' } })],
    ['roles of the system', one('ClusterRole', { name: 'system:node' })],
    [
      'roles of the bootstrap',
      one('ClusterRole', { name: 'admin', labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } }),
    ],
    ['namespaces of the system', one('Namespace', { name: 'kube-node-lease' })],
    ['the default namespace', one('Namespace', { name: 'default' })],
    ['priorities of the system', one('PriorityClass', { name: 'system-node-critical' })],
    [
      'flow control that the server keeps up',
      one('FlowSchema', { annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } }),
    ],
    [
      'API services of the server',
      one('APIService', { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } }),
    ],
    ['names that an identifier cannot hold', one('Role', { name: 'a,kind=Secret' })],
  ])('%s', async (_name, kinds) => {
    expect((await discover({ kinds })).ids).toEqual([expect.stringMatching(/name=kept$/)])
  })

  it.each([
    ['a token with a name of its own', { ...OF_AN_ACCOUNT, name: 'ci-long-lived' }],
    ['labels that every chart sets', { labels: { 'app.kubernetes.io/managed-by': 'terraform' }, name: 'ours' }],
  ])('not %s', async (_name, more) => {
    expect((await discover({ kinds: one('Secret', more) })).ids).toHaveLength(2)
  })

  it('kinds that the cluster writes itself, and those that nobody can create', async () => {
    const objects = [object('x')]
    const components = { resource: 'componentstatuses', namespaced: false, verbs: ['get', 'list'] }
    const kinds: Served['kinds'] = {
      v1: [
        { kind: 'Event', resource: 'events', objects },
        { kind: 'Node', resource: 'nodes', namespaced: false, objects },
        { kind: 'ComponentStatus', ...components, objects },
      ],
      'metrics.k8s.io/v1beta1': [{ kind: 'PodMetrics', resource: 'pods', verbs: ['get', 'list'], objects }],
      'coordination.k8s.io/v1': [{ kind: 'Lease', resource: 'leases', objects }],
    }
    const { error, requests } = await discover({ kinds })
    expect(error).toBe('Kubernetes API serves no kinds of objects')
    expect(requests).toHaveLength(2)
  })
})

describe('permissions', () => {
  it('may lack for a kind, which the log says', async () => {
    const instead = answering('/services', () => forbidden('services'))
    const { ids, error, shown } = await discover({ kinds: SHOP, instead })
    expect(error).toBe('')
    expect(ids).toEqual(SHOP_IDS.filter((id) => !id.includes('kind=Service')))
    expect(shown).toMatch(/inventory leaves out a kind.*"kind":"Service".*services is forbidden/)
  })

  it('may lack for everything, which fails', async () => {
    const lists = (url: URL) => (/v1\/./.test(url.pathname) ? forbidden('configmaps') : null)
    const { error } = await discover({ kinds: SHOP, instead: lists })
    expect(error).toMatch(/^403 from Kubernetes API: configmaps is forbidden: User /)
  })

  it('may lack for discovery', async () => {
    const instead = () => status(403, 'Forbidden', 'forbidden: User "x" cannot get path "/api"')
    const { error } = await discover({ kinds: SHOP, instead })
    expect(error).toBe('403 from Kubernetes API: forbidden: User "x" cannot get path "/api"')
  })

  it('a kind may go while the kinds are read', async () => {
    const instead = answering('/deployments', () => status(404, 'NotFound', 'not found'))
    expect((await discover({ kinds: SHOP, instead })).ids).toEqual(SHOP_IDS.slice(0, 3))
  })

  it('a token may be wrong, and is not shown', async () => {
    const instead = () => status(401, 'Unauthorized', 'Unauthorized token-of-the-account')
    const { error, shown, requests } = await discover({ kinds: SHOP, instead })
    expect(error).toBe('401 from Kubernetes API: Unauthorized (sensitive value)')
    expect(shown).not.toContain('token-of-the-account')
    expect(requests).toHaveLength(1)
  })
})

describe('trouble', () => {
  it('of a server behind the API server leaves out what that one serves', async () => {
    const kinds = { ...SHOP, 'broken.example.com/v1': [{ kind: 'Thing', resource: 'things' }] }
    for (const aggregated of [true, false]) {
      const { ids, shown } = await discover({ kinds, aggregated, stale: ['broken.example.com/v1'] })
      expect(ids).toEqual(SHOP_IDS)
      expect(shown).toContain('broken.example.com/v1')
    }
  })

  it('that passes is waited out', async () => {
    const troubles = [
      () => status(429, 'TooManyRequests', 'too many requests', { 'retry-after': '0' }),
      () => status(500, 'InternalError', 'etcdserver: leader changed'),
      () => HttpResponse.error(),
    ]
    const instead = answering('/services', () => troubles.shift()?.() ?? null)
    const { ids } = await discover({ kinds: SHOP, instead })
    expect(ids).toEqual(SHOP_IDS)
  })

  it('that stays fails the whole list: half of a cluster is no inventory', async () => {
    const instead = answering('/services', () => status(500, 'InternalError', 'etcd is gone'))
    const { error } = await discover({ kinds: SHOP, instead })
    expect(error).toBe('500 from Kubernetes API: etcd is gone')
  })

  const NAMELESS = /unknown form, at items\.0\.metadata\.name$/
  it.each([
    ['a page', '/api', () => HttpResponse.html('<p>sign in</p>'), '200 from Kubernetes API: the answer is not JSON'],
    ['another document', '/apis', () => Response.json({ kind: 'Status' }), /unknown form, at kind$/],
    ['no list', '/services', () => Response.json({ kind: 'ServiceList' }), /unknown form, at items$/],
    ['objects without name', '/services', () => Response.json({ items: [{ metadata: {} }] }), NAMELESS],
    [
      'a group that leads elsewhere',
      '/apis',
      () => Response.json({ kind: 'APIGroupDiscoveryList', items: [{ metadata: { name: '../../x' }, versions: [] }] }),
      NAMELESS,
    ],
    [
      'the same page again and again',
      '/services',
      () => Response.json({ metadata: { continue: 'x' }, items: [] }),
      /repeats a page of results$/,
    ],
  ])('with %s is a clear error', async (_name, path, answer, text) => {
    const { error, ids } = await discover({ kinds: SHOP, instead: answering(path, answer) })
    expect(ids).toEqual([])
    expectText(error, text)
  })

  it('with a list of nothing, as some servers write it, is none', async () => {
    const instead = answering('/services', () => Response.json({ metadata: {}, items: null }))
    expect((await discover({ kinds: SHOP, instead })).ids).toHaveLength(4)
  })
})
