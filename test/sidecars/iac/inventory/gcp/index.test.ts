import { describe, expect, it } from 'vitest'
import { gcpInventory } from '../../../../../sidecars/iac/inventory/gcp/index.ts'
import { outcome, outsideWorld, type Reply, refused, unreachable } from '../outside.ts'

const at = outsideWorld()
const SCOPE = 'web-prod-1'
const NUMBER = '123456789012'
const ENV = { GOOGLE_OAUTH_ACCESS_TOKEN: 'google-token' }
const MANAGER = 'https://cloudresourcemanager.googleapis.com/v1'
const ASSETS = `https://cloudasset.googleapis.com/v1/projects/${SCOPE}:searchAllResources`

const asset = (name: string, more: object = {}) => ({ name, assetType: 'compute.googleapis.com/Instance', ...more })
const project = { projectId: SCOPE, projectNumber: NUMBER, lifecycleState: 'ACTIVE' }
const DENIED = (what: string) => refused(403, { error: { code: 403, message: what, status: 'PERMISSION_DENIED' } })

type World = Partial<Record<'project' | 'assets' | 'policy', Reply>>
function world(replies: World, env: Record<string, string | undefined> = {}) {
  const calls = {
    project: at(`${MANAGER}/projects/${SCOPE}`, replies.project ?? project),
    assets: at(ASSETS, replies.assets ?? {}),
    policy: at(`${MANAGER}/projects/${SCOPE}:getIamPolicy`, replies.policy ?? { version: 1, etag: 'BwY=' }),
  }
  return { calls, done: outcome(gcpInventory, SCOPE, { ...ENV, ...env }) }
}

describe('a project', () => {
  it.each([
    '',
    'short',
    'Upper-case',
    '1-leading',
    'ends-with-',
    `${'a'.repeat(31)}`,
    'web-prod-1\n',
    'a/../../b-c',
    'example.com:web',
    NUMBER,
  ])('is an id, not %j', async (scope) => {
    expect((await outcome(gcpInventory, scope, ENV)).error).toBe(`'${scope}' is not a GCP project id`)
  })

  it('is asked for its number, its assets and its policy', async () => {
    const { calls, done } = world({
      assets: { results: [asset(`//compute.googleapis.com/projects/${SCOPE}/zones/z/instances/vm`)] },
      policy: { bindings: [{ role: 'roles/viewer', members: ['user:a@example.com'] }] },
    })
    expect(await done).toMatchObject({
      error: '',
      ids: [`projects/${SCOPE}/zones/z/instances/vm`, `${SCOPE} roles/viewer user:a@example.com`],
    })
    expect(Object.values(calls).map(([call]) => call?.method)).toEqual(['GET', 'GET', 'POST'])
    const asked = { pageSize: '500', readMask: 'name,assetType,labels' }
    expect(Object.fromEntries(calls.assets[0]?.url.searchParams ?? [])).toEqual(asked)
    expect(calls.policy[0]?.json()).toEqual({ options: { requestedPolicyVersion: 3 } })
    for (const [call] of Object.values(calls)) expect(call?.headers.get('authorization')).toBe('Bearer google-token')
  })

  it('may be empty', async () => {
    expect(await world({}).done).toMatchObject({ error: '', ids: [] })
  })

  it('is read to its end, each name once, first seen first', async () => {
    const pages = [
      { results: [asset('//a.googleapis.com/b'), asset('//a.googleapis.com/a')], nextPageToken: 'a/b=' },
      { results: [asset('//a.googleapis.com/b'), asset('//a.googleapis.com/c')], nextPageToken: '' },
    ]
    const { calls, done } = world({ assets: (_call: unknown, count: number) => pages[count - 1] })
    expect((await done).ids).toEqual(['b', 'a', 'c'])
    expect(calls.assets.map(({ url }) => url.searchParams.get('pageToken'))).toEqual([null, 'a/b='])
  })

  it('of 200 pages is listed, of more is refused', async () => {
    const pages = (count: number) => (_call: unknown, page: number) => ({
      results: [asset(`//a.googleapis.com/n${page}`)],
      ...(page < count ? { nextPageToken: `p${page}` } : {}),
    })
    expect((await world({ assets: pages(200) }).done).ids).toHaveLength(200)
    const { error } = await world({ assets: pages(201) }).done
    expect(error).toBe('Cloud Asset Inventory has more than 200 pages of results')
  })

  it('is listed although Google throttles', async () => {
    const busy = refused(429, { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } })
    const { calls, done } = world({
      assets: (_call: unknown, count: number) => (count < 3 ? busy : { results: [asset('//a.googleapis.com/n')] }),
    })
    expect((await done).ids).toEqual(['n'])
    expect(calls.assets).toHaveLength(3)
  })

  it.each([
    ['a name with its number', `//x.googleapis.com/projects/${NUMBER}/keyRings/k`, `projects/${SCOPE}/keyRings/k`],
    ['a name inside another', `//x.googleapis.com/folders/1/projects/${NUMBER}`, `folders/1/projects/${SCOPE}`],
    ['a longer number', `//x.googleapis.com/projects/${NUMBER}7/a`, `projects/${NUMBER}7/a`],
    ['its number elsewhere', `//x.googleapis.com/projects/p/secrets/${NUMBER}`, `projects/p/secrets/${NUMBER}`],
    ['a bucket', '//storage.googleapis.com/my-bucket', 'my-bucket'],
  ])('%s', async (_name, name, expected) => {
    expect((await world({ assets: { results: [asset(name)] } }).done).ids).toEqual([expected])
  })

  it('takes a number that is no text', async () => {
    const assets = { results: [asset('//x.googleapis.com/projects/42/a')] }
    const found = await world({ project: { projectNumber: 42 }, assets }).done
    expect(found.ids).toEqual([`projects/${SCOPE}/a`])
  })
})

describe('assets', () => {
  const bucket = (name: string) =>
    asset(`//storage.googleapis.com/${name}`, { assetType: 'storage.googleapis.com/Bucket' })
  const account = (email: string) =>
    asset(`//iam.googleapis.com/projects/${SCOPE}/serviceAccounts/${email}`, {
      assetType: 'iam.googleapis.com/ServiceAccount',
    })
  const DATAPROC = ['dataproc-staging-x', 'dataproc-temp-x']
  const BUCKETS = [...DATAPROC, 'gcf-sources-1-x', 'gcf-v2-uploads', 'run-sources-p-x', `${SCOPE}_cloudbuild`]
  const itself = { assetType: 'cloudresourcemanager.googleapis.com/Project' }
  it.each<[string, object]>([
    ['the project', asset(`//cloudresourcemanager.googleapis.com/projects/${NUMBER}`, itself)],
    ['what a service labelled', asset('//a.googleapis.com/n', { labels: { 'goog-dataproc-x': 'c', env: 'x' } })],
    ['what GKE named', asset(`//compute.googleapis.com/projects/${SCOPE}/zones/z/instances/gke-web-pool-1`)],
    ...BUCKETS.map((name): [string, object] => [`the bucket ${name}`, bucket(name)]),
    ['the default account of Compute', account(`${NUMBER}-compute@developer.gserviceaccount.com`)],
    ['a service agent', account(`service-${NUMBER}@gcp-sa-logging.iam.gserviceaccount.com`)],
  ])('%s is left out', async (_name, found) => {
    expect(await world({ assets: { results: [found] } }).done).toMatchObject({ error: '', ids: [] })
  })

  it.each<[string, object]>([
    ['another label', asset('//a.googleapis.com/kept', { labels: { 'my-goog-': 'x' } })],
    ['a label with such a value', asset('//a.googleapis.com/kept', { labels: { a: 'goog-x' } })],
    ['a folder of that name', asset('//a.googleapis.com/gke-x/kept')],
    ['a name with it inside', asset('//a.googleapis.com/my-gke-kept')],
    ['no bucket', asset('//a.googleapis.com/gcf-v2-kept')],
    ['a bucket with it inside', bucket('my-run-sources-kept')],
    ['an account of the project', account(`kept@${SCOPE}.iam.gserviceaccount.com`)],
    ['an account by its number', account('1234567890')],
    ['no labels', asset('//a.googleapis.com/kept', { labels: null })],
  ])('%s is listed', async (_name, found) => {
    expect((await world({ assets: { results: [found] } }).done).ids).toHaveLength(1)
  })
})

describe('bindings', () => {
  it.each<[string, string, boolean]>([
    ['a person', 'user:a@example.com', true],
    ['everybody', 'allUsers', true],
    ['a pool', 'principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/*', true],
    ['an account of the project', `serviceAccount:ci@${SCOPE}.iam.gserviceaccount.com`, true],
    ['somebody who is gone', 'deleted:user:a@example.com?uid=1', false],
    ['an account that is gone', `deleted:serviceAccount:ci@${SCOPE}.iam.gserviceaccount.com?uid=1`, false],
    ['a service agent', `serviceAccount:service-${NUMBER}@compute-system.iam.gserviceaccount.com`, false],
    ['the default account', `serviceAccount:${NUMBER}-compute@developer.gserviceaccount.com`, false],
    ['an account of another project', 'serviceAccount:ci@other-proj.iam.gserviceaccount.com', false],
    ['an account of a project with that ending', `serviceAccount:ci@not-${SCOPE}.iam.gserviceaccount.com`, false],
  ])('of %s', async (_name, member, kept) => {
    const { ids } = await world({ policy: { bindings: [{ role: 'roles/editor', members: [member] }] } }).done
    expect(ids).toEqual(kept ? [`${SCOPE} roles/editor ${member}`] : [])
  })

  it('with and without condition are one entry, others each their own', async () => {
    const bindings = [
      { role: 'roles/a', members: ['user:x@y.z', 'user:v@y.z'] },
      { role: 'roles/a', members: ['user:x@y.z'], condition: { title: 'until', expression: 'true' } },
      { role: 'roles/b' },
    ]
    expect((await world({ policy: { version: 3, bindings } }).done).ids).toEqual([
      `${SCOPE} roles/a user:x@y.z`,
      `${SCOPE} roles/a user:v@y.z`,
    ])
  })
})

describe('troubles', () => {
  const MANAGER_FORM = 'Cloud Resource Manager gave an answer of an unknown form'
  const ASSET_FORM = 'Cloud Asset Inventory gave an answer of an unknown form'
  it.each<[string, World, string]>([
    ['an unknown project', { project: DENIED('No permission') }, '403 from Cloud Resource Manager: No permission'],
    ['an API that is off', { assets: DENIED('It is disabled.') }, '403 from Cloud Asset Inventory: It is disabled.'],
    ['a denied policy', { policy: DENIED('Read denied') }, '403 from Cloud Resource Manager: Read denied'],
    ['a cut connection', { assets: unreachable() }, 'Cloud Asset Inventory is unreachable: the connection failed'],
    ['a page', { assets: refused(404, '<!DOCTYPE html><title>x') }, '404 from Cloud Asset Inventory: Not Found'],
    ['HTML', { project: refused(200, '<html>') }, '200 from Cloud Resource Manager: the answer is not JSON'],
    ['no number', { project: {} }, `${MANAGER_FORM}, at projectNumber`],
    ['a number that is a pattern', { project: { projectNumber: '.*' } }, `${MANAGER_FORM}, at projectNumber`],
    ['results that are no list', { assets: { results: {} } }, `${ASSET_FORM}, at results`],
    ['an asset without service', { assets: { results: [asset('name')] } }, `${ASSET_FORM}, at results.0.name`],
    ['an asset without type', { assets: { results: [{ name: '//a/b' }] } }, `${ASSET_FORM}, at results.0.assetType`],
    ['labels', { assets: { results: [asset('//a/b', { labels: 'x' })] } }, `${ASSET_FORM}, at results.0.labels`],
    ['a member', { policy: { bindings: [{ role: 'r', members: [1] }] } }, `${MANAGER_FORM}, at bindings.0.members.0`],
    ['a binding without role', { policy: { bindings: [{ members: [] }] } }, `${MANAGER_FORM}, at bindings.0.role`],
  ])('%s', async (_name, replies, expected) => {
    const { done } = world(replies)
    expect(await done).toMatchObject({ error: expected, ids: [] })
  })

  it('an echo of the token is not shown', async () => {
    const echo = refused(401, { error: { message: 'Request had Bearer google-token' } })
    const { shown } = await world({ project: echo }).done
    expect(shown).toContain('401 from Cloud Resource Manager: Request had')
    expect(shown).not.toContain('google-token')
  })
})

describe('other places', () => {
  const expectListed = async (manager: string, assets: string, env: Record<string, string>) => {
    at(`${manager}/projects/${SCOPE}`, project)
    at(`${manager}/projects/${SCOPE}:getIamPolicy`, {})
    at(`${assets}/projects/${SCOPE}:searchAllResources`, { results: [asset('//a/n')] })
    expect(await outcome(gcpInventory, SCOPE, { ...ENV, ...env })).toMatchObject({ ids: ['n'], error: '' })
  }
  it('custom endpoints, with their version, on this machine too', async () => {
    const env = {
      GOOGLE_RESOURCE_MANAGER_CUSTOM_ENDPOINT: 'http://127.0.0.1:41002/manager/v1/',
      GOOGLE_CLOUD_ASSET_CUSTOM_ENDPOINT: 'https://assets.example/v1/',
    }
    await expectListed('http://127.0.0.1:41002/manager/v1', 'https://assets.example/v1', env)
  })

  it('another universe', async () => {
    const env = { GOOGLE_UNIVERSE_DOMAIN: 'apis.example' }
    await expectListed('https://cloudresourcemanager.apis.example/v1', 'https://cloudasset.apis.example/v1', env)
  })

  it.each([
    ['GOOGLE_CLOUD_ASSET_CUSTOM_ENDPOINT', 'http://assets.example/v1/', 'an https address'],
    ['GOOGLE_RESOURCE_MANAGER_CUSTOM_ENDPOINT', 'manager', 'an https address'],
    ['GOOGLE_UNIVERSE_DOMAIN', 'evil/?', 'a domain'],
  ])('%s=%s is refused', async (name, value, what) => {
    expect((await outcome(gcpInventory, SCOPE, { ...ENV, [name]: value })).error).toBe(`${name} is not ${what}`)
  })

  it.each<[string, Record<string, string>, string | null]>([
    ['no project', {}, null],
    ['the billing project', { USER_PROJECT_OVERRIDE: 'true', GOOGLE_BILLING_PROJECT: 'billing' }, 'billing'],
    ['no project without that', { GOOGLE_BILLING_PROJECT: 'billing' }, null],
    ['the quota project', { GOOGLE_CLOUD_QUOTA_PROJECT: 'quota' }, 'quota'],
  ])('whose quota: %s', async (_name, env, expected) => {
    const { calls, done } = world({}, env)
    await done
    expect(calls.assets[0]?.headers.get('x-goog-user-project')).toBe(expected)
  })
})
