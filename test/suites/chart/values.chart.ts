import { describe, expect, it } from 'vitest'
import { chartTools, ofKind, podsOf, render, template } from './rendered.ts'

const { helm } = chartTools()

describe('refused are', () => {
  it.each([
    ['a misspelt value', 'worker.replica=2', 'replica'],
    ['a misspelt section of the configuration', 'config.storrage={}', 'storrage'],
    ['a misspelt field of the configuration', 'config.storage.endpoint="http://x"', 'endpoint'],
    ['the name of a variable, which is the chart’s', 'config.git.pat_token_env="TOKEN"', 'pat_token_env'],
    ['a folder of the chart', 'config.paths.git_folder="/tmp"', 'git_folder'],
    ['a value beside a Secret for the same', 'secrets.gitToken={"value":"a","existingSecret":"b"}', 'gitToken'],
    ['a name of a Secret that Kubernetes would refuse', 'secrets.existingSecret="My Secret"', 'existingSecret'],
    ['a short key of plans', 'secrets.pinKey={"value":"short"}', 'pinKey'],
    ['an address of another database', 'secrets.databaseUrl={"value":"mysql://h/d"}', 'databaseUrl'],
    ['an address of another cache', 'secrets.cacheUrl={"value":"memcached://h"}', 'cacheUrl'],
    ['a word that is no runtime', 'core.runtime="perl"', 'runtime'],
    ['a word that is no sandbox', 'iac.sandbox="docker"', 'sandbox'],
    ['a number as text', 'core.replicas="two"', 'replicas'],
    ['a size without a unit that exists', 'workspaces.size="50GB"', 'size'],
    ['a digest that is none', 'image.core.digest="sha256:abc"', 'digest'],
    ['an ingress without a host', 'ingress.enabled=true', 'host'],
    ['a route without a gateway', 'httpRoute.enabled=true', 'parentRefs'],
    ['a grade that is none', 'rules={"kubernetes.*":"fatal"}', 'rules'],
    ['an unconfined seccomp profile', 'podSecurity.seccompProfile.type="Unconfined"', 'type'],
    ['a small name for a variable', 'models.env={"key":"x"}', 'key'],
    ['a peer without an address', 'networkPolicies.database.to=[{}]', 'to'],
  ])('%s', async (_what, set, named) => {
    const { code, output } = await template(helm, 'external', [set])
    expect([code, output]).toEqual([1, expect.stringContaining("values don't meet the specifications")])
    expect(output).toContain(named)
  })

  it.each([
    ['no identity provider', 'config.oidc={}', 'config.oidc.issuer_url is needed'],
    ['an identity provider without a client', 'config.oidc.client_id=""', 'config.oidc.client_id is needed'],
    ['no database', 'secrets.databaseUrl={}', 'secrets.databaseUrl is needed'],
    ['no token of the engine', 'secrets.iacToken={}', 'secrets.iacToken is needed'],
    ['no keys of the store', 'secrets.storeSecretKey={}', 'secrets.storeSecretKey is needed'],
    ['a store of another kind without its key', 'config.storage.provider="STORAGE_ACCOUNT"', 'secrets.storeAccountKey'],
    ['a sidecar without its token', 'mapping.enabled=true', 'secrets.mappingToken is needed'],
    ['a channel without its address', 'notifications.channel="chat"', 'secrets.chatWebhookUrl is needed'],
    [
      'an engine beside workers that come and go',
      'worker.autoscaling.mode="hpa" iac.placement="worker"',
      'mode must be none',
    ],
    ['KEDA without Prometheus', 'worker.autoscaling.mode="keda"', 'prometheusAddress is needed'],
    ['a demanded sandbox without its rights', 'iac.sandbox="required"', 'iac.sandboxPrivileges: true'],
    ['an engine that is killed while it saves', 'iac.stopGraceSeconds=120', 'iac.terminationGracePeriodSeconds'],
    ['a core that is killed while it closes', 'core.preStopSeconds=25', 'core.terminationGracePeriodSeconds'],
    ['fewer cores at most than at least', 'core.autoscaling.maxReplicas=1', 'core.autoscaling.maxReplicas'],
  ])('%s', async (_what, sets, told) => {
    const { code, output } = await template(helm, 'external', sets.split(/ (?=[a-z]+\.)/))
    expect([code, output]).toEqual([1, expect.stringContaining(told)])
  })

  it('an engine beside a worker without the key by which another worker restores a plan', async () => {
    const { code, output } = await template(helm, 'minimal', ['secrets.pinKey={"value":""}'])
    expect([code, output]).toEqual([1, expect.stringContaining('secrets.pinKey is needed')])
  })
})

describe('a change of', () => {
  const marksOf = async (set: string[]) => {
    const pods = ofKind(await render(helm, 'minimal', set), 'Deployment')
    return pods.map(({ spec }) => {
      const { metadata } = spec.template as unknown as { metadata: { annotations: Record<string, string> } }
      return metadata.annotations
    })
  }
  it.each([
    ['the configuration', 'config.audit.retention_days=30', 'checksum/config'],
    ['a secret', 'secrets.gitToken.value="another"', 'checksum/secrets'],
  ])('%s restarts core and worker', async (_what, set, mark) => {
    const [before, after] = [await marksOf([]), await marksOf([set])]
    expect(before).toHaveLength(2)
    for (const [index, marks] of before.entries()) expect(after[index]?.[mark]).not.toBe(marks[mark])
  })

  it('nothing restarts nothing', async () => expect(await marksOf([])).toEqual(await marksOf([])))
})

describe('the sidecars that are off', () => {
  it('are not there, and core and worker do not ask for their tokens', async () => {
    const manifests = await render(helm, 'minimal')
    expect([...podsOf(manifests).keys()].sort()).toEqual(['core', 'worker'])
    expect(JSON.stringify(manifests)).not.toContain('"name":"PLATFORM_AUTHZ_TOKEN"')
  })
})
