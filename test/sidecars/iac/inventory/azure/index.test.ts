import { describe, expect, it } from 'vitest'
import { azureInventory } from '../../../../../sidecars/iac/inventory/azure/index.ts'
import { outcome, outsideWorld, type Reply, refused, unreachable } from '../outside.ts'

const at = outsideWorld()
const SCOPE = '11111111-2222-3333-4444-555555555555'
const ENV = { ARM_TENANT_ID: 'tenant', ARM_CLIENT_ID: 'client', ARM_CLIENT_SECRET: 'secret/with words' }
const LOGIN = 'https://login.microsoftonline.com/tenant/oauth2/v2.0/token'
const GRAPH = 'https://management.azure.com/providers/Microsoft.ResourceGraph/resources'
const issue = (token = 'azure-token') => ({ token_type: 'Bearer', expires_in: 3599, access_token: token })

const OWN = `/subscriptions/${SCOPE}`
const row = (path: string, type: string, more: object = {}) => ({
  id: `${OWN}/${path}`,
  type,
  name: path.split('/').at(-1),
  managedBy: '',
  tags: null,
  scope: '',
  ...more,
})
const group = (name: string, more: object = {}) =>
  row(`resourceGroups/${name}`, 'microsoft.resources/subscriptions/resourcegroups', more)
const resource = (groupName: string, path: string, more: object = {}) => {
  const type = path.split('/').slice(0, 2).join('/').toLowerCase()
  return row(`resourceGroups/${groupName}/providers/${path}`, type, { managedBy: null, ...more })
}
const assignment = (scope: string, id = 'a1') => {
  const path = `providers/Microsoft.Authorization/RoleAssignments/${id}`
  return row(path, 'microsoft.authorization/roleassignments', { scope })
}
const answer = (data: unknown, more: object = {}) => {
  const head = { totalRecords: 1, count: 1, resultTruncated: 'false', facets: [] }
  return { ...head, data, ...more }
}

function list(reply: Reply, env: Record<string, string | undefined> = {}) {
  at(LOGIN, issue())
  const calls = at(GRAPH, reply)
  return { calls, done: outcome(azureInventory, SCOPE, { ...ENV, ...env }) }
}
const listed = async (rows: readonly unknown[]) =>
  (await list(answer(rows)).done).ids.map((id) => id.split('/').slice(4).join('/'))

describe('a subscription', () => {
  it.each([
    '',
    'production',
    `${SCOPE}\n`,
    `/subscriptions/${SCOPE}`,
    `${SCOPE}'`,
    SCOPE.slice(1),
  ])('is a GUID, not %j', async (scope) => {
    expect((await outcome(azureInventory, scope, ENV)).error).toBe(`'${scope}' is not an Azure subscription id`)
  })

  it('is asked for with one query, and nothing of the request in it', async () => {
    const { calls, done } = list(answer([group('web')]))
    expect(await done).toMatchObject({ ids: [`/subscriptions/${SCOPE}/resourceGroups/web`], error: '' })
    expect(calls).toHaveLength(1)
    expect(calls[0]).toMatchObject({ method: 'POST' })
    expect(calls[0]?.url.search).toBe('?api-version=2022-10-01')
    expect(calls[0]?.headers.get('authorization')).toBe('Bearer azure-token')
    const { query, ...rest } = calls[0]?.json() ?? {}
    expect(rest).toEqual({ subscriptions: [SCOPE], options: { $top: 1000 } })
    expect(query).toMatch(/^resources[\s\S]*resourcecontainers[\s\S]*authorizationresources[\s\S]*order by id asc$/)
    expect(query).not.toContain(SCOPE)
  })

  it('is read to its end, each id once, as Azure spells it, ordered', async () => {
    const pages = [
      answer([group('b'), group('B2')], { resultTruncated: 'true', $skipToken: 'next one' }),
      answer([group('a'), group('b')]),
    ]
    const { calls, done } = list((_call: unknown, count: number) => pages[count - 1])
    expect((await done).ids.map((id) => id.split('/').at(-1))).toEqual(['B2', 'a', 'b'])
    expect(calls.map((call) => call.json().options)).toEqual([{ $top: 1000 }, { $top: 1000, $skipToken: 'next one' }])
  })

  it('of 100 pages is listed, of more is refused', async () => {
    const pages = (count: number) => (_call: unknown, page: number) =>
      answer([group(`g${String(page).padStart(3, '0')}`)], page < count ? { $skipToken: `page-${page}` } : {})
    expect((await list(pages(100)).done).ids).toHaveLength(100)
    expect((await list(pages(101)).done).error).toBe('Azure Resource Graph has more than 100 pages of results')
  })

  it.each(['true', true])('that Azure cuts off (%j) is refused', async (resultTruncated) => {
    expect((await list(answer([group('a')], { resultTruncated })).done).error).toBe(
      'Azure Resource Graph cut its result off',
    )
  })

  it('is listed although Azure throttles', async () => {
    const busy = refused(429, { error: { code: 'RateLimiting', message: 'slow down' } }, { 'retry-after': '0' })
    const { calls, done } = list((_call: unknown, count: number) => (count < 3 ? busy : answer([group('a')])))
    expect((await done).ids).toHaveLength(1)
    expect(calls).toHaveLength(3)
  })

  it('gets a new token when the old one runs out between pages', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z')
    const signIns = at(LOGIN, (_call: unknown, count: number) => issue(`token-${count}`))
    const calls = at(GRAPH, (_call: unknown, count: number) => {
      now += 40 * 60_000
      return answer([group(`g${count}`)], count < 3 ? { $skipToken: `p${count}` } : {})
    })
    const { error } = await outcome(azureInventory, SCOPE, ENV, { now: () => new Date(now) })
    expect(error).toBe('')
    expect(signIns).toHaveLength(2)
    const tokens = calls.map(({ headers }) => headers.get('authorization'))
    expect(tokens).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2'])
  })
})

describe('left out', () => {
  const SITE = 'Microsoft.Web/sites/s'
  it.each<[string, unknown[], string[]]>([
    ['a managed group with all in it', [group('app', { managedBy: '/x/y' }), resource('APP', SITE)], []],
    ['a node group of AKS', [group('MC_web_aks_eu'), resource('mc_web_aks_eu', 'Microsoft.Compute/disks/d')], []],
    ['the group of Network Watcher', [group('NetworkWatcherRG'), resource('networkwatcherrg', 'A.B/watchers/w')], []],
    ['a resource in such a group that is not listed itself', [resource('MC_a_b_c', 'Microsoft.Compute/disks/d')], []],
    ['role assignments about such a group', [group('MC_a'), assignment(`${OWN}/resourcegroups/mc_a`)], []],
    [
      'role assignments about what is in it',
      [group('own', { managedBy: '/x' }), assignment(`${OWN}/resourceGroups/own/providers/A.B/c/d`)],
      [],
    ],
    ['smart detector alert rules', [resource('web', 'Microsoft.AlertsManagement/smartDetectorAlertRules/r')], []],
    ['resources with a hidden link', [resource('web', SITE, { tags: { 'hidden-link:/a/b': 'Resource' } })], []],
    ['nothing of other groups', [group('MCx'), group('xMC_a')], ['MCx', 'xMC_a']],
    [
      'no resource that is managed by another',
      [resource('web', 'Microsoft.Compute/disks/d', { managedBy: '/vm' })],
      ['web/providers/Microsoft.Compute/disks/d'],
    ],
    [
      'no other tags',
      [resource('web', SITE, { tags: { env: 'x', 'not-hidden-link': 1 } })],
      ['web/providers/Microsoft.Web/sites/s'],
    ],
    [
      'no role assignment of the subscription or another group',
      [assignment(OWN, 'a1'), assignment(`${OWN}/resourceGroups/web`, 'a2')],
      ['Microsoft.Authorization/RoleAssignments/a1', 'Microsoft.Authorization/RoleAssignments/a2'],
    ],
  ])('%s', async (_name, rows, expected) => {
    expect(await listed(rows)).toEqual(expected)
  })
})

describe('troubles', () => {
  const DENIED = "The client 'x' does not have authorization to perform action 'resources/read'."
  const FORM = 'Azure Resource Graph gave an answer of an unknown form'
  it.each<[string, unknown, string]>([
    ['a denial', refused(403, { error: { code: 'x', message: DENIED } }), `403 from Azure Resource Graph: ${DENIED}`],
    ['a page of HTML', refused(502, '<html><b>Bad gateway</b></html>'), '502 from Azure Resource Graph: Bad Gateway'],
    ['HTML as a success', refused(200, '<html>'), '200 from Azure Resource Graph: the answer is not JSON'],
    ['a cut connection', unreachable(), 'Azure Resource Graph is unreachable: the connection failed'],
    ['a redirect', refused(302, '', { location: 'https://evil' }), '302 from Azure Resource Graph: moved elsewhere'],
    ['a table', answer({ columns: [], rows: [] }), `${FORM}, at data`],
    ['a list', [], `${FORM}, at data`],
    ['a row without id', answer([{ type: 'a', name: 'b' }]), `${FORM}, at data.0.id`],
    ['a number for an id', answer([{ ...group('a'), id: 7 }]), `${FORM}, at data.0.id`],
    ['an empty id', answer([{ ...group('a'), id: '' }]), `${FORM}, at data.0.id`],
    ['text for tags', answer([group('a', { tags: 'x' })]), `${FORM}, at data.0.tags`],
    ['a number for the next page', answer([group('a')], { $skipToken: 1 }), `${FORM}, at $skipToken`],
  ])('%s', async (_name, reply, expected) => {
    const { done } = list(reply)
    expect((await done).error).toBe(expected)
  })

  it('a message is cut at 1000 characters', async () => {
    const { error } = await list(refused(400, { error: { code: 'BadRequest', message: 'x'.repeat(5000) } })).done
    expect(error.length).toBeLessThan(1050)
    expect(error).toMatch(/^400 from Azure Resource Graph: x+…$/)
  })

  it('an echo of secret and token is not shown', async () => {
    const error_description = 'AADSTS7000215: secret/with words is secret%2Fwith%20words'
    at(LOGIN, refused(401, { error: 'invalid_client', error_description }))
    const signIn = await outcome(azureInventory, SCOPE, ENV)
    expect(signIn.error).toMatch(/^401 from Microsoft Entra ID: AADSTS7000215: \(sensitive value\)/)
    const { shown } = await list(refused(500, { error: { message: 'Bearer azure-token' } })).done
    expect(shown).toContain('500 from Azure Resource Graph')
    for (const secret of ['secret/with', 'secret%2F', 'azure-token'])
      expect(`${signIn.shown}${shown}`).not.toContain(secret)
  })
})

describe('other clouds', () => {
  it.each([
    ['usgovernment', 'https://login.microsoftonline.us', 'https://management.usgovcloudapi.net'],
    ['AzureUSGovernmentCloud', 'https://login.microsoftonline.us', 'https://management.usgovcloudapi.net'],
    ['china', 'https://login.chinacloudapi.cn', 'https://management.chinacloudapi.cn'],
  ])('%s', async (ARM_ENVIRONMENT, login, management) => {
    const signIns = at(`${login}/tenant/oauth2/v2.0/token`, issue())
    at(`${management}/providers/Microsoft.ResourceGraph/resources`, answer([group('a')]))
    expect((await outcome(azureInventory, SCOPE, { ...ENV, ARM_ENVIRONMENT })).ids).toHaveLength(1)
    expect(signIns[0]?.form.get('scope')).toBe(`${management}/.default`)
  })

  const described = (name: string, host: string) => ({
    name,
    portal: 'https://portal.example',
    authentication: {
      loginEndpoint: `https://login.${host}/`,
      audiences: [`https://audience.${host}/`, 'https://second'],
      tenant: 'common',
    },
    resourceManager: `https://management.${host}/`,
  })
  it.each([
    ['one description', described('own', 'own.example'), undefined],
    ['a list', [described('other', 'other.example'), described('Own', 'own.example')], 'own'],
  ])('described by a metadata service, as %s', async (_name, description, ARM_ENVIRONMENT) => {
    const asked = at('https://stack.example/metadata/endpoints', description)
    const signIns = at('https://login.own.example/tenant/oauth2/v2.0/token', issue())
    at('https://management.own.example/providers/Microsoft.ResourceGraph/resources', answer([group('a')]))
    const env = { ...ENV, ARM_METADATA_HOSTNAME: 'stack.example', ARM_ENVIRONMENT }
    expect(await outcome(azureInventory, SCOPE, env)).toMatchObject({ error: '', ids: [expect.any(String)] })
    expect(asked[0]?.url.search).toBe('?api-version=2022-09-01')
    expect(signIns[0]?.form.get('scope')).toBe('https://audience.own.example/.default')
  })

  it.each([
    [{ ARM_ENVIRONMENT: 'german' }, 'ARM_ENVIRONMENT names no Azure cloud; known are public, usgovernment and china'],
    [{ ARM_METADATA_HOSTNAME: 'http://stack.example' }, 'ARM_METADATA_HOSTNAME is not an https address'],
  ])('%j is refused', async (env, expected) => {
    expect((await outcome(azureInventory, SCOPE, { ...ENV, ...env })).error).toBe(expected)
  })

  it('a description that leads out of encryption is refused', async () => {
    const open = { ...described('own', 'own.example'), resourceManager: 'http://management.own.example' }
    at('https://stack.example/metadata/endpoints', open)
    const { error } = await outcome(azureInventory, SCOPE, { ...ENV, ARM_METADATA_HOSTNAME: 'stack.example' })
    expect(error).toBe('the resource manager of the Azure metadata service is not an https address')
  })
})
