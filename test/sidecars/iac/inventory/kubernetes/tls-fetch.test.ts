import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { kubernetesInventory } from '../../../../../sidecars/iac/inventory/kubernetes/index.ts'
import { folderWith, outcome } from '../outside.ts'
import { apiServer, kubeconfig, object } from './api-server.ts'

const SHAPE = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const
let ca: string
let client: { cert: string; private: string }
let stranger: typeof client
let server: Server
let host: string
/** Names in the client certificate of each request. */
const clients: string[] = []
let cut = false

const authority = () =>
  generate([{ name: 'commonName', value: `Authority ${crypto.randomUUID()}` }], {
    ...SHAPE,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  })

beforeAll(async () => {
  const own = await authority()
  const signed = (name: string, ip?: string) =>
    generate([{ name: 'commonName', value: name }], {
      ...SHAPE,
      ca: { key: own.private, cert: own.cert },
      extensions: [{ name: 'subjectAltName', altNames: ip ? [{ type: 7, ip }] : [{ type: 2, value: name }] }],
    })
  ca = own.cert
  client = await signed('the-lister')
  stranger = await authority()
  const { cert, private: key } = await signed('api', '127.0.0.1')
  const api = apiServer({ kinds: { v1: [{ kind: 'ConfigMap', resource: 'configmaps', objects: [object('one')] }] } })
  server = createServer({ cert, key, ca, requestCert: true, rejectUnauthorized: false }, async (request, response) => {
    clients.push(String((request.socket as TLSSocket).getPeerCertificate().subject?.CN))
    if (cut) return request.socket.destroy()
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const answer = api.answer(new URL(request.url ?? '/', host), headers)
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  host = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const ID = 'apiVersion=v1,kind=ConfigMap,namespace=shop,name=one'
const discover = (env: Record<string, string>) => outcome(kubernetesInventory, 'c', { KUBE_HOST: host, ...env })

it('an authority of its own is trusted', async () => {
  expect(await discover({ KUBE_CLUSTER_CA_CERT_DATA: ca })).toMatchObject({ ids: [ID], error: '' })
})

it('any other server is not, and it is asked once', async () => {
  const untrusted = /^Kubernetes API is unreachable: the connection failed \(\w*(CERT|SIGNATURE)\w*\)$/
  const token = { KUBE_TOKEN: 'token-of-the-account' }
  const { error, shown } = await discover({ ...token, KUBE_CLUSTER_CA_CERT_DATA: stranger.cert })
  expect(error).toMatch(untrusted)
  expect(shown).not.toContain('is repeated')
  expect((await discover(token)).error).toMatch(untrusted)
})

it('another name than that of the certificate is not either, unless it is given', async () => {
  const wrong = await discover({ KUBE_CLUSTER_CA_CERT_DATA: ca, KUBE_TLS_SERVER_NAME: 'other.example' })
  expect(wrong.error).toBe('Kubernetes API is unreachable: the connection failed (ERR_TLS_CERT_ALTNAME_INVALID)')
})

it('a server is not checked when that is switched off', async () => {
  expect((await discover({ KUBE_INSECURE: 'true' })).ids).toEqual([ID])
})

/** Expects that a discovery with this user of a kubeconfig shows the certificate of the client. */
async function expectLister(path: (name: string) => string, user: object) {
  const cluster = { server: host, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
  await writeFile(path('config'), JSON.stringify(kubeconfig({ user, cluster })))
  clients.length = 0
  const env = { KUBE_CONFIG_PATH: path('config'), PATH: process.env.PATH }
  expect((await outcome(kubernetesInventory, 'c', env)).ids).toEqual([ID])
  expect(new Set(clients)).toEqual(new Set(['the-lister']))
}

it('a client shows its certificate, from a kubeconfig with files', async () => {
  const path = await folderWith({ 'client.pem': client.cert, 'client.key': client.private })
  await expectLister(path, { 'client-certificate': 'client.pem', 'client-key': 'client.key' })
})

it('a client shows the certificate that a program makes', async () => {
  const apiVersion = 'client.authentication.k8s.io/v1'
  const status = { clientCertificateData: client.cert, clientKeyData: client.private }
  const path = await folderWith({ answer: JSON.stringify({ kind: 'ExecCredential', apiVersion, status }) })
  await expectLister(path, { exec: { apiVersion, command: 'cat', args: [path('answer')] } })
})

it('a connection that is cut is made again a few times', async () => {
  cut = true
  clients.length = 0
  const { error } = await discover({ KUBE_CLUSTER_CA_CERT_DATA: ca })
  cut = false
  expect(error).toBe('Kubernetes API is unreachable: the connection failed (ECONNRESET)')
  expect(clients).toHaveLength(4)
})
