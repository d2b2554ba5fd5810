import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exchange } from '../../../../src/runtime/fetch.ts'
import { freePort, type Service, startService } from '../tools/service.ts'

/** Tokens of the users that the API server knows. */
export const TOKENS = { admin: 'token-of-the-admin', reader: 'token-of-the-reader', nobody: 'token-of-nobody' }

export type Json = Record<string, unknown>

/** An API server with its controllers and its store. */
export interface Cluster {
  url: string
  /** Authority of its certificate, PEM. */
  ca: string
  /** The environment by which the provider and the sidecar find it. */
  env(user?: keyof typeof TOKENS): Record<string, string>
  /** Answers the parsed body. Throws with the answer where the status is none of success or of `allowed`. */
  call<Answer = Json>(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>
  /** The API server goes away at once, as with a machine that dies. */
  killApiServer(): Promise<void>
  startApiServer(): Promise<void>
  close(): Promise<void>
}

interface CallOptions {
  user?: keyof typeof TOKENS
  contentType?: string
  allowed?: number[]
}

const program = (name: 'WORLD_ETCD' | 'WORLD_KUBE') => {
  const path = process.env[name]
  if (!path) throw new Error(`${name} is not set; use npm run world -- --only kubernetes`)
  return path
}

/** Starts etcd, the API server and the controllers on free ports of the loopback address, in a folder of their own. */
export async function startCluster(): Promise<Cluster> {
  const folder = await mkdtemp(join(tmpdir(), 'world-cluster-'))
  const running: Service[] = []
  const close = async () => {
    for (const service of running.reverse()) await service.stop()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const etcd = await startEtcd(folder)
    running.push(etcd.service)
    await writeKeys(folder)
    const port = await freePort()
    let apiServer = await startApiServer(folder, etcd.url, port)
    running.push({ ...apiServer, stop: () => apiServer.stop() })
    const ca = await readFile(join(folder, 'apiserver.crt'), 'utf8')
    const url = `https://127.0.0.1:${port}`
    await writeKubeconfig(folder, url, ca)
    running.push(await startManager(folder))
    const call = caller(url, ca)
    await until(() => call('GET', '/api/v1/namespaces/default/serviceaccounts/default'))
    return {
      url,
      ca,
      env: (user = 'admin') => ({ KUBE_HOST: url, KUBE_TOKEN: TOKENS[user], KUBE_CLUSTER_CA_CERT_DATA: ca }),
      call,
      killApiServer: () => apiServer.kill('SIGKILL'),
      startApiServer: async () => {
        apiServer = await startApiServer(folder, etcd.url, port)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function startEtcd(folder: string): Promise<{ service: Service; url: string }> {
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const flags = {
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': client,
    'advertise-client-urls': client,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
  }
  const service = await startService(program('WORLD_ETCD'), flagsOf(flags), {
    ready: () => expectOk(fetch(`${client}/health`)),
  })
  return { service, url: client }
}

async function writeKeys(folder: string): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await writeFile(join(folder, 'accounts.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }))
  await writeFile(join(folder, 'accounts.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  const { admin, reader, nobody } = TOKENS
  await writeFile(
    join(folder, 'tokens.csv'),
    `${admin},admin,1,system:masters\n${reader},reader,2\n${nobody},nobody,3\n`,
  )
}

async function startApiServer(folder: string, etcd: string, port: number): Promise<Service> {
  const flags = {
    'etcd-servers': etcd,
    'bind-address': '127.0.0.1',
    'advertise-address': '127.0.0.1',
    'endpoint-reconciler-type': 'none',
    'secure-port': port,
    'cert-dir': folder,
    'token-auth-file': join(folder, 'tokens.csv'),
    'authorization-mode': 'RBAC',
    'service-account-issuer': 'https://kubernetes.default.svc',
    'service-account-key-file': join(folder, 'accounts.pub'),
    'service-account-signing-key-file': join(folder, 'accounts.key'),
    'service-cluster-ip-range': '10.96.0.0/16',
  }
  return await startService(program('WORLD_KUBE'), ['kube-apiserver', ...flagsOf(flags)], {
    seconds: 180,
    ready: async () => {
      const ca = await readFile(join(folder, 'apiserver.crt'), 'utf8')
      await caller(`https://127.0.0.1:${port}`, ca)('GET', '/readyz')
    },
  })
}

const writeKubeconfig = (folder: string, server: string, ca: string): Promise<void> =>
  // JSON is YAML.
  writeFile(join(folder, 'kubeconfig'), JSON.stringify(kubeconfigOf(server, ca)))

/** Describes the cluster to clients, as its administrator. */
export function kubeconfigOf(server: string, ca: string): Record<string, unknown> {
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'world', cluster }],
    users: [{ name: 'admin', user: { token: TOKENS.admin } }],
    contexts: [{ name: 'world', context: { cluster: 'world', user: 'admin' } }],
    'current-context': 'world',
  }
}

function startManager(folder: string): Promise<Service> {
  const flags = {
    kubeconfig: join(folder, 'kubeconfig'),
    'service-account-private-key-file': join(folder, 'accounts.key'),
    'root-ca-file': join(folder, 'apiserver.crt'),
    'leader-elect': false,
    'bind-address': '127.0.0.1',
    'secure-port': 0,
    'cert-dir': join(folder, 'manager'),
  }
  // The controller manager works once it has made the account of the namespace `default`.
  return startService(program('WORLD_KUBE'), ['kube-controller-manager', ...flagsOf(flags)], { ready: async () => {} })
}

function caller(url: string, ca: string): Cluster['call'] {
  const agent = new Agent({ ca })
  return async <Answer>(method: string, path: string, body?: unknown, options: CallOptions = {}) => {
    const { user = 'admin', contentType = 'application/json', allowed = [] } = options
    const headers = { authorization: `Bearer ${TOKENS[user]}`, 'content-type': contentType, accept: 'application/json' }
    const signal = AbortSignal.timeout(30_000)
    const bytes = body === undefined ? null : new TextEncoder().encode(JSON.stringify(body))
    const answer = await exchange(new URL(`${url}${path}`), { agent, method, headers }, { body: bytes, signal })
    const text = await answer.text()
    if (!answer.ok && !allowed.includes(answer.status)) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return (text.startsWith('{') ? JSON.parse(text) : text) as Answer
  }
}

const flagsOf = (flags: Record<string, string | number | boolean>) =>
  Object.entries(flags).map(([name, value]) => `--${name}=${value}`)

async function expectOk(answer: Promise<Response>): Promise<void> {
  const { ok, status } = await answer
  if (!ok) throw new Error(`status ${status}`)
}

/** Asks again and again, for up to two minutes, until it does not throw. */
export async function until<Answer>(ask: () => Promise<Answer>, seconds = 120): Promise<Answer> {
  const end = performance.now() + seconds * 1_000
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (performance.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }
}
