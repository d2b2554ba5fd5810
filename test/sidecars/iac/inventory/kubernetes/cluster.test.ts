import { describe, expect, it } from 'vitest'
import { openCluster } from '../../../../../sidecars/iac/inventory/kubernetes/cluster.ts'
import { kubernetesInventory } from '../../../../../sidecars/iac/inventory/kubernetes/index.ts'
import { CERTIFICATE, folderWith, outcome, PRIVATE_PEM } from '../outside.ts'
import { inventoryRequest } from '../request.ts'
import { kubeconfig } from './api-server.ts'

const CA = CERTIFICATE.toString()
const base64 = (text: string) => Buffer.from(text).toString('base64')

/** Returns the cluster for these variables and files; errors as text. */
async function cluster(env: Record<string, string>, files: Record<string, string | Error> = {}) {
  const read = async (path: string) => {
    const text = files[path]
    if (text instanceof Error) throw text
    return text ?? null
  }
  return openCluster(inventoryRequest('s', env), read)
    .then((current) => current())
    .catch((error: Error) => error.message)
}

const config = (more: Partial<Parameters<typeof kubeconfig>[0]> = {}) =>
  JSON.stringify(kubeconfig({ user: { token: 'token-of-the-file' }, ...more }))
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const HTTPS_ONLY = 'credentials for the Kubernetes API are sent over https only'
const NO_PEM = 'the certificates or the key for the Kubernetes API are not PEM, or do not belong together'
const KEY = { KUBE_CLIENT_KEY_DATA: PRIVATE_PEM }
const PATH = { KUBE_CONFIG_PATH: '/home/platform/.kube/config' }
const at = (text: string, more: Record<string, string | Error> = {}) => ({
  '/home/platform/.kube/config': text,
  ...more,
})

describe('variables of the provider', () => {
  it('name the server and a token', async () => {
    expect(await cluster({ KUBE_HOST: 'https://one.example', KUBE_TOKEN: 'the-token' })).toEqual({
      server: 'https://one.example',
      namespace: '',
      ...bearer('the-token'),
      tls: null,
    })
  })

  it.each([
    ['one.example:8443', {}, 'http://one.example:8443'],
    ['one.example', { KUBE_CLUSTER_CA_CERT_DATA: CA }, 'https://one.example'],
    ['one.example', { KUBE_CLUSTER_CA_CERT_DATA: CA, KUBE_INSECURE: '1' }, 'http://one.example'],
    ['https://one.example/base/', {}, 'https://one.example/base'],
  ])('%s with %o is %s', async (KUBE_HOST, more, server) => {
    expect(await cluster({ KUBE_HOST, ...more })).toMatchObject({ server })
  })

  it('name a user and a password', async () => {
    const found = await cluster({ KUBE_HOST: 'https://one.example', KUBE_USER: 'me', KUBE_PASSWORD: 'pass' })
    expect(found).toMatchObject({ headers: { authorization: `Basic ${base64('me:pass')}` } })
  })

  it('go before the kubeconfig, one by one', async () => {
    const tls = { KUBE_INSECURE: 'true', KUBE_TLS_SERVER_NAME: 'name' }
    const env = { ...PATH, KUBE_HOST: 'https://other.example', KUBE_TOKEN: 'other', ...tls }
    expect(await cluster(env, at(config()))).toMatchObject({
      server: 'https://other.example',
      namespace: 'shop',
      ...bearer('other'),
      tls: { insecure: true, serverName: 'name' },
    })
  })

  it.each([
    [{ KUBE_HOST: 'https://' }, 'the address of the Kubernetes API is not a URL'],
    [{ KUBE_HOST: 'https://me:pass@one.example' }, 'the address of the Kubernetes API must not hold credentials'],
    [{ KUBE_TOKEN: 'two\nlines' }, 'the token for the Kubernetes API has characters that no token has'],
    [{ KUBE_HOST: 'http://one.example', KUBE_TOKEN: 'token' }, HTTPS_ONLY],
    [{ KUBE_HOST: 'one.example', KUBE_USER: 'me', KUBE_PASSWORD: 'pass' }, HTTPS_ONLY],
    [{ KUBE_PROXY_URL: 'http://proxy' }, 'a proxy to the Kubernetes API is not supported'],
    [KEY, 'of client certificate and client key for the Kubernetes API one is missing'],
    [{ KUBE_CLUSTER_CA_CERT_DATA: 'nonsense' }, NO_PEM],
    [{ ...KEY, KUBE_CLIENT_CERT_DATA: 'nonsense' }, NO_PEM],
  ])('%# that cannot be are refused', async (env, text) => {
    expect(await cluster({ KUBE_HOST: 'https://one.example', ...env })).toBe(text)
  })
})

describe('a kubeconfig', () => {
  it('says where the current context is', async () => {
    expect(await cluster(PATH, at(config()))).toEqual({
      server: 'https://one.example:6443',
      namespace: 'shop',
      ...bearer('token-of-the-file'),
      tls: null,
    })
  })

  it('may be YAML, in the home folder', async () => {
    const yaml =
      'current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\nclusters:\n' +
      '- {name: c, cluster: {server: "https://y.example"}}\n' +
      'users:\n- name: u\n  user:\n    username: me\n    password: "1234"\npreferences: {}\n'
    const env = { KUBE_CONFIG_PATH: '~/.kube/config', HOME: '/home/platform' }
    expect(await cluster(env, at(yaml))).toMatchObject({
      server: 'https://y.example',
      headers: { authorization: `Basic ${base64('me:1234')}` },
    })
  })

  it('may be several, of which the first counts and some are missing', async () => {
    const other = config({ name: 'other', cluster: { server: 'https://two.example' }, user: { token: 'second' } })
    const env = { KUBE_CONFIG_PATHS: '/none:/a:/b' }
    expect(await cluster(env, { '/a': config(), '/b': other })).toMatchObject({ server: 'https://one.example:6443' })
    const files = { '/a': config({ cluster: { server: 'https://one.example' } }), '/b': other }
    const chosen = await cluster({ ...env, KUBE_CTX: 'other' }, files)
    expect(chosen).toMatchObject({ server: 'https://one.example', ...bearer('token-of-the-file') })
  })

  it('has entries that can be chosen', async () => {
    const text = JSON.parse(config())
    text.users.push({ name: 'second', user: { token: 'of-the-second' } })
    text.clusters.push({ name: 'far', cluster: { server: 'https://far.example' } })
    const env = { ...PATH, KUBE_CTX_AUTH_INFO: 'second', KUBE_CTX_CLUSTER: 'far' }
    const far = { server: 'https://far.example', ...bearer('of-the-second') }
    expect(await cluster(env, at(JSON.stringify(text)))).toMatchObject(far)
  })

  it('names files beside it', async () => {
    const text = config({ user: { tokenFile: 'token' }, cluster: { 'certificate-authority': '/etc/ca.pem' } })
    const found = await cluster(PATH, at(text, { '/home/platform/.kube/token': 'from-the-file\n', '/etc/ca.pem': CA }))
    expect(found).toMatchObject({ ...bearer('from-the-file'), tls: { ca: CA.trim() } })
  })

  it('goes by the token of a file where it has another too', async () => {
    const text = config({ user: { token: 'older', tokenFile: 'token' } })
    const files = at(text, { '/home/platform/.kube/token': 'newer' })
    expect(await cluster(PATH, files)).toMatchObject(bearer('newer'))
    expect(await cluster({ ...PATH, KUBE_TOKEN: 'given' }, files)).toMatchObject(bearer('given'))
  })

  const { users, ...rest } = kubeconfig({ user: { token: 'a' } })
  const doubled = { ...rest, users: [...users, ...users] }
  const secretive = { token: 'x'.repeat(20) }
  it.each([
    ['missing', {}, {}, 'the kubeconfig that KUBE_CONFIG_PATH names is missing'],
    [
      'unreadable',
      {},
      at('', { [PATH.KUBE_CONFIG_PATH]: Object.assign(new Error('x'), { code: 'EACCES' }) }),
      'a kubeconfig cannot be read (EACCES)',
    ],
    ['no YAML', {}, at('a: [b'), 'a kubeconfig is not YAML'],
    [
      'of another form',
      {},
      at('clusters: [{name: c, cluster: {server: [1]}}]'),
      'a kubeconfig is not valid, at clusters.0.cluster.server',
    ],
    ['without the context', { KUBE_CTX: 'prod' }, at(config()), 'the kubeconfig has no context prod'],
    ['without the cluster', {}, at(config({ context: { cluster: 'gone' } })), 'the kubeconfig has no cluster gone'],
    ['without the user', { KUBE_CTX_AUTH_INFO: 'gone' }, at(config()), 'the kubeconfig has no user gone'],
    ['empty', {}, at(''), 'the address of the Kubernetes API is not a URL'],
    [
      'with a proxy',
      {},
      at(config({ cluster: { 'proxy-url': 'http://p' } })),
      'a proxy to the Kubernetes API is not supported',
    ],
    [
      'acting as another',
      {},
      at(config({ user: { as: 'admin', ...secretive } })),
      'user u of the kubeconfig acts as another one, which is not supported',
    ],
    [
      'with a missing file',
      {},
      at(config({ user: { tokenFile: '/gone' } })),
      'the token of the kubeconfig is missing or empty',
    ],
    ['with two users of a name', {}, at(JSON.stringify(doubled)), 'a kubeconfig has two entries of the same name'],
    [
      'with a certificate that is not base64',
      {},
      at(config({ user: { 'client-certificate-data': '%%', 'client-key-data': '%%' } })),
      'the client certificate of the kubeconfig is not base64',
    ],
    [
      'with an authority that is not base64',
      {},
      at(config({ cluster: { 'certificate-authority-data': CA } })),
      'the certificate authority of the kubeconfig is not base64',
    ],
    [
      'with a program for a server without https',
      {},
      at(config({ cluster: { server: 'http://one.example' }, user: { exec: { command: '/none' } } })),
      HTTPS_ONLY,
    ],
    [
      'with an auth-provider',
      {},
      at(config({ user: { 'auth-provider': { name: 'gcp' } } })),
      'user u of the kubeconfig uses an auth-provider, which is not supported; set KUBE_TOKEN',
    ],
  ])('that is %s is a clear error', async (_name, env, files, text) => {
    const found = await cluster({ ...PATH, ...env }, files)
    expect(found).toBe(text)
    expect(found).not.toContain(secretive.token)
  })

  it('with a program serves where a token is given', async () => {
    const text = config({ user: { exec: { command: '/none' } } })
    expect(await cluster({ ...PATH, KUBE_TOKEN: 'given' }, at(text))).toMatchObject(bearer('given'))
  })
})

describe('a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }
  const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
  const files = { [`${folder}/token`]: 'of-the-pod\n', [`${folder}/namespace`]: 'platform', [`${folder}/ca.crt`]: CA }

  it('has a service account', async () => {
    const expected = { namespace: 'platform', ...bearer('of-the-pod'), tls: { ca: CA } }
    expect(await cluster(env, files)).toMatchObject({ server: 'https://10.0.0.1', ...expected })
    const wide = await cluster({ ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' }, files)
    expect(wide).toMatchObject({ server: 'https://[fd00::1]' })
  })

  it('has a token that is replaced in place', async () => {
    let time = 0
    const held: Record<string, string> = { ...files }
    const read = async (path: string) => held[path] ?? null
    const current = await openCluster(inventoryRequest('s', env, { now: () => new Date(time) }), read)
    const shown = async (refused?: Awaited<ReturnType<typeof current>>) => (await current(refused)).headers
    expect(await shown()).toEqual({ authorization: 'Bearer of-the-pod' })
    held[`${folder}/token`] = 'the-next'
    time += 59_000
    expect(await shown()).toEqual({ authorization: 'Bearer of-the-pod' })
    time += 1_000
    expect(await shown()).toEqual({ authorization: 'Bearer the-next' })
    held[`${folder}/token`] = 'the-third'
    expect(await shown(await current())).toEqual({ authorization: 'Bearer the-third' })
    held[`${folder}/token`] = ''
    time += 60_000
    await expect(current()).rejects.toThrow('the token of the pod is missing or empty')
  })

  const none =
    'no Kubernetes cluster configured for scope discovery; set KUBE_CONFIG_PATH, KUBE_CONFIG_PATHS or KUBE_HOST, ' +
    'or run in a pod with a service account'
  it('is none without one', async () => {
    expect(await cluster(env, {})).toBe(none)
    expect(await cluster({ KUBECONFIG: '/home/platform/.kube/config' }, at(config()))).toBe(none)
  })
})

it('a discovery reads the files of its machine', async () => {
  const path = await folderWith({ config: config({ user: { 'auth-provider': { name: 'gcp' } } }) })
  const { error } = await outcome(kubernetesInventory, 's', { KUBE_CONFIG_PATH: path('config') })
  expect(error).toMatch(/^user u of the kubeconfig uses an auth-provider/)
})
