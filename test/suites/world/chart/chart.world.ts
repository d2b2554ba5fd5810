import { describe, expect, it } from 'vitest'
import { startOnce } from '../../../helpers/start-once.ts'
import { EXAMPLES, ofKind, render } from '../../chart/rendered.ts'
import { type Json, until } from '../kubernetes/cluster.ts'
import { type ChartCluster, helmPath, lookAt, makeAccounts, pathOf, releaseArgs, startChartCluster } from './release.ts'

const cluster: ChartCluster = startOnce(startChartCluster)
/** The value file whose engine has a sandbox of its own, for which "restricted" has no room. */
const OPENED = 'httproute'
const levelOf = (name: string) => (name === OPENED ? 'privileged' : 'restricted')

/** Pods that the objects ask for, by component; a scaler of Kubernetes begins with its least number, KEDA is not there. */
async function expectedPods(name: string): Promise<string[]> {
  const manifests = await render(helmPath(), name)
  const least = new Map(
    ofKind(manifests, 'HorizontalPodAutoscaler').map(({ metadata, spec }) => [metadata.name, Number(spec.minReplicas)]),
  )
  return ofKind(manifests, 'Deployment')
    .flatMap(({ metadata, spec }) => {
      const pods = Number(spec.replicas ?? least.get(metadata.name) ?? 1)
      return Array<string>(pods).fill(metadata.labels['app.kubernetes.io/component'] ?? '')
    })
    .sort()
}

describe.each(EXAMPLES)('a release with the values %s', (name) => {
  it('is taken by the API server, field by field', async () => {
    await cluster.makeNamespace(name, levelOf(name))
    if (name === 'external') await makeAccounts(cluster, name, ['platform-core', 'platform-worker', 'platform-engine'])
    for (const manifest of await render(helmPath(), name)) {
      const path = `${pathOf(manifest, name)}?fieldManager=world&dryRun=All&fieldValidation=Strict`
      const taken = await cluster.call<Json>('PATCH', path, manifest, { contentType: 'application/apply-patch+yaml' })
      expect(taken.kind).toBe(manifest.kind)
    }
  })

  it('is installed, and its pods pass pod security and quota', async () => {
    await cluster.helm('install', ...releaseArgs(name))
    const expected = await expectedPods(name)
    await until(async () => {
      const { components, refused } = await lookAt(cluster, name)
      if (refused.length > 0) throw new Error(refused.join('\n'))
      if (components.length < expected.length) throw new Error(`pods: ${components.join(', ')}`)
    }, 60)
    const { components, refused } = await lookAt(cluster, name)
    expect(refused).toEqual([])
    expect(components).toEqual(expected)
  })

  it('is upgraded to other values, where nothing is taken before something new is ready', async () => {
    const path = `/apis/apps/v1/namespaces/${name}/deployments/acme-platform-core`
    const deployment = () =>
      cluster.call<{ metadata: { generation: number }; status: Json; spec: { replicas: number } }>('GET', path)
    const before = await deployment()
    await cluster.helm('upgrade', ...releaseArgs(name, '--set', 'config.audit.retention_days=30'))
    await until(async () => {
      const { metadata, status, spec } = await deployment()
      expect(metadata.generation).toBeGreaterThan(before.metadata.generation)
      expect(status.observedGeneration).toBe(metadata.generation)
      // No machine makes the new pods ready, so the old ones stay, and one more is there.
      expect([status.updatedReplicas, status.replicas]).toEqual([1, spec.replicas + 1])
    }, 60)
  })

  it('is removed without a rest but the volumes', async () => {
    const claims = ofKind(await render(helmPath(), name), 'PersistentVolumeClaim').map(({ metadata }) => metadata.name)
    await cluster.helm('uninstall', 'acme', '--namespace', name)
    for (const manifest of await render(helmPath(), name)) {
      const expected = manifest.kind === 'PersistentVolumeClaim'
      await until(async () => {
        const found = await cluster.call<Json>('GET', pathOf(manifest, name), undefined, { allowed: [404] })
        expect([manifest.kind, found.kind !== 'Status']).toEqual([manifest.kind, expected])
      }, 60)
    }
    const path = `/api/v1/namespaces/${name}/persistentvolumeclaims`
    const { items } = await cluster.call<{ items: { metadata: { name: string } }[] }>('GET', path)
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(claims.sort())
  })
})

describe('the namespace', () => {
  const refusalOf = async (namespace: string, ...set: string[]) => {
    await cluster.helm('install', ...releaseArgs('external', '--namespace', namespace, ...set))
    return until(async () => {
      const { refused } = await lookAt(cluster, namespace)
      if (refused.length === 0) throw new Error('nothing was refused')
      return refused.join('\n')
    }, 60)
  }
  const prepare = async (namespace: string) => {
    await cluster.makeNamespace(namespace, 'restricted')
    await makeAccounts(cluster, namespace, ['platform-core', 'platform-worker', 'platform-engine'])
  }

  it('with pod security "restricted" refuses the engine that asks for a sandbox of its own', async () => {
    await prepare('closed')
    const told = await refusalOf('closed', '--set', 'iac.sandboxPrivileges=true')
    expect(told).toContain('violates PodSecurity "restricted')
    expect((await lookAt(cluster, 'closed')).components).not.toContain('iac')
  })

  it('with a quota refuses a pod that does not say what it needs', async () => {
    await prepare('counted')
    const told = await refusalOf('counted', '--set-json', 'worker.resources={"requests":null,"limits":null}')
    expect(told).toContain('must specify limits.ephemeral-storage')
    expect((await lookAt(cluster, 'counted')).components).not.toContain('worker')
  })

  it('keeps a release that was refused from changing anything', async () => {
    await cluster.makeNamespace('untouched', 'restricted')
    await expect(
      cluster.helm('install', ...releaseArgs('external', '--namespace', 'untouched', '--set', 'worker.replica=2')),
    ).rejects.toThrow("values don't meet the specifications")
    const { items } = await cluster.call<{ items: unknown[] }>('GET', '/api/v1/namespaces/untouched/secrets')
    expect(items).toEqual([])
  })
})
