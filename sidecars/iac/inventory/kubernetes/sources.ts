import { delimiter } from 'node:path'
import { systemCode } from '../../../../config/document.ts'
import { atHome, setting } from '../inputs.ts'
import { InventoryError } from '../types.ts'
import { type ClusterInfo, type Obtained, runExecPlugin, type Surroundings } from './exec-plugin.ts'
import { type ClusterEntry, type Kubeconfig, mergeKubeconfigs, parseKubeconfig, type UserEntry } from './kubeconfig.ts'

/** Returns the text of a file, or null when it is missing. Throws when it cannot be read. */
export type ReadFile = (path: string) => Promise<string | null>

/** Server and credentials of a kubeconfig or pod. A missing text is empty. */
export interface Source extends ClusterInfo, Omit<Obtained, 'expiresAt'> {
  /** The namespace of the context or of the pod. */
  namespace: string
  username: string
  password: string
  /** The reason why there are no credentials; else empty. */
  obstacle: string
  /** The source of short-lived credentials; null for none. */
  changing: Changing | null
}

export interface Changing {
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
export async function readSource(surroundings: Surroundings, readFile: ReadFile): Promise<Source> {
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
