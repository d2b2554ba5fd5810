import { dirname, isAbsolute, join } from 'node:path'
import * as v from 'valibot'
import { parse } from 'yaml'
import { InventoryError, type InventoryRequest } from '../request.ts'
import { runForJson } from '../run-program.ts'

const text = v.nullish(v.string(), '')
const flag = v.nullish(v.boolean(), false)
const unknown = v.nullish(v.unknown())

const execSchema = v.object({
  apiVersion: text,
  command: text,
  args: v.nullish(v.array(v.string()), []),
  env: v.nullish(v.array(v.object({ name: v.string(), value: text })), []),
  interactiveMode: text,
  provideClusterInfo: flag,
})
const contextSchema = v.object({ cluster: text, user: text, namespace: text })
const clusterSchema = v.object({
  server: text,
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': flag,
  'tls-server-name': text,
  'proxy-url': text,
  extensions: v.nullish(v.array(v.object({ name: v.string(), extension: unknown })), []),
})
const userSchema = v.object({
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  exec: v.nullish(execSchema),
  'auth-provider': unknown,
  as: unknown,
})
const configSchema = v.object({
  'current-context': text,
  contexts: v.nullish(v.array(v.object({ name: v.string(), context: contextSchema })), []),
  clusters: v.nullish(v.array(v.object({ name: v.string(), cluster: clusterSchema })), []),
  users: v.nullish(v.array(v.object({ name: v.string(), user: v.nullish(userSchema, {}) })), []),
})

export type ClusterEntry = v.InferOutput<typeof clusterSchema>
type ExecEntry = v.InferOutput<typeof execSchema>
export type UserEntry = v.InferOutput<typeof userSchema>

export type Kubeconfig = ReturnType<typeof parseKubeconfig>

const FILE_KEYS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile']

/** Parses one file and makes its paths absolute. Errors: `InventoryError` without content. */
export function parseKubeconfig(content: string, path: string) {
  const parsed = v.safeParse(configSchema, parseYaml(content))
  if (!parsed.success) {
    const place = v.getDotPath(parsed.issues[0])
    throw new InventoryError(`a kubeconfig is not valid${place ? `, at ${place.slice(0, 100)}` : ''}`)
  }
  const { contexts, clusters, users } = parsed.output
  const folder = dirname(path)
  return {
    current: parsed.output['current-context'],
    contexts: byName(contexts, ({ context }) => context),
    clusters: byName(clusters, ({ cluster }) => resolvePaths(cluster, folder)),
    users: byName(users, ({ user }) => resolveCommand(resolvePaths(user, folder), folder)),
  }
}

/** Indexes entries by name. Refuses duplicates within a file as ambiguous. */
function byName<Entry extends { name: string }, T>(
  entries: readonly Entry[],
  read: (entry: Entry) => T,
): Map<string, T> {
  const found = new Map(entries.map((entry) => [entry.name, read(entry)]))
  if (found.size < entries.length) throw new InventoryError('a kubeconfig has two entries of the same name')
  return found
}

/** Merges files. Of entries with the same name, and of current contexts, the first counts. */
export function mergeKubeconfigs(files: readonly Kubeconfig[]): Kubeconfig {
  const merged = <T>(pick: (file: Kubeconfig) => Map<string, T>) =>
    new Map(files.toReversed().flatMap((file) => [...pick(file)]))
  return {
    current: files.find(({ current }) => current !== '')?.current ?? '',
    contexts: merged(({ contexts }) => contexts),
    clusters: merged(({ clusters }) => clusters),
    users: merged(({ users }) => users),
  }
}

function parseYaml(content: string): unknown {
  try {
    return parse(content, { maxAliasCount: 100 }) ?? {}
  } catch (error) {
    throw new InventoryError('a kubeconfig is not YAML', { cause: error })
  }
}

function resolvePaths<T extends object>(entry: T, folder: string): T {
  const paths = Object.entries(entry).filter(
    ([key, value]) => FILE_KEYS.includes(key) && typeof value === 'string' && value !== '',
  )
  return {
    ...entry,
    ...Object.fromEntries(paths.map(([key, path]) => [key, isAbsolute(path) ? path : join(folder, path)])),
  }
}

/** Resolves the path of a program; one without a folder is found on PATH. */
const resolveCommand = (user: UserEntry, folder: string): UserEntry =>
  user.exec?.command.includes('/') && !isAbsolute(user.exec.command)
    ? { ...user, exec: { ...user.exec, command: join(folder, user.exec.command) } }
    : user

/** Credentials that are renewed when they have expired. A missing text is empty. */
export interface Obtained {
  token: string
  /** PEM. */
  certificate: string
  key: string
  /** Milliseconds since 1970; null means until the server refuses them. */
  expiresAt: number | null
}

/** Facts of the cluster for a program whose entry asks for them. */
export interface ClusterInfo {
  server: string
  /** Name for SNI and the check of the certificate; empty means that of the URL. */
  serverName: string
  insecure: boolean
  /** PEM; empty for the system's authorities. */
  ca: string
}

export type Surroundings = Pick<InventoryRequest, 'env' | 'signal' | 'now'>

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

/** Variables that a program needs, and those of cloud tools. The service's own settings and `KUBE_*` are excluded. */
const VARIABLES =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|LANG|LANGUAGE|LC_\w+|TZ|XDG_\w+|SSL_CERT_(FILE|DIR)|((HTTPS?|ALL|NO)_PROXY)|(AWS|AZURE|AAD|GOOGLE|CLOUDSDK|OCI)_\w+)$/i

const credential = v.object({
  kind: v.nullish(v.literal('ExecCredential')),
  apiVersion: v.string(),
  status: v.pipe(
    v.object({ token: text, clientCertificateData: text, clientKeyData: text, expirationTimestamp: text }),
    v.check((status) => (status.clientCertificateData === '') === (status.clientKeyData === '')),
    v.check((status) => status.token !== '' || status.clientCertificateData !== ''),
    v.check(({ expirationTimestamp: at }) => at === '' || !Number.isNaN(Date.parse(at))),
  ),
})

/**
 * Runs the operator's `exec` program, such as `aws eks get-token`. Errors: `InventoryError` without its output.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/
 */
export async function runExecPlugin(
  { env, signal, now }: Surroundings,
  user: string,
  exec: ExecEntry,
  /** `config`: the extension of the cluster's entry that is meant for programs. */
  cluster: ClusterInfo & { config?: unknown },
  /** Some programs ask an identity provider. */
  timeoutMs = 30_000,
): Promise<Obtained> {
  const what = `the exec program of user ${user} in the kubeconfig`
  if (!API_VERSIONS.includes(exec.apiVersion))
    throw new InventoryError(`${what} has an apiVersion that is neither ${API_VERSIONS.join(' nor ')}`)
  if (exec.command === '') throw new InventoryError(`${what} has no command`)
  if (exec.interactiveMode === 'Always')
    throw new InventoryError(`${what} needs a terminal, which this service does not have`)
  const spec = { interactive: false, ...(exec.provideClusterInfo ? { cluster: describe(cluster) } : {}) }
  const variables = {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => VARIABLES.test(name))),
    ...Object.fromEntries(exec.env.map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: JSON.stringify({ kind: 'ExecCredential', apiVersion: exec.apiVersion, spec }),
  }
  const limits = { env: variables, signal, timeoutMs, maxOutput: 256 * 1024 }
  const printed = await runForJson([exec.command, ...exec.args], limits, ({ message, isMissing }) => {
    const advice = isMissing
      ? 'install it where this service runs, or set KUBE_TOKEN'
      : 'run it by hand as the user of this service to see why'
    return new InventoryError(`${what} ${message}; ${advice}`)
  })
  const parsed = v.safeParse(credential, printed)
  if (!parsed.success || parsed.output.apiVersion !== exec.apiVersion)
    throw new InventoryError(
      `${what} does not print an ExecCredential of its apiVersion with a token, or with a certificate and its key`,
    )
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = parsed.output.status
  const expiresAt = expirationTimestamp === '' ? null : Date.parse(expirationTimestamp)
  if (expiresAt !== null && expiresAt <= now().getTime())
    throw new InventoryError(`${what} prints credentials that have expired`)
  return { token, certificate: clientCertificateData, key: clientKeyData, expiresAt }
}

const describe = ({ server, serverName, insecure, ca, config }: ClusterInfo & { config?: unknown }) => ({
  server,
  ...(serverName === '' ? {} : { 'tls-server-name': serverName }),
  ...(insecure ? { 'insecure-skip-tls-verify': true } : {}),
  ...(ca === '' ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
  ...(config === undefined || config === null ? {} : { config }),
})
