import * as v from 'valibot'
import { runForJson } from '../run-program.ts'
import { InventoryError, type InventoryRequest } from '../types.ts'
import type { ExecEntry } from './kubeconfig.ts'

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

/** Time limit of a program, in milliseconds; some ask an identity provider. */
const TIMEOUT_MS = 30_000
const MAX_BYTES = 256 * 1024
const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

/** Variables that a program needs, and those of cloud tools. The service's own settings and `KUBE_*` are excluded. */
const VARIABLES =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|LANG|LANGUAGE|LC_\w+|TZ|XDG_\w+|SSL_CERT_(FILE|DIR)|((HTTPS?|ALL|NO)_PROXY)|(AWS|AZURE|AAD|GOOGLE|CLOUDSDK|OCI)_\w+)$/i

const text = v.nullish(v.string(), '')
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
  timeoutMs: number = TIMEOUT_MS,
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
  const limits = { env: variables, signal, timeoutMs, maxBytes: MAX_BYTES }
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
