import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { Fetch } from '../../../../src/base/http.ts'
import { type Env, setting } from '../inputs.ts'
import { InventoryError } from '../types.ts'
import { type ReadFile, readSource, type Source } from './sources.ts'
import { createTlsFetch, type TlsOptions } from './tls-fetch.ts'

/** How one API server is asked. */
export interface Cluster {
  /** Base URL without trailing slash. */
  server: string
  /** The namespace that is listed where the whole cluster may not be; empty when unknown. */
  namespace: string
  headers: Record<string, string>
  /** Null where the usual transport will do. */
  tls: TlsOptions | null
}

/**
 * Finds the cluster that the engine's provider would use. Its variables for single values go before the kubeconfig.
 * Errors: `InventoryError`, which shows no credentials.
 */
export async function readCluster(env: Env, readFile: ReadFile): Promise<Cluster> {
  const value = (name: string) => setting(env, name) ?? ''
  if (value('KUBE_PROXY_URL') !== '') throw new InventoryError('a proxy to the Kubernetes API is not supported')
  const source = await readSource(env, readFile)
  const insecure = value('KUBE_INSECURE') === '' ? source.insecure : /^(1|t|true)$/i.test(value('KUBE_INSECURE'))
  const tls: TlsOptions = {
    ca: value('KUBE_CLUSTER_CA_CERT_DATA') || source.ca,
    certificate: value('KUBE_CLIENT_CERT_DATA') || source.certificate,
    key: value('KUBE_CLIENT_KEY_DATA') || source.key,
    serverName: value('KUBE_TLS_SERVER_NAME') || source.serverName,
    insecure,
  }
  const headers = credentialHeaders({
    ...source,
    certificate: tls.certificate,
    token: value('KUBE_TOKEN') || source.token,
    username: value('KUBE_USER') || source.username,
    password: value('KUBE_PASSWORD') || source.password,
  })
  const usual = !insecure && [tls.ca, tls.certificate, tls.key, tls.serverName].every((text) => text === '')
  if (!usual) checkPem(tls)
  return {
    server: serverOf(value('KUBE_HOST') || source.server, tls),
    namespace: source.namespace,
    headers,
    tls: usual ? null : tls,
  }
}

/** The transport for a cluster: the usual one, or one with the cluster's own certificates. */
export const transportOf = ({ server, tls }: Cluster, usual: Fetch): Fetch =>
  tls === null || !server.startsWith('https:') ? usual : createTlsFetch(tls)

function credentialHeaders({ token, username, password, certificate, obstacle }: Source): Record<string, string> {
  if (token !== '') {
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new InventoryError('the token for the Kubernetes API has characters that no token has')
    return { authorization: `Bearer ${token}` }
  }
  if (username !== '') return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
  if (certificate === '' && obstacle !== '') throw new InventoryError(obstacle)
  return {}
}

/** Checks certificates and key here, because one that cannot be read would look like a fault of the network later. */
function checkPem({ ca, certificate, key }: TlsOptions): void {
  if ((certificate === '') !== (key === ''))
    throw new InventoryError('of client certificate and client key for the Kubernetes API one is missing')
  try {
    // Node passes over an authority that it cannot read, without an error.
    if (ca !== '') new X509Certificate(ca)
    createSecureContext({ ...(ca && { ca }), ...(certificate && { cert: certificate, key }) })
  } catch (error) {
    throw new InventoryError(
      'the certificates or the key for the Kubernetes API are not PEM, or do not belong together',
      { cause: error },
    )
  }
}

/** Without a scheme the provider takes https when there are certificates, else http. */
function serverOf(text: string, { ca, certificate, insecure }: TlsOptions): string {
  const scheme = (ca !== '' || certificate !== '') && !insecure ? 'https' : 'http'
  const full = /^https?:\/\//i.test(text) ? text : `${scheme}://${text}`
  if (text === '' || !URL.canParse(full)) throw new InventoryError('the address of the Kubernetes API is not a URL')
  const url = new URL(full)
  if (url.username !== '' || url.password !== '')
    throw new InventoryError('the address of the Kubernetes API must not hold credentials')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}
