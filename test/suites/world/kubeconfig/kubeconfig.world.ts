import { X509Certificate } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Cluster, openCluster } from '../../../../sidecars/iac/inventory/kubernetes/cluster.ts'
import { runExecPlugin } from '../../../../sidecars/iac/inventory/kubernetes/kubeconfig.ts'
import { readFileIfAny } from '../../../../sidecars/iac/inventory/request.ts'
import { inventoryRequest } from '../../../sidecars/iac/inventory/request.ts'
import { type Case, FILES, MILDER, SAME, STRICTER } from './cases.ts'
import { readWithClientGo, type Told } from './reader.ts'

const given = (name: 'WORLD_KUBECONFIG' | 'WORLD_AWS_CLI') => {
  const path = process.env[name]
  if (!path) throw new Error(`${name} is not set; use npm run world -- --only kubeconfig`)
  return path
}

/** The environment of a case, with its files in a folder of their own. */
async function lay({ files, env = {} }: Case): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'world-kubeconfig-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const put = async (name: string, text: string) => {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
    await chmod(join(folder, name), 0o700)
  }
  for (const [name, text] of Object.entries(FILES)) await put(name, text)
  for (const [index, file] of files.entries())
    if (file !== null) await put(`config-${index}`, typeof file === 'string' ? file : JSON.stringify(file))
  const paths = files.map((_file, index) => join(folder, `config-${index}`)).join(':')
  const name = files.length > 1 ? 'KUBE_CONFIG_PATHS' : 'KUBE_CONFIG_PATH'
  return { PATH: process.env.PATH ?? '', HOME: folder, [name]: paths, ...env }
}

const pem = (text: string) => (text === '' ? '' : new X509Certificate(text).fingerprint256)

/** A token that is what the program was told is read, because the order of its keys says nothing. */
function tokenOf(authorization: string): unknown {
  const [, token] = /^Bearer (ey\S+)$/.exec(authorization) ?? []
  if (!token) return authorization
  const told = JSON.parse(Buffer.from(token, 'base64').toString())
  // Client-go says so when there is nothing to say.
  if (told.spec.cluster?.config === null) delete told.spec.cluster.config
  return told
}

const fromTold = (told: Told) => ({
  server: told.server.replace(/\/+$/, ''),
  namespace: told.namespace === 'default' ? '' : told.namespace,
  credentials: tokenOf(told.authorization),
  authority: pem(told.authority),
  certificate: pem(told.certificate),
  server_name: told.server_name,
  insecure: told.insecure,
})
const fromOurs = ({ server, namespace, headers, tls }: Cluster) => ({
  server,
  namespace,
  credentials: tokenOf(headers.authorization ?? ''),
  authority: pem(tls?.ca ?? ''),
  certificate: pem(tls?.certificate ?? ''),
  server_name: tls?.serverName ?? '',
  insecure: tls?.insecure ?? false,
})

async function read(of: Case) {
  const env = await lay(of)
  const told = await readWithClientGo(given('WORLD_KUBECONFIG'), env)
  const ours = await openCluster(inventoryRequest('world', env), readFileIfAny)
    .then((current) => current())
    .then(fromOurs, (error: Error) => `refused by ${error.name}`)
  return { theirs: told.error === undefined ? fromTold(told) : 'refused by InventoryError', ours }
}

describe('a kubeconfig', () => {
  it.each(Object.entries(SAME))('with %s is read as client-go reads it', async (_name, of) => {
    const { theirs, ours } = await read(of)
    expect(ours).toEqual(theirs)
  })
  it.each(Object.entries(STRICTER))('with %s is refused, though client-go goes on', async (_name, of) => {
    const { theirs, ours } = await read(of)
    expect(ours).toBe('refused by InventoryError')
    expect(theirs).toHaveProperty('server')
  })
  it.each(Object.entries(MILDER))('with %s is read, though client-go refuses it', async (_name, of) => {
    const { theirs, ours } = await read(of)
    expect(ours).toHaveProperty('server')
    expect(theirs).toBe('refused by InventoryError')
  })
})

describe('aws eks get-token', () => {
  const run = (env: Record<string, string>, apiVersion: string) =>
    runExecPlugin(
      inventoryRequest('world', { PATH: `${given('WORLD_AWS_CLI')}:${process.env.PATH}`, HOME: '/nowhere', ...env }),
      'shop',
      {
        apiVersion,
        command: 'aws',
        args: ['--region', 'eu-west-1', 'eks', 'get-token', '--cluster-name', 'shop', '--output', 'json'],
        env: [{ name: 'AWS_STS_REGIONAL_ENDPOINTS', value: 'regional' }],
        interactiveMode: '',
        provideClusterInfo: false,
      },
      { server: 'https://one.example', ca: '', serverName: '', insecure: false, config: null },
    )
  const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret-of-the-key' }

  it.each(['v1', 'v1beta1'])('makes a token of %s from the variables that it is given', async (version) => {
    const { token, expiresAt } = await run(KEYS, `client.authentication.k8s.io/${version}`)
    const url = new URL(Buffer.from(token.replace(/^k8s-aws-v1\./, ''), 'base64url').toString())
    expect(url.host).toBe('sts.eu-west-1.amazonaws.com')
    expect(url.searchParams.get('X-Amz-Credential')).toContain('AKIDEXAMPLE/')
    expect(Math.abs((expiresAt ?? 0) - Date.now() - 14 * 60_000)).toBeLessThan(60_000)
  })

  it('that has no credentials says so by hand only', async () => {
    const env = { AWS_EC2_METADATA_DISABLED: 'true' }
    await expect(run(env, 'client.authentication.k8s.io/v1')).rejects.toThrow(
      /^the exec program of user shop in the kubeconfig failed with exit code 25[0-9]; run it by hand/,
    )
  })
})
