import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { passthrough } from 'msw'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ociInventory } from '../../../../../sidecars/iac/inventory/oci/index.ts'
import { type Call, outcome, outsideWorld, PRIVATE_PEM, type Reply, refused, unreachable } from '../outside.ts'
import { verified } from './verified.ts'

const at = outsideWorld()
const SCOPE = 'ocid1.compartment.oc1..aaaaaaaaexample'
const KEY_ID = 'ocid1.tenancy.oc1..t/ocid1.user.oc1..u/11:22:33'
const ENV = {
  OCI_TENANCY_OCID: 'ocid1.tenancy.oc1..t',
  OCI_USER_OCID: 'ocid1.user.oc1..u',
  OCI_FINGERPRINT: '11:22:33',
  OCI_PRIVATE_KEY: PRIVATE_PEM,
  OCI_REGION: 'eu-frankfurt-1',
  HOME: '/nowhere',
}
const SEARCH = 'https://query.eu-frankfurt-1.oci.oraclecloud.com/20180409/resources'

const item = (id: string, resourceType = 'Vcn', lifecycleState: string | null = 'AVAILABLE') => ({
  resourceType,
  identifier: `ocid1.${resourceType.toLowerCase()}.oc1.eu-frankfurt-1.${id}`,
  compartmentId: SCOPE,
  timeCreated: '2026-01-01T00:00:00Z',
  displayName: id,
  lifecycleState,
  freeformTags: {},
})
const page = (items: unknown, next?: string) =>
  Response.json({ items }, { headers: next === undefined ? {} : { 'opc-next-page': next } })

function list(reply: Reply, env: Record<string, string | undefined> = {}, scope = SCOPE) {
  const calls = at(SEARCH, reply)
  return { calls, done: outcome(ociInventory, scope, { ...ENV, ...env }) }
}

const SIGNED = ['(request-target)', 'content-length', 'content-type', 'date', 'host', 'x-content-sha256']

function signedCall(call: Parameters<typeof verified>[0]): boolean {
  const { key_id, names } = verified(call)
  expect([key_id, ...names.sort()]).toEqual([KEY_ID, ...SIGNED])
  const hash = createHash('sha256').update(call?.text ?? '')
  return call?.headers.get('x-content-sha256') === hash.digest('base64')
}

describe('a compartment', () => {
  it.each([
    '',
    'production',
    'ocid1.instance.oc1.eu-frankfurt-1.abc',
    'ocid1.compartment.oc1..',
    `${SCOPE}' || compartmentId != 'x`,
    `${SCOPE}\n`,
    'ocid1.compartment.evil..abc',
    'OCID1.COMPARTMENT.OC1..ABC',
    'ocid1.compartment.oc1..a b',
  ])('is an OCID, not %j', async (scope) => {
    expect((await outcome(ociInventory, scope, ENV)).error).toBe(`'${scope}' is not an OCI compartment id`)
  })

  it('is asked for with one signed query', async () => {
    const { calls, done } = list(page([item('a'), item('b', 'Instance', 'RUNNING')]))
    expect(await done).toMatchObject({
      error: '',
      ids: ['ocid1.vcn.oc1.eu-frankfurt-1.a', 'ocid1.instance.oc1.eu-frankfurt-1.b'],
    })
    expect(calls).toHaveLength(1)
    expect(calls[0]?.method).toBe('POST')
    expect(calls[0]?.url.search).toBe('?limit=1000')
    expect(calls[0]?.json()).toEqual({
      type: 'Structured',
      query: `query all resources where compartmentId = '${SCOPE}'`,
    })
    expect(signedCall(calls[0])).toBe(true)
  })

  it('may be a tenancy', async () => {
    const { calls, done } = list(page([item('a')]), {}, 'ocid1.tenancy.oc1..aaaa')
    expect((await done).ids).toHaveLength(1)
    expect(calls[0]?.json().query).toContain("'ocid1.tenancy.oc1..aaaa'")
  })

  it('is read to its end, each id once, first seen first, each page signed', async () => {
    const pages = [page([item('b'), item('a')], 'next+page=='), page([item('b'), item('c')])]
    const { calls, done } = list((_call: unknown, count: number) => pages[count - 1])
    expect((await done).ids.map((id) => id.at(-1))).toEqual(['b', 'a', 'c'])
    expect(calls.map(({ url }) => url.searchParams.get('page'))).toEqual([null, 'next+page=='])
    expect(calls.map(signedCall)).toEqual([true, true])
  })

  it('of 200 pages is listed, of more is refused', async () => {
    const pages = (count: number) => (_call: unknown, number: number) =>
      page([item(`n${number}`)], number < count ? `p${number}` : undefined)
    expect((await list(pages(200)).done).ids).toHaveLength(200)
    expect((await list(pages(201)).done).error).toBe('OCI Search has more than 200 pages of results')
  })

  it('is listed although OCI throttles, each attempt with a signature of its time', async () => {
    let now = Date.parse('2026-05-05T05:05:05Z')
    const calls = at(SEARCH, (_call: unknown, count: number) => {
      now += 60_000
      return count < 3 ? refused(429, { code: 'TooManyRequests', message: 'Too many requests' }) : page([item('a')])
    })
    expect((await outcome(ociInventory, SCOPE, ENV, { now: () => new Date(now) })).ids).toHaveLength(1)
    expect(calls.map(({ headers }) => headers.get('date'))).toEqual(
      [5, 6, 7].map((minute) => `Tue, 05 May 2026 05:0${minute}:05 GMT`),
    )
    expect(calls.map(signedCall)).toEqual([true, true, true])
  })

  it('the signature holds over what a server receives', async () => {
    const received: boolean[] = []
    const server = createServer(async (request, response) => {
      const headers = new Headers(request.headers as Record<string, string>)
      const url = new URL(request.url ?? '', `http://${request.headers.host}`)
      received.push(signedCall({ headers, url, method: request.method ?? '', text: await text(request) }))
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ items: [item('a')] }))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    at(`http://127.0.0.1:${port}/20180409/resources`, () => passthrough())
    const CLIENT_HOST_OVERRIDES = `oci_resource_search.ResourceSearchClient=http://127.0.0.1:${port}`
    const found = await outcome(ociInventory, SCOPE, { ...ENV, CLIENT_HOST_OVERRIDES })
    expect(found).toMatchObject({ error: '', ids: [expect.any(String)] })
    expect(received).toEqual([true])
  })
})

describe('resources', () => {
  const KINDS = [
    'PrivateIp',
    'Vnic',
    'VnicAttachment',
    'BootVolumeAttachment',
    'DbNode',
    'ConsoleHistory',
    'WorkRequest',
  ]
  const STATES = ['TERMINATED', 'Terminated', 'TERMINATING', 'DELETED', 'DELETING', 'PENDING_DELETION']
  it.each([
    ...[...KINDS, 'privateip'].map((kind) => [kind, 'AVAILABLE']),
    ...[...STATES, 'SCHEDULING_DELETION'].map((state) => ['Vault', state]),
  ])('of the kind %s that are %s are left out', async (kind, state) => {
    expect(await list(page([item('a', kind, state)])).done).toMatchObject({ error: '', ids: [] })
  })
  it.each<[string, string | null]>([
    ['VolumeAttachment', 'ATTACHED'],
    ['Compartment', 'ACTIVE'],
    ['Log', null],
    ['Instance', 'STOPPED'],
    ['Subnet', 'FAILED'],
    ['PublicIp', 'ASSIGNED'],
  ])('of the kind %s are listed when they are %s', async (kind, state) => {
    expect((await list(page([item('a', kind, state)])).done).ids).toHaveLength(1)
  })
})

describe('buckets', () => {
  const bucket = { ...item('one', 'Bucket', null), displayName: 'logs of 2026' }
  const NAMESPACE = 'https://objectstorage.eu-frankfurt-1.oraclecloud.com/n/'
  it('have the id that the engine knows, with the namespace asked for once and signed', async () => {
    const asked = at(NAMESPACE, Response.json('axabc123'))
    const items = [bucket, item('a'), { ...bucket, displayName: 'two' }, { ...bucket, displayName: null }]
    const { ids } = await list(page(items)).done
    expect(ids).toEqual(['n/axabc123/b/logs of 2026', item('a').identifier, 'n/axabc123/b/two', bucket.identifier])
    expect(asked.map(({ method }) => method)).toEqual(['GET'])
    expect(verified(asked[0]).names).toEqual(['(request-target)', 'date', 'host'])
  })

  it.each<[string, Reply, string]>([
    ['denied', refused(404, { code: 'x', message: 'no namespace' }), '404 from OCI Object Storage: no namespace'],
    ['no text', Response.json({}), 'OCI Object Storage gave an answer of an unknown form'],
    ['a path', Response.json('a/b'), 'OCI Object Storage gave an answer of an unknown form'],
  ])('whose namespace is %s are an error', async (_name, reply, expected) => {
    at(NAMESPACE, reply)
    expect((await list(page([bucket])).done).error).toBe(expected)
  })

  it('elsewhere', async () => {
    at('https://buckets.example/n/', Response.json('ns'))
    const CLIENT_HOST_OVERRIDES = 'oci_object_storage.ObjectStorageClient=buckets.example'
    expect((await list(page([bucket]), { CLIENT_HOST_OVERRIDES }).done).ids).toEqual(['n/ns/b/logs of 2026'])
  })
})

describe('troubles', () => {
  const FORM = 'OCI Search gave an answer of an unknown form'
  it.each<[string, Reply, string]>([
    ['a denial', refused(404, { code: 'NotAuthorizedOrNotFound', message: 'No' }), '404 from OCI Search: No'],
    ['a wrong key', refused(401, { code: 'NotAuthenticated', message: 'No' }), '401 from OCI Search: No'],
    ['a page of HTML', refused(503, '<html>unavailable</html>'), '503 from OCI Search: Service Unavailable'],
    ['HTML as a success', refused(200, '<html>'), '200 from OCI Search: the answer is not JSON'],
    ['a cut connection', unreachable(), 'OCI Search is unreachable: the connection failed'],
    ['no items', {}, `${FORM}, at items`],
    ['items that are no list', { items: 'x' }, `${FORM}, at items`],
    ['an item without identifier', { items: [{ resourceType: 'Vcn' }] }, `${FORM}, at items.0.identifier`],
    ['an item without kind', { items: [{ identifier: 'a' }] }, `${FORM}, at items.0.resourceType`],
    ['a state that is no text', { items: [{ ...item('a'), lifecycleState: 1 }] }, `${FORM}, at items.0.lifecycleState`],
    ['pages in a circle', () => page([item('a')], 'again'), 'OCI Search repeats a page of results'],
  ])('%s', async (_name, reply, expected) => {
    expect(await list(reply).done).toMatchObject({ error: expected, ids: [] })
  })

  it('neither key nor signature is shown, even when they come back', async () => {
    const { calls, done } = list(({ headers }: Call) =>
      refused(400, { code: 'x', message: `Bad ${headers.get('authorization')}` }),
    )
    const { shown } = await done
    const signature = /signature="([^"]+)"/.exec(calls[0]?.headers.get('authorization') ?? '')?.[1] ?? 'none'
    expect(signature).not.toBe('none')
    expect(shown).toContain('400 from OCI Search: Bad')
    for (const secret of [signature, 'PRIVATE KEY']) expect(shown).not.toContain(secret)
  })
})

describe('where the service is', () => {
  const OWN = { realmKey: 'oc77', realmDomainComponent: 'cloud77.example', regionKey: 'abc' }
  const CUSTOM = { OCI_REGION_METADATA: JSON.stringify({ ...OWN, regionIdentifier: 'xx-own-1' }) }
  const HOSTS = 'oci_identity.IdentityClient=a.example;oci_resource_search.ResourceSearchClient=search.example'
  it.each<[string, string, Record<string, string>, string]>([
    ['US government', 'oc3', { OCI_REGION: 'us-gov-ashburn-1' }, 'query.us-gov-ashburn-1.oci.oraclegovcloud.com'],
    ['UK government', 'oc4', { OCI_REGION: 'uk-gov-london-1' }, 'query.uk-gov-london-1.oci.oraclegovcloud.uk'],
    ['the EU realm', 'oc19', { OCI_REGION: 'eu-madrid-2' }, 'query.eu-madrid-2.oci.oraclecloud.eu'],
    ['a numbered realm', 'oc14', { OCI_REGION: 'eu-dcc-milan-1' }, 'query.eu-dcc-milan-1.oci.oraclecloud14.com'],
    ['a described region', 'oc77', { ...CUSTOM, OCI_REGION: 'xx-own-1' }, 'query.xx-own-1.oci.cloud77.example'],
    ['a described other region', 'oc1', CUSTOM, 'query.eu-frankfurt-1.oci.oraclecloud.com'],
    ['another domain', 'oc1', { domain_name_override: 'own.example' }, 'query.eu-frankfurt-1.oci.own.example'],
    ['a host of its own', 'oc1', { CLIENT_HOST_OVERRIDES: HOSTS }, 'search.example'],
  ])('%s', async (_name, realm, env, host) => {
    const calls = at(`https://${host}/20180409/resources`, page([item('a')]))
    expect((await outcome(ociInventory, `ocid1.compartment.${realm}..abc`, { ...ENV, ...env })).error).toBe('')
    expect(signedCall(calls[0])).toBe(true)
  })

  const OPEN = 'oci_resource_search.ResourceSearchClient=http://search.example'
  it.each<[string, Record<string, string>, string]>([
    ['oc777', {}, 'the OCI realm oc777 is unknown; describe its region in OCI_REGION_METADATA'],
    ['oc1', { OCI_REGION_METADATA: '{' }, 'OCI_REGION_METADATA is not the description of a region'],
    ['oc1', { OCI_REGION: 'evil.example/?' }, 'the OCI region is not an identifier such as eu-frankfurt-1'],
    ['oc1', { OCI_REGION: '' }, 'OCI_REGION is not set'],
    ['oc1', { CLIENT_HOST_OVERRIDES: OPEN }, 'CLIENT_HOST_OVERRIDES is not an https address'],
  ])('the realm %s with %j is refused', async (realm, env, expected) => {
    expect((await outcome(ociInventory, `ocid1.compartment.${realm}..abc`, { ...ENV, ...env })).error).toBe(expected)
  })
})
