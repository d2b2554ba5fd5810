import { X509Certificate } from 'node:crypto'
import { Agent } from 'node:https'
import { delimiter } from 'node:path'
import { createSecureContext } from 'node:tls'
import { systemCode } from '../../../../config/document.ts'
import type { Fetch } from '../../../../src/base/http.ts'
import { exchange } from '../../../../src/runtime/fetch.ts'
import { atHome, type Env, InventoryError, LOOPBACK, setting } from '../request.ts'
import {
  type ClusterEntry,
  type ClusterInfo,
  type Kubeconfig,
  mergeKubeconfigs,
  type Obtained,
  parseKubeconfig,
  runExecPlugin,
  type Surroundings,
  type UserEntry,
} from './kubeconfig.ts'

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

/** Keeps a cluster until its credentials end; `expiresAt` null means until the server refuses them. */
function keep<Held extends { cluster: Cluster; expiresAt: number | null }>(
  now: () => Date,
  obtain: () => Promise<Held>,
): CurrentCluster {
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

/** Creates a `fetch` for GET with its own certificates. Redirects are not followed. Errors: those of the connection. */
function createTlsFetch({ ca, certificate, key, serverName, insecure }: TlsOptions): Fetch {
  const agent = new Agent({
    keepAlive: true,
    // Milliseconds for which idle sockets stay open.
    timeout: 4_000,
    rejectUnauthorized: !insecure,
    ...(ca && { ca }),
    ...(certificate && { cert: certificate, key }),
    ...(serverName && { servername: serverName }),
  })
  return (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const headers = { ...Object.fromEntries(new Headers(init.headers)), 'accept-encoding': 'identity' }
    const options = { agent, method: init.method ?? 'GET', headers }
    return exchange(url, options, { body: null, signal: init.signal ?? null })
  }
}

/** Returns the text of a file, or null when it is missing. Throws when it cannot be read. */
type ReadFile = (path: string) => Promise<string | null>

/** Server and credentials of a kubeconfig or pod. A missing text is empty. */
interface Source extends ClusterInfo, Omit<Obtained, 'expiresAt'> {
  /** The namespace of the context or of the pod. */
  namespace: string
  username: string
  password: string
  /** The reason why there are no credentials; else empty. */
  obstacle: string
  /** The source of short-lived credentials; null for none. */
  changing: Changing | null
}

interface Changing {
  /** True if used only when there are no others. */
  isLast: boolean
  obtain: (cluster: ClusterInfo) => Promise<Obtained>
}

const NOTHING: Source = {
  server: '',
  namespace: '',
  ca: '',
  serverName: '',
  insecure: false,
  certificate: '',
  key: '',
  token: '',
  username: '',
  password: '',
  obstacle: '',
  changing: null,
}

/** Reads the kubeconfigs, else nothing with `KUBE_HOST`, else the pod's account. `KUBECONFIG` is ignored. */
async function readSource(surroundings: Surroundings, readFile: ReadFile): Promise<Source> {
  const { env } = surroundings
  const own = setting(env, 'KUBE_CONFIG_PATH')
  const paths = (own === undefined ? (setting(env, 'KUBE_CONFIG_PATHS') ?? '').split(delimiter) : [own])
    .filter((path) => path !== '')
    .map((path) => atHome(path, env))
  if (paths.length > 0) return readKubeconfigSource(await readKubeconfigs(paths, readFile), surroundings, readFile)
  return setting(env, 'KUBE_HOST') === undefined ? readPodSource(surroundings, readFile) : NOTHING
}

/** Reads and merges the files. Of several, some may be missing. */
async function readKubeconfigs(paths: readonly string[], readFile: ReadFile): Promise<Kubeconfig> {
  const files: Kubeconfig[] = []
  for (const path of paths) {
    const content = await readText(readFile, path, 'a kubeconfig')
    if (content !== null) files.push(parseKubeconfig(content, path))
  }
  if (files.length === 0)
    throw new InventoryError(
      `the kubeconfig that ${paths.length > 1 ? 'KUBE_CONFIG_PATHS' : 'KUBE_CONFIG_PATH'} names is missing`,
    )
  return mergeKubeconfigs(files)
}

async function readKubeconfigSource(
  config: Kubeconfig,
  surroundings: Surroundings,
  readFile: ReadFile,
): Promise<Source> {
  const { env } = surroundings
  const name = setting(env, 'KUBE_CTX') ?? config.current
  const context = config.contexts.get(name)
  if (name !== '' && !context) throw new InventoryError(`the kubeconfig has no context ${name}`)
  const clusterName = setting(env, 'KUBE_CTX_CLUSTER') ?? context?.cluster ?? ''
  const userName = setting(env, 'KUBE_CTX_AUTH_INFO') ?? context?.user ?? ''
  const cluster = config.clusters.get(clusterName)
  const user = config.users.get(userName)
  if (clusterName !== '' && !cluster) throw new InventoryError(`the kubeconfig has no cluster ${clusterName}`)
  if (userName !== '' && !user) throw new InventoryError(`the kubeconfig has no user ${userName}`)
  if (cluster?.['proxy-url']) throw new InventoryError('a proxy to the Kubernetes API is not supported')
  if (user?.as)
    throw new InventoryError(`user ${userName} of the kubeconfig acts as another one, which is not supported`)
  const text = async (data: string | undefined, path: string | undefined, what: string) =>
    decodeBase64(data, what) || (await readContent(readFile, path, `${what} of the kubeconfig`))
  return {
    server: cluster?.server ?? '',
    namespace: context?.namespace ?? '',
    ca: await text(
      cluster?.['certificate-authority-data'],
      cluster?.['certificate-authority'],
      'the certificate authority',
    ),
    serverName: cluster?.['tls-server-name'] ?? '',
    insecure: cluster?.['insecure-skip-tls-verify'] ?? false,
    certificate: await text(user?.['client-certificate-data'], user?.['client-certificate'], 'the client certificate'),
    key: await text(user?.['client-key-data'], user?.['client-key'], 'the client key'),
    // Of a token and a token file, the provider uses the file.
    token: user?.tokenFile ? '' : (user?.token ?? ''),
    username: user?.username ?? '',
    password: user?.password ?? '',
    obstacle: user?.['auth-provider']
      ? `user ${userName} of the kubeconfig uses an auth-provider, which is not supported; set KUBE_TOKEN`
      : '',
    changing: user ? changingOf(surroundings, readFile, { name: userName, ...user }, cluster) : null,
  }
}

/** The name of cluster extensions that are passed to the user's program. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec'

function changingOf(
  surroundings: Surroundings,
  readFile: ReadFile,
  { name, exec, tokenFile }: UserEntry & { name: string },
  cluster: ClusterEntry | undefined,
): Changing | null {
  if (tokenFile !== '')
    return tokenFrom(surroundings, () => readContent(readFile, tokenFile, 'the token of the kubeconfig'))
  if (!exec) return null
  const config = cluster?.extensions.find((extension) => extension.name === EXEC_EXTENSION)?.extension
  return { isLast: true, obtain: (info) => runExecPlugin(surroundings, name, exec, { ...info, config }) }
}

/** Milliseconds after which a file with a token is read again, as Kubernetes' own clients do. */
const REREAD_MS = 60_000

const tokenFrom = ({ now }: Surroundings, read: () => Promise<string>): Changing => ({
  isLast: false,
  obtain: async () => ({ token: await read(), certificate: '', key: '', expiresAt: now().getTime() + REREAD_MS }),
})

const POD = '/var/run/secrets/kubernetes.io/serviceaccount'

async function readPodSource(surroundings: Surroundings, readFile: ReadFile): Promise<Source> {
  const { env } = surroundings
  const [host, port] = [setting(env, 'KUBERNETES_SERVICE_HOST'), setting(env, 'KUBERNETES_SERVICE_PORT')]
  const path = `${POD}/token`
  if (!host || !port || (await readText(readFile, path, 'the token of the pod')) === null)
    throw new InventoryError(
      'no Kubernetes cluster configured for scope discovery; set KUBE_CONFIG_PATH, KUBE_CONFIG_PATHS ' +
        'or KUBE_HOST, or run in a pod with a service account',
    )
  return {
    ...NOTHING,
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: (await readText(readFile, `${POD}/namespace`, 'the namespace of the pod'))?.trim() ?? '',
    ca: (await readText(readFile, `${POD}/ca.crt`, 'the certificate authority of the pod')) ?? '',
    changing: tokenFrom(surroundings, () => readContent(readFile, path, 'the token of the pod')),
  }
}

function decodeBase64(base64 = '', what: string): string {
  // Node ignores characters outside base64: the credentials would be lost and others tried.
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(base64)) throw new InventoryError(`${what} of the kubeconfig is not base64`)
  return Buffer.from(base64, 'base64').toString('utf8')
}

async function readContent(readFile: ReadFile, path: string | undefined, what: string): Promise<string> {
  if (!path) return ''
  const text = (await readText(readFile, path, what))?.trim()
  if (!text) throw new InventoryError(`${what} is missing or empty`)
  return text
}

const readText = (readFile: ReadFile, path: string, what: string): Promise<string | null> =>
  readFile(path).catch((error: unknown) => {
    throw new InventoryError(`${what} cannot be read${systemCode(error)}`, { cause: error })
  })
