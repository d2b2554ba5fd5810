import { CERTIFICATE, PRIVATE_PEM } from '../../../sidecars/iac/inventory/outside.ts'

const V1 = 'client.authentication.k8s.io/v1'
const BETA = 'client.authentication.k8s.io/v1beta1'
const PEM = CERTIFICATE.toString()
const base64 = (text: string) => Buffer.from(text).toString('base64')
const SIGNED = { 'client-certificate-data': base64(PEM), 'client-key-data': base64(PRIVATE_PEM) }

interface Entries {
  ctx?: string
  user?: unknown
  cluster?: object
  context?: object
  server?: string
  u?: string
  c?: string
}
type Config = Record<string, unknown>

const config = ({ ctx = 'main', user = { token: 'T' }, cluster, context, server, u = 'u', c = 'c' }: Entries = {}) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': ctx,
  contexts: [{ name: ctx, context: { cluster: c, user: u, ...context } }],
  clusters: [{ name: c, cluster: { server: server ?? 'https://one.example:6443', ...cluster } }],
  users: [{ name: u, user }],
})

const credential = (fields: object, apiVersion = V1, kind: string | undefined = 'ExecCredential') =>
  JSON.stringify({ kind, apiVersion, status: fields })
const program = (command: string, more: object = {}) => ({
  exec: { apiVersion: V1, command, interactiveMode: 'Never', ...more },
})
const printing = (text: string, more: object = {}) => program('printf', { args: ['%s', text], ...more })
const E = credential({ token: 'E' })

/** Files that lie beside each kubeconfig; all may be run. */
export const FILES: Record<string, string> = {
  token: 'of-the-file\n',
  'ca.pem': PEM,
  plugin: `#!/bin/sh\ncat <<'END'\n${credential({ token: 'beside' })}\nEND\n`,
  'sub/plugin': `#!/bin/sh\ncat <<'END'\n${credential({ token: 'below' })}\nEND\n`,
  named: `#!/bin/sh\ncat <<END\n${credential({ token: '$WHO' })}\nEND\n`,
  // Tells by its token what it was told.
  told: `#!/bin/sh\nT=$(printf %s "$KUBERNETES_EXEC_INFO" | base64 -w0)\ncat <<END\n${credential({ token: '$T' })}\nEND\n`,
}

export interface Case {
  /** Kubeconfigs in their order; null is one that is missing. */
  files: (Config | string | null)[]
  env?: Record<string, string>
}
const one = (entries: Entries = {}, env: Record<string, string> = {}): Case => ({ files: [config(entries)], env })
const user = (entry: unknown, env: Record<string, string> = {}): Case => one({ user: entry }, env)
const several = (...files: Case['files']): Case => ({ files })
const changed = (fields: object): Case => ({ files: [{ ...config(), ...fields }] })
const other = config({ ctx: 'other', u: 'u2', user: { token: 'U2' }, c: 'c2', server: 'https://two.example' })
const yaml = (text: string): Case => ({
  files: [
    `current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n${text}\nusers: [{name: u, user: {token: t}}]\n`,
  ],
})
const EXTENSION = { name: 'client.authentication.k8s.io/exec', extension: { audience: 'shop' } }

/** Both read the same, or both refuse. */
export const SAME: Record<string, Case> = {
  'a token': user({ token: 'T' }),
  'a password': user({ username: 'a', password: 'b' }),
  'a token in a file': user({ tokenFile: 'token' }),
  'a token beside one in a file': user({ token: 'T', tokenFile: 'token' }),
  'a certificate': one({ user: SIGNED, cluster: { 'certificate-authority-data': base64(PEM) } }),
  'a certificate and a token in a file': user({ ...SIGNED, tokenFile: 'token' }),
  'an authority in a file': one({ cluster: { 'certificate-authority': 'ca.pem' } }),
  'a server that is not checked': one({ cluster: { 'insecure-skip-tls-verify': true } }),
  'a server name': one({ cluster: { 'tls-server-name': 'x.example' } }),
  'a path': one({ server: 'https://one.example/k8s/clusters/c-1/' }),
  'a namespace': one({ context: { namespace: 'shop' } }),
  'no user': one({ context: { user: '' } }),
  'a user without fields': changed({ users: [{ name: 'u', user: null }] }),
  'fields that are unknown': changed({ hello: 1, preferences: { colors: true } }),
  'a token that is a number': user({ token: 12345 }),
  'base64 that is none': one({ cluster: { 'certificate-authority-data': '%%%' } }),
  'two users of a name': changed({ users: ['a', 'b'].map((token) => ({ name: 'u', user: { token } })) }),
  'a cluster that is not there': one({ context: { cluster: 'gone' } }),
  'a context that is not there': changed({ 'current-context': 'gone' }),
  'no context': changed({ 'current-context': '' }),
  'no context, but its parts': {
    files: [{ ...config(), 'current-context': '' }],
    env: { KUBE_CTX_CLUSTER: 'c', KUBE_CTX_AUTH_INFO: 'u' },
  },
  'YAML with a key twice': yaml('current-context: b\nclusters: [{name: c, cluster: {server: "https://y"}}]'),
  'YAML with an anchor': yaml('clusters: [{name: c, cluster: &x {server: "https://y"}}]'),
  'two files': several(config(), other),
  'two files, the first without contexts': several(
    { apiVersion: 'v1', kind: 'Config', 'current-context': 'other' },
    other,
  ),
  'two files, the first empty': several('', config()),
  'two files, the first missing': several(null, config()),
  'two files, the user in the second': several({ ...config(), users: [] }, { ...config(), contexts: [], clusters: [] }),
  'one user in two files': several(
    config({ user: { username: 'a' } }),
    config({ user: { password: 'b', token: 'B' } }),
  ),
  'one cluster in two files': several(
    config(),
    config({ server: 'https://two.example', cluster: { 'tls-server-name': 'n' } }),
  ),
  'one context in two files': several(config(), config({ context: { namespace: 'of-the-second' } })),
  'another context': { files: [config(), other], env: { KUBE_CTX: 'other' } },
  'another user': { files: [config(), other], env: { KUBE_CTX_AUTH_INFO: 'u2' } },
  'another cluster': { files: [config(), other], env: { KUBE_CTX_CLUSTER: 'c2' } },
  'another context that is not there': one({}, { KUBE_CTX: 'gone' }),
  'a token of the environment': one({}, { KUBE_TOKEN: 'given' }),
  'a token of the environment beside a program': user(program('./none'), { KUBE_TOKEN: 'given' }),
  'a program': user(printing(E)),
  'a program of v1beta1': user(printing(credential({ token: 'E' }, BETA), { apiVersion: BETA })),
  'a program of v1beta1 without a mode': user(
    printing(credential({ token: 'E' }, BETA), { apiVersion: BETA, interactiveMode: undefined }),
  ),
  'a program of v1alpha1': user(printing(E, { apiVersion: 'client.authentication.k8s.io/v1alpha1' })),
  'a program that would like a terminal': user(printing(E, { interactiveMode: 'IfAvailable' })),
  'a program that needs a terminal': user(printing(E, { interactiveMode: 'Always' })),
  'a program that answers another version': user(printing(credential({ token: 'E' }, BETA))),
  'a program that answers no kind': user(printing(JSON.stringify({ apiVersion: V1, status: { token: 'E' } }))),
  'a program that answers another kind': user(printing(credential({ token: 'E' }, V1, 'Other'))),
  'a program that answers nothing': user(printing('')),
  'a program that answers no credentials': user(printing(credential({}))),
  'a program that makes a certificate': user(
    printing(credential({ clientCertificateData: PEM, clientKeyData: PRIVATE_PEM })),
  ),
  'a program that makes half a certificate': user(printing(credential({ clientCertificateData: PEM }))),
  'a program with a date that is none': user(printing(credential({ token: 'E', expirationTimestamp: 'soon' }))),
  'a program with a date to come': user(
    printing(credential({ token: 'E', expirationTimestamp: '2099-01-01T00:00:00Z' })),
  ),
  'a program beside a token': user({ token: 'T', ...printing(E) }),
  'a program beside a password': user({ username: 'a', password: 'b', ...printing(E) }),
  'a program beside a token in a file': user({ tokenFile: 'token', ...printing(E) }),
  'a program beside the file': user(program('./plugin')),
  'a program below the file': user(program('sub/plugin')),
  'a program that is not there': user(program('no-such-program-anywhere')),
  'a program without a name': user(program('')),
  'a program that fails': user(program('false')),
  'a program with a variable': user(program('./named', { env: [{ name: 'WHO', value: 'a-variable' }] })),
  'a program without variables': user(printing(E, { env: null })),
  'a program that is told nothing': user(program('./told')),
  'a program that is told of the cluster': one({
    user: program('./told', { provideClusterInfo: true }),
    cluster: {
      'certificate-authority-data': base64(PEM),
      'tls-server-name': 'x.example',
      extensions: [{ name: 'other', extension: 1 }, EXTENSION],
    },
  }),
}

/** Client-go goes on, we refuse: with no credentials, with what no server takes, or with a token that has run out. */
export const STRICTER: Record<string, Case> = {
  'a user that is not there': one({ context: { user: 'gone' } }),
  'a token with blanks': user({ token: ' T ' }),
  'credentials in the address': one({ server: 'https://me:pw@one.example' }),
  'credentials over http': one({ server: 'http://one.example' }),
  'a program whose token has run out': user(
    printing(credential({ token: 'E', expirationTimestamp: '2020-01-01T00:00:00Z' })),
  ),
  'a program whose token has two lines': user(printing(credential({ token: 'E\n' }))),
  'several documents in a file': { files: [`${JSON.stringify(config())}\n---\nfoo: 1\n`] },
}

/** Client-go refuses, we read: what is meant is clear, and nothing but a form is missing. */
export const MILDER: Record<string, Case> = {
  'a program without a mode': user(printing(E, { interactiveMode: undefined })),
  'a file of another kind': changed({ kind: 'Other' }),
  'a file of another version': changed({ apiVersion: 'v2' }),
  'a token and a password': user({ token: 'T', username: 'a', password: 'b' }),
  'an authority beside a file that is missing': one({
    cluster: { 'certificate-authority': 'gone', 'certificate-authority-data': base64(PEM) },
  }),
}
