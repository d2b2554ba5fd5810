import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { chartTools, containersOf, EXAMPLES, ofKind, podsOf, render } from './rendered.ts'

const { helm } = chartTools()
const releases = new Map(await Promise.all(EXAMPLES.map(async (name) => [name, await render(helm, name)] as const)))
const releaseOf = (name: string) => releases.get(name) ?? []
const pods = EXAMPLES.flatMap((release) =>
  [...podsOf(releaseOf(release))].map(([component, pod]) => ({ release, component, pod })),
)
const USERS: Record<string, number> = { core: 10001, worker: 10002, iac: 10003 }

describe('the pod of', () => {
  it.each(pods)('$component in $release has least rights', ({ release, component, pod }) => {
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: USERS[component] ?? 10004,
      runAsGroup: 10000,
      seccompProfile: { type: 'RuntimeDefault' },
    })
    expect(pod.automountServiceAccountToken).toBe(false)
    expect(pod.serviceAccountName).not.toBe('default')
    for (const { securityContext, resources, name } of containersOf(pod)) {
      expect(securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      // Without these a quota refuses the pod, and a job that fills the disk of its node takes others with it.
      for (const amount of ['cpu', 'memory', 'ephemeral-storage'])
        expect(resources.requests[amount], name).toBeDefined()
      for (const amount of ['memory', 'ephemeral-storage']) expect(resources.limits[amount], name).toBeDefined()
    }
    const isOpened = release === 'httproute' && component === 'iac'
    expect(pod.volumes.some(({ hostPath }) => hostPath)).toBe(isOpened)
  })

  it('worker and engine are two users of one group, and only the worker has the git directories', () => {
    for (const name of EXAMPLES) {
      const found = [...podsOf(releaseOf(name)).values()].flatMap(containersOf)
      const holders = found.filter(({ volumeMounts }) => volumeMounts.some(({ mountPath }) => mountPath === '/git'))
      expect(holders.map((each) => each.name)).toEqual(['worker'])
      expect(found.find((each) => each.name === 'iac')?.securityContext.runAsUser).toBe(10003)
    }
  })
})

it('no account has a role, because nothing calls the API server', () => {
  for (const manifests of releases.values()) expect(manifests.filter(({ kind }) => /Role/.test(kind))).toEqual([])
})

describe('secrets', () => {
  const wanted = (name: string) => {
    const found = [...podsOf(releaseOf(name)).values()].flatMap(containersOf)
    return new Map(
      found.map(({ name: each, env }) => [each, env.filter(({ valueFrom }) => valueFrom).map((one) => one.name)]),
    )
  }
  it('go to those that need them alone', () => {
    const restricted = wanted('restricted')
    expect(restricted.get('iac')).toEqual(['PLATFORM_IAC_TOKEN'])
    expect(restricted.get('mapping')).toEqual(['PLATFORM_MAPPING_TOKEN'])
    expect(restricted.get('authz')).toEqual(['PLATFORM_AUTHZ_TOKEN'])
    expect(restricted.get('notifications')?.sort()).toEqual(['CHAT_WEBHOOK_URL', 'PLATFORM_NOTIFICATIONS_TOKEN'])
    expect(restricted.get('core')).not.toContain('PLATFORM_PIN_KEY')
  })

  it('that exist are only referred to, and no value of one is in the release', () => {
    const manifests = releaseOf('external')
    expect(ofKind(manifests, 'Secret')).toEqual([])
    const core = podsOf(manifests).get('core')?.containers[0]
    const of = (variable: string) => core?.env.find(({ name }) => name === variable)?.valueFrom?.secretKeyRef
    expect(of('PLATFORM_SQL_DATABASE_URL')).toEqual({ name: 'postgres-app', key: 'pooler-uri' })
    expect(of('PLATFORM_SQL_DIRECT_URL')).toEqual({ name: 'postgres-app', key: 'uri' })
    expect(of('OPENAI_API_KEY')).toEqual({ name: 'model-keys', key: 'OPENAI_API_KEY' })
  })

  it('that are values stand in a Secret and nowhere else', async () => {
    const manifests = await render(helm, 'minimal', ['secrets.gitToken.value="a-token-to-look-for"'])
    const holding = manifests.filter((each) => JSON.stringify(each).includes('a-token-to-look-for'))
    const [secret] = ofKind(manifests, 'Secret')
    expect(holding).toEqual([])
    expect(Buffer.from(secret?.data?.GIT_TOKEN ?? '', 'base64').toString()).toBe('a-token-to-look-for')
  })

  it('of a Secret for all are demanded only where nothing starts without them', () => {
    const core = podsOf(releaseOf('restricted')).get('core')?.containers[0]
    const optional = core?.env.filter(({ valueFrom }) => valueFrom?.secretKeyRef.optional).map(({ name }) => name)
    expect(optional?.sort()).toEqual(['GIT_TOKEN', 'GIT_USER', 'PLATFORM_COLLECTOR_API_KEY', 'PLATFORM_SQL_DIRECT_URL'])
  })
})

describe('a rollout', () => {
  it('leaves each process the time that the page names, after proxies have learnt of it', async () => {
    const page = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
    const secondsOf = (name: string) => Number(new RegExp(`^\\| ${name} \\|.*\\| (\\d+) s \\|$`, 'm').exec(page)?.[1])
    for (const { component, pod, release } of pods) {
      const [container] = pod.containers
      const wait = Number(container?.lifecycle?.preStop.exec.command[1] ?? 0)
      if (component === 'core') {
        expect(wait).toBeGreaterThan(0)
        expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(wait + secondsOf('core'))
      }
      if (component === 'worker') expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(secondsOf('worker'))
      const engine = containersOf(pod).find(({ name }) => name === 'iac')
      const grace = Number(engine?.env.find(({ name }) => name === 'IAC_STOP_GRACE_SECONDS')?.value ?? 0)
      expect([release, pod.terminationGracePeriodSeconds > grace + 5]).toEqual([release, true])
    }
  })

  it('takes no core and no worker before another is ready, and never has two services on one volume', () => {
    for (const { spec, metadata } of EXAMPLES.flatMap((name) => ofKind(releaseOf(name), 'Deployment'))) {
      const component = metadata.labels['app.kubernetes.io/component'] ?? ''
      const { strategy } = spec as { strategy: { type: string; rollingUpdate?: object } }
      if (component === 'core' || component === 'worker')
        expect(strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 })
      if (component === 'iac' || component === 'authz') expect(strategy.type).toBe('Recreate')
    }
  })

  it('leaves the number of pods to a scaler where there is one', () => {
    const scaled = (name: string, component: string) =>
      ofKind(releaseOf(name), 'Deployment').find(
        ({ metadata }) => metadata.labels['app.kubernetes.io/component'] === component,
      )?.spec.replicas
    expect([scaled('keda', 'core'), scaled('keda', 'worker')]).toEqual([undefined, undefined])
    expect([scaled('external', 'core'), scaled('external', 'worker')]).toEqual([undefined, 3])
    expect([scaled('minimal', 'core'), scaled('minimal', 'worker')]).toEqual([1, 1])
  })
})

describe('streams', () => {
  it('are passed on at once, for as long as somebody watches', () => {
    const [ingress] = ofKind(releaseOf('httproute'), 'Ingress')
    expect(ingress?.metadata.annotations).toMatchObject({
      'nginx.ingress.kubernetes.io/proxy-buffering': 'off',
      'nginx.ingress.kubernetes.io/proxy-read-timeout': '3600',
      'nginx.ingress.kubernetes.io/proxy-next-upstream': 'off',
    })
    const [route] = ofKind(releaseOf('httproute'), 'HTTPRoute')
    const { rules } = route?.spec as { rules: { timeouts: object }[] }
    expect(rules.map(({ timeouts }) => timeouts)).toEqual([{ request: '0s', backendRequest: '0s' }])
  })
})
