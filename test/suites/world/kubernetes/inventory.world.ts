import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { kubernetesInventory } from '../../../../sidecars/iac/inventory/kubernetes/index.ts'
import { silentLogger } from '../../../../src/base/log.ts'
import { startOnce } from '../../../helpers/start-once.ts'
import { type Cluster, startCluster, TOKENS, until } from './cluster.ts'
import { idOf, makeObjects, NAMESPACE, OBJECTS } from './objects.ts'

const cluster = startOnce(startCluster)

interface Listed {
  ids: string[]
  /** Kinds that were left out, with the reason that is logged. */
  warnings: Record<string, unknown>[]
}

async function inventory(user: keyof typeof TOKENS = 'admin', env: Record<string, string> = {}): Promise<Listed> {
  const warnings: Record<string, unknown>[] = []
  const log = { ...silentLogger, warn: (_text: string, fields = {}) => warnings.push(fields) }
  const ids = await kubernetesInventory({
    scopeId: 'world',
    env: { ...(cluster as Cluster).env(user), ...env },
    fetch,
    signal: AbortSignal.timeout(120_000),
    log: log as typeof silentLogger,
    now: () => new Date(),
    backoffMs: 50,
  })
  return { ids, warnings }
}

describe('the inventory of a cluster', () => {
  it('that nobody has used is empty', async () => {
    expect(await inventory()).toEqual({ ids: [], warnings: [] })
  })

  it('names what was made by hand, each once, and nothing that the cluster makes of it', async () => {
    await makeObjects(cluster)
    await until(() => cluster.call('GET', `/api/v1/namespaces/${NAMESPACE}/pods/web-0`))
    const { ids, warnings } = await inventory()
    expect(ids.toSorted()).toEqual(OBJECTS.map(idOf).toSorted())
    expect(warnings).toEqual([])
  })

  it('is read to its end, page by page', async () => {
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`
    const names = Array.from({ length: 1_203 }, (_, index) => `many-${index}`)
    for (let from = 0; from < names.length; from += 50)
      await Promise.all(
        names
          .slice(from, from + 50)
          .map((name) => cluster.call('POST', path, { metadata: { name, labels: { many: 'yes' } } })),
      )
    const { ids } = await inventory()
    expect(ids.filter((id) => id.includes('name=many-'))).toHaveLength(names.length)
    await cluster.call('DELETE', `${path}?labelSelector=many%3Dyes`)
    expect((await inventory()).ids).toHaveLength(OBJECTS.length)
  })

  it('leaves out what is about to go, whatever keeps it', async () => {
    const finalizers = ['example.org/never']
    await cluster.call('POST', '/api/v1/namespaces', { metadata: { name: 'going' } })
    await cluster.call('POST', '/api/v1/namespaces/going/configmaps', { metadata: { name: 'kept', finalizers } })
    await cluster.call('DELETE', '/api/v1/namespaces/going')
    await until(async () => {
      const { ids } = await inventory()
      expect(ids.filter((id) => id.includes('going'))).toEqual([])
    })
    const type = 'application/merge-patch+json'
    const path = '/api/v1/namespaces/going/configmaps/kept'
    await cluster.call('PATCH', path, { metadata: { finalizers: null } }, { contentType: type })
  })
})

describe('permissions', () => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const allow = async (kind: 'ClusterRole' | 'Role', resources: string[], apiGroups: string[]) => {
    const at = kind === 'Role' ? `${rbac}/namespaces/${NAMESPACE}` : rbac
    const names = kind === 'Role' ? ['roles', 'rolebindings'] : ['clusterroles', 'clusterrolebindings']
    const metadata = { name: 'reader', labels: { tfstate: 'no' } }
    await cluster.call('POST', `${at}/${names[0]}`, { metadata, rules: [{ apiGroups, resources, verbs: ['list'] }] })
    await cluster.call('POST', `${at}/${names[1]}`, {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: 'reader' },
      subjects: [{ kind: 'User', name: 'reader' }],
    })
  }

  it('of nobody end with a sentence that names user and verb', async () => {
    await expect(inventory('nobody')).rejects.toThrow(/^403 from Kubernetes API: .*User "nobody" cannot list resource/)
  })

  it('for some kinds give those, and say which are left out', async () => {
    await allow('ClusterRole', ['services', 'namespaces'], [''])
    await until(async () => {
      const { ids, warnings } = await inventory('reader')
      expect(ids.toSorted()).toEqual(
        OBJECTS.filter(({ kind }) => kind === 'Service' || kind === 'Namespace')
          .map(idOf)
          .toSorted(),
      )
      expect(warnings).toContainEqual({
        kind: 'Secret',
        api_version: 'v1',
        reason: expect.stringContaining('cannot list resource "secrets" in API group "" at the cluster scope'),
      })
    }, 20)
  })

  it('for one namespace give what is in it, when the context names it', async () => {
    await allow('Role', ['*'], ['*'])
    const { KUBE_HOST, KUBE_TOKEN } = cluster.env('reader')
    const config = {
      clusters: [{ name: 'c', cluster: { server: KUBE_HOST, 'certificate-authority-data': btoa(cluster.ca) } }],
      users: [{ name: 'u', user: { token: KUBE_TOKEN } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: NAMESPACE } }],
      'current-context': 'x',
    }
    const path = `${process.env.TMPDIR ?? '/tmp'}/world-${crypto.randomUUID()}.yaml`
    await writeFile(path, JSON.stringify(config))
    await until(async () => {
      const { ids } = await inventory('reader', { KUBE_CONFIG_PATH: path, KUBE_HOST: '', KUBE_TOKEN: '' })
      const expected = OBJECTS.filter(({ namespace, kind }) => namespace || kind === 'Namespace').map(idOf)
      expect(ids.toSorted()).toEqual(expected.toSorted())
    }, 20).finally(() => rm(path))
  })

  it('that a program makes are used, and made again when the server refuses them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'world-program-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const apiVersion = 'client.authentication.k8s.io/v1'
    const answer = (token: string) => JSON.stringify({ kind: 'ExecCredential', apiVersion, status: { token } })
    await writeFile(join(folder, 'first'), answer('token-that-has-been-withdrawn'))
    await writeFile(join(folder, 'then'), answer(TOKENS.admin))
    const command = `echo run >> ${folder}/runs; cat ${folder}/first 2>/dev/null || cat ${folder}/then; rm -f ${folder}/first`
    const config = {
      clusters: [{ name: 'c', cluster: { server: cluster.url, 'certificate-authority-data': btoa(cluster.ca) } }],
      users: [
        { name: 'u', user: { exec: { apiVersion, command: 'sh', args: ['-c', command], interactiveMode: 'Never' } } },
      ],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }
    await writeFile(join(folder, 'config'), JSON.stringify(config))
    const env = {
      KUBE_CONFIG_PATH: join(folder, 'config'),
      PATH: process.env.PATH ?? '',
      KUBE_HOST: '',
      KUBE_TOKEN: '',
    }
    const { ids } = await inventory('admin', { ...env, KUBE_CLUSTER_CA_CERT_DATA: '' })
    expect(ids).toHaveLength(OBJECTS.length)
    expect(await readFile(join(folder, 'runs'), 'utf8')).toBe('run\nrun\n')
  })

  it('that are wrong are named', async () => {
    await expect(inventory('admin', { KUBE_TOKEN: 'token-of-a-stranger' })).rejects.toThrow(
      '401 from Kubernetes API: Unauthorized',
    )
  })
})

describe('trouble', () => {
  it('of a server behind the API server leaves out its kinds alone', async () => {
    await cluster.call('POST', '/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: 'v1beta1.metrics.example.org' },
      spec: {
        group: 'metrics.example.org',
        version: 'v1beta1',
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 100,
        service: { name: 'gone', namespace: NAMESPACE },
      },
    })
    await until(async () => {
      const { ids, warnings } = await inventory()
      expect(warnings).toEqual([{ api_version: 'metrics.example.org/v1beta1' }])
      expect(ids).toContain('apiVersion=apiregistration.k8s.io/v1,kind=APIService,name=v1beta1.metrics.example.org')
    })
    await cluster.call('DELETE', '/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.example.org')
  })

  it('of an API server that is away is told, and one that comes back is waited for', async () => {
    await cluster.killApiServer()
    await expect(inventory()).rejects.toThrow(/^Kubernetes API is unreachable: .*ECONNREFUSED/)
    await cluster.startApiServer()
    expect((await inventory()).ids).toHaveLength(OBJECTS.length)
  })
})
