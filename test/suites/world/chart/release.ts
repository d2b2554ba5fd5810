import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readDefinitions } from '../../chart/definitions.ts'
import { CHART, example, type Manifest, run } from '../../chart/rendered.ts'
import { type Cluster, kubeconfigOf, startCluster, until } from '../kubernetes/cluster.ts'

export interface ChartCluster extends Cluster {
  /** What Helm answers; throws with its words when it fails. */
  helm(...args: string[]): Promise<string>
  /** A namespace with a level of pod security and a quota that every pod must keep. */
  makeNamespace(name: string, level: 'restricted' | 'privileged'): Promise<void>
}

export const helmPath = (): string => {
  const path = process.env.WORLD_HELM
  if (!path) throw new Error('WORLD_HELM is not set; use npm run world -- --only chart')
  return path
}

/** A cluster that knows the kinds of others that the chart may render. */
export async function startChartCluster(): Promise<ChartCluster> {
  const cluster = await startCluster()
  const folder = await mkdtemp(join(tmpdir(), 'world-chart-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const close = async () => {
    await cluster.close()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await writeFile(kubeconfig, JSON.stringify(kubeconfigOf(cluster.url, cluster.ca)))
    for (const definition of await readDefinitions()) {
      await cluster.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
      const { group, versions, names } = definition.spec
      await until(() => cluster.call('GET', `/apis/${group}/${versions.at(-1)?.name}/${names.plural}`))
    }
    return {
      ...cluster,
      close,
      helm: async (...args) => {
        const { code, output } = await run(helmPath(), [...args, '--kubeconfig', kubeconfig])
        if (code !== 0) throw new Error(output)
        return output
      },
      makeNamespace: (name, level) => makeNamespace(cluster, name, level),
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Where it names a resource, every container has to say how much of it. */
const QUOTA = {
  'requests.cpu': '20',
  'requests.memory': '40Gi',
  'limits.memory': '80Gi',
  'requests.ephemeral-storage': '80Gi',
  'limits.ephemeral-storage': '400Gi',
  pods: '40',
  persistentvolumeclaims: '4',
  'services.loadbalancers': '0',
  'services.nodeports': '0',
}

async function makeNamespace(cluster: Cluster, name: string, level: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': level, 'pod-security.kubernetes.io/enforce-version': 'latest' }
  await cluster.call('POST', '/api/v1/namespaces', { metadata: { name, labels } })
  await cluster.call('POST', `/api/v1/namespaces/${name}/resourcequotas`, {
    metadata: { name: 'quota' },
    spec: { hard: QUOTA },
  })
  await until(() => cluster.call('GET', `/api/v1/namespaces/${name}/serviceaccounts/default`))
  await until(async () => {
    const { status } = await cluster.call<{ status: { hard?: object } }>(
      'GET',
      `/api/v1/namespaces/${name}/resourcequotas/quota`,
    )
    if (!status.hard) throw new Error('the quota does not count yet')
  })
}

/** Accounts of an operator, which the chart is told to use and not to make. */
export async function makeAccounts(cluster: Cluster, namespace: string, names: readonly string[]): Promise<void> {
  for (const name of names)
    await cluster.call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } })
}

/** Arguments of Helm for a release of a value file in a namespace of that name. */
export const releaseArgs = (name: string, ...more: string[]): string[] => [
  ...['acme', CHART, '--namespace', name, '--values', example(name), ...more],
]

const PLURALS: Record<string, string> = { NetworkPolicy: 'networkpolicies', Ingress: 'ingresses' }

/** The address of an object in a namespace. */
export function pathOf({ apiVersion, kind, metadata }: Manifest, namespace: string): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  return `${root}/namespaces/${namespace}/${PLURALS[kind] ?? `${kind.toLowerCase()}s`}/${metadata.name}`
}

interface List<Item> {
  items: Item[]
}

/** Pods of a namespace by component, and what their controllers could not make. */
export async function lookAt(cluster: Cluster, namespace: string) {
  const list = <Item>(what: string) => cluster.call<List<Item>>('GET', `/api/v1/namespaces/${namespace}/${what}`)
  const { items: pods } = await list<{ metadata: { labels: Record<string, string> } }>('pods')
  const { items: events } = await list<{ reason: string; message: string }>('events')
  const components = pods.map(({ metadata }) => metadata.labels['app.kubernetes.io/component'] ?? '').sort()
  return { components, refused: events.filter(({ reason }) => reason === 'FailedCreate').map((each) => each.message) }
}
