import { X509Certificate } from 'node:crypto'
import { Agent } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { Fetch } from '../../../../src/base/http.ts'
import { exchange } from '../../../../src/runtime/fetch.ts'
import { type Env, LOOPBACK, setting } from '../inputs.ts'
import { InventoryError } from '../types.ts'
import type { Surroundings } from './exec-plugin.ts'
import { type ReadFile, readSource, type Source } from './sources.ts'

export interface Cluster {
  /** Base URL without trailing slash. */
  server: string
  /** The namespace that is listed if the whole cluster may not be; empty when unknown. */
  namespace: string
  headers: Record<string, string>
  /** Null if the default transport suffices. */
  tls: TlsOptions | null
}

/** Returns the cluster with valid credentials, not those of `refused`, an earlier result, if there are others. */
export type CurrentCluster = (refused?: Cluster) => Promise<Cluster>

/** Selects the cluster of the engine's provider: its variables, else the kubeconfig. Errors: `InventoryError`. */
export async function openCluster(surroundings: Surroundings, readFile: ReadFile): Promise<CurrentCluster> {
  const { env } = surroundings
  if (setting(env, 'KUBE_PROXY_URL') !== undefined)
    throw new InventoryError('a proxy to the Kubernetes API is not supported')
  const source = withVariables(await readSource(surroundings, readFile), env)
  const { changing } = source
  checkTransport(source)
  const hasOthers = [source.username, source.certificate].some((text) => text !== '')
  if (changing === null || source.token !== '' || (changing.isLast && hasOthers)) {
    const cluster = clusterOf(source)
    return async () => cluster
  }
  const server = serverOf(source)
  return keep(surroundings.now, async () => {
    const { token, certificate, key, expiresAt } = await changing.obtain({ ...source, server })
    const own = certificate === '' ? {} : { certificate, key }
    return { cluster: clusterOf({ ...source, ...own, token }), expiresAt }
  })
}

/** Refuses credentials over http, which the engine's provider never sends: clearer than the server's refusal. */
function checkTransport(source: Source): void {
  const { protocol, hostname } = new URL(serverOf(source))
  const hasCredentials = source.token !== '' || source.username !== '' || source.changing !== null
  if (hasCredentials && protocol === 'http:' && !LOOPBACK.test(hostname))
    throw new InventoryError('credentials for the Kubernetes API are sent over https only')
}

interface Held {
  cluster: Cluster
  /** Milliseconds since 1970; null means until the server refuses. */
  expiresAt: number | null
}

function keep(now: () => Date, obtain: () => Promise<Held>): CurrentCluster {
  let held: Held | null = null
  let pending: Promise<Held> | null = null
  return async (refused) => {
    if (held && held.cluster !== refused && (held.expiresAt === null || held.expiresAt > now().getTime()))
      return held.cluster
    // Several kinds are listed at the same time: one of them renews the credentials for all.
    pending ??= obtain().finally(() => {
      pending = null
    })
    held = await pending
    return held.cluster
  }
}

function withVariables(source: Source, env: Env): Source {
  const value = (name: string) => setting(env, name) ?? ''
  return {
    ...source,
    server: value('KUBE_HOST') || source.server,
    ca: value('KUBE_CLUSTER_CA_CERT_DATA') || source.ca,
    certificate: value('KUBE_CLIENT_CERT_DATA') || source.certificate,
    key: value('KUBE_CLIENT_KEY_DATA') || source.key,
    serverName: value('KUBE_TLS_SERVER_NAME') || source.serverName,
    insecure: value('KUBE_INSECURE') === '' ? source.insecure : /^(1|t|true)$/i.test(value('KUBE_INSECURE')),
    token: value('KUBE_TOKEN') || source.token,
    username: value('KUBE_USER') || source.username,
    password: value('KUBE_PASSWORD') || source.password,
  }
}

function clusterOf(source: Source): Cluster {
  const { ca, certificate, key, serverName, insecure, namespace } = source
  const tls: TlsOptions = { ca, certificate, key, serverName, insecure }
  const headers = credentialHeaders(source)
  const usual = !insecure && [ca, certificate, key, serverName].every((text) => text === '')
  if (!usual) checkPem(tls)
  return { server: serverOf(source), namespace, headers, tls: usual ? null : tls }
}

/** Returns the transport for a cluster: the default one, or one with the cluster's own certificates. */
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

/** Checks certificates and key, because a malformed one would look like a network fault later. */
function checkPem({ ca, certificate, key }: TlsOptions): void {
  if ((certificate === '') !== (key === ''))
    throw new InventoryError('of client certificate and client key for the Kubernetes API one is missing')
  try {
    // Node ignores an authority that it cannot read, without an error.
    if (ca !== '') new X509Certificate(ca)
    createSecureContext({ ...(ca && { ca }), ...(certificate && { cert: certificate, key }) })
  } catch (error) {
    throw new InventoryError(
      'the certificates or the key for the Kubernetes API are not PEM, or do not belong together',
      { cause: error },
    )
  }
}

/** Returns the address. Without a scheme the provider chooses https if there are certificates, else http. */
function serverOf({ server: text, ca, certificate, insecure }: Source): string {
  const scheme = (ca !== '' || certificate !== '') && !insecure ? 'https' : 'http'
  const full = /^https?:\/\//i.test(text) ? text : `${scheme}://${text}`
  if (text === '' || !URL.canParse(full)) throw new InventoryError('the address of the Kubernetes API is not a URL')
  const url = new URL(full)
  if (url.username !== '' || url.password !== '')
    throw new InventoryError('the address of the Kubernetes API must not hold credentials')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

type TlsOptions = Pick<Source, 'ca' | 'certificate' | 'key' | 'serverName' | 'insecure'>

/** Time that idle sockets stay open. */
const IDLE_MS = 4_000

/** Creates a `fetch` for GET with its own certificates. Redirects are not followed. Errors: those of the connection. */
function createTlsFetch({ ca, certificate, key, serverName, insecure }: TlsOptions): Fetch {
  const agent = new Agent({
    keepAlive: true,
    timeout: IDLE_MS,
    rejectUnauthorized: !insecure,
    ...(ca && { ca }),
    ...(certificate && { cert: certificate, key }),
    ...(serverName && { servername: serverName }),
  })
  return (input, init = {}) => {
    const headers = Object.fromEntries(new Headers(init.headers))
    const url = new URL(input instanceof Request ? input.url : input)
    return exchange(
      url,
      { agent, method: init.method ?? 'GET', headers: { ...headers, 'accept-encoding': 'identity' } },
      { body: null, signal: init.signal ?? null },
    )
  }
}
