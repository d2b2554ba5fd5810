import { createHash, createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { UnsecuredJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { ociInventory } from '../../../../../sidecars/iac/inventory/oci/index.ts'
import { type Call, CLIENT_PEM, fixture, outcome, outsideWorld, type Reply, refused, unreachable } from '../outside.ts'
import { verified } from './verified.ts'

const at = outsideWorld()
const SCOPE = 'ocid1.compartment.oc1..aaaaaaaaexample'
const PEM = await readFile(fixture('instance.pem'), 'utf8')
const START = PEM.indexOf('-----BEGIN CERTIFICATE')
const CERT = PEM.slice(START)
const KEY = PEM.slice(0, START)
const METADATA = 'http://169.254.169.254/opc/v2'
const AUTH = 'https://auth.eu-frankfurt-1.oraclecloud.com/v1/x509'
const SEARCH = 'https://query.eu-frankfurt-1.oci.oraclecloud.com/20180409/resources'
const ENV = { OCI_AUTH: 'InstancePrincipal' }
const START_TIME = Date.parse('2026-05-05T05:05:05Z')

const token = (count: number, expires_at: number) =>
  new UnsecuredJWT({ jti: `session-${count}` }).setExpirationTime(expires_at / 1000).encode()
const region = (reply: Reply) => ({ 'instance/canonicalRegionName': reply })
function machine(replies: Record<string, Reply> = {}) {
  const files: Record<string, Reply> = {
    'instance/canonicalRegionName': refused(200, 'eu-frankfurt-1'),
    'identity/cert.pem': refused(200, CERT),
    'identity/key.pem': refused(200, KEY),
    'identity/intermediate.pem': refused(200, CLIENT_PEM.slice(CLIENT_PEM.indexOf('-----BEGIN CERTIFICATE'))),
    ...replies,
  }
  return Object.entries(files).map(([path, reply]) => at(`${METADATA}/${path}`, reply))
}

const sessionKey = (call: Call | undefined) =>
  createPublicKey({ key: Buffer.from(String(call?.json().publicKey), 'base64'), format: 'der', type: 'spki' })

describe('an instance principal', () => {
  it('vouches for a key of the discovery, which then signs', async () => {
    const metadata = machine()
    const issued = at(AUTH, { token: token(1, START_TIME + 20 * 60_000) })
    const calls = at(SEARCH, { items: [] })
    const { error, shown } = await outcome(ociInventory, SCOPE, ENV, { now: () => new Date(START_TIME) })
    expect(error).toBe('')
    expect(metadata.map((of) => of.map(({ headers }) => headers.get('authorization')))).toEqual(
      metadata.map(() => ['Bearer Oracle']),
    )
    const certificate = new X509Certificate(CERT)
    const asking = verified(issued[0], createPublicKey(createPrivateKey(KEY)))
    const fingerprint = createHash('sha256').update(certificate.raw).digest('hex').match(/../g)?.join(':')
    expect(asking.key_id).toBe(`ocid1.tenancy.oc1..t/fed-x509-sha256/${fingerprint}`)
    expect(issued[0]?.json().fingerprintAlgorithm).toBe('SHA256')
    expect(asking.names).not.toContain('host')
    expect(issued[0]?.json().certificate).toBe(certificate.raw.toString('base64'))
    expect(issued[0]?.json().intermediateCertificates).toHaveLength(1)
    expect(verified(calls[0], sessionKey(issued[0])).key_id).toBe(`ST$${token(1, START_TIME + 20 * 60_000)}`)
    expect(shown).not.toContain('PRIVATE KEY')
  })

  it('gets another token when the old one runs out between pages', async () => {
    let now = START_TIME
    machine()
    const issued = at(AUTH, (_call: unknown, count: number) => ({ token: token(count, now + 20 * 60_000) }))
    const calls = at(SEARCH, (_call: unknown, count: number) => {
      now += 16 * 60_000
      return Response.json({ items: [] }, { headers: count < 2 ? { 'opc-next-page': 'two' } : {} })
    })
    expect((await outcome(ociInventory, SCOPE, ENV, { now: () => new Date(now) })).error).toBe('')
    expect(issued).toHaveLength(2)
    for (const [at, call] of calls.entries()) verified(call, sessionKey(issued[at]))
  })

  it('works in the region that is set', async () => {
    machine(region(refused(500, 'not asked')))
    at('https://auth.us-gov-ashburn-1.oraclegovcloud.com/v1/x509', { token: token(1, START_TIME * 2) })
    const calls = at('https://query.us-gov-ashburn-1.oci.oraclegovcloud.com/20180409/resources', { items: [] })
    const env = { ...ENV, OCI_REGION: 'us-gov-ashburn-1' }
    expect((await outcome(ociInventory, 'ocid1.compartment.oc3..abc', env)).error).toBe('')
    expect(calls).toHaveLength(1)
  })

  const NO_CERTIFICATE = 'OCI instance metadata holds no certificate of an instance'
  const NO_REGION = 'the OCI region is not an identifier such as eu-frankfurt-1'
  it.each<[string, Record<string, Reply>, Reply, string]>([
    ['no instance', region(unreachable), {}, 'OCI instance metadata is unreachable: the connection failed'],
    ['no identity', { 'identity/key.pem': refused(404, 'none') }, {}, '404 from OCI instance metadata: none'],
    ['another certificate', { 'identity/cert.pem': refused(200, CLIENT_PEM) }, {}, NO_CERTIFICATE],
    ['rubbish', { 'identity/cert.pem': refused(200, '<html>') }, {}, NO_CERTIFICATE],
    ['a region that leads elsewhere', region(refused(200, 'evil.example/')), {}, NO_REGION],
    ['a denial', {}, refused(401, { message: 'no' }), '401 from OCI authentication service: no'],
    ['no token', {}, {}, 'OCI authentication service gave an answer of an unknown form, at token'],
    ['a token that is none', {}, { token: 'abc' }, 'OCI authentication service gave a token of an unknown form'],
  ])('with %s is an error', async (_name, files, issued, expected) => {
    machine(files)
    at(AUTH, issued)
    const { error, shown } = await outcome(ociInventory, SCOPE, ENV)
    expect(error).toBe(expected)
    expect(shown).not.toContain('PRIVATE KEY')
  })
})
