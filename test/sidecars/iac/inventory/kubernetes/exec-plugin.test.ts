import { chmod, readFile, writeFile } from 'node:fs/promises'
import { http } from 'msw'
import { describe, expect, it, vi } from 'vitest'
import { kubernetesInventory } from '../../../../../sidecars/iac/inventory/kubernetes/index.ts'
import { runExecPlugin } from '../../../../../sidecars/iac/inventory/kubernetes/kubeconfig.ts'
import { interceptRequests } from '../../../../helpers/intercept.ts'
import { folderWith, outcome } from '../outside.ts'
import { inventoryRequest } from '../request.ts'
import { apiServer, kubeconfig, object, status } from './api-server.ts'

const outside = interceptRequests()
const SERVER = 'https://cluster.example:6443'
const V1 = 'client.authentication.k8s.io/v1'
const ID = 'apiVersion=v1,kind=ConfigMap,namespace=shop,name=one'
const SECRET = 'secret-of-the-program'
const WHAT = 'the exec program of user u in the kubeconfig'

const credential = (fields: object, apiVersion = V1) =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion, status: fields })
const print = (text: string) => `cat <<'END'\n${text}\nEND`
/** Makes a script that prints a text with shell variables filled in. */
const compute = (text: string) => `cat <<END\n${text}\nEND`
/** A line that counts the runs. */
const COUNT = 'n=$(wc -l < "$(dirname "$0")/runs"); n=$((n))'

/** Makes a kubeconfig beside a program of these lines, which records its runs. */
async function withProgram(lines: string, exec: object = {}, cluster: object = {}) {
  const path = await folderWith({})
  await writeFile(path('plugin'), `#!/bin/sh\necho run >> ${path('runs')}\n${lines}\n`)
  await chmod(path('plugin'), 0o700)
  const user = { exec: { apiVersion: V1, command: './plugin', ...exec } }
  const config = kubeconfig({ user, cluster: { server: SERVER, ...cluster } })
  await writeFile(path('config'), JSON.stringify(config))
  const env = { KUBE_CONFIG_PATH: path('config'), PATH: process.env.PATH }
  const runs = async () => (await readFile(path('runs'), 'utf8')).split('\n').length - 1
  return { path, env, runs }
}

/** Plays the API server, which accepts a token if `accepts` does. Returns the tokens that it received. */
function server(accepts: (token: string, count: number) => boolean = () => true): string[] {
  const seen: string[] = []
  const others = ['secrets', 'services'].map((resource) => ({ kind: resource, resource }))
  const api = apiServer({
    kinds: { v1: [{ kind: 'ConfigMap', resource: 'configmaps', objects: [object('one')] }, ...others] },
  })
  outside.use(
    http.all(`${SERVER}/*`, ({ request }): Response => {
      const token = request.headers.get('authorization') ?? ''
      seen.push(token)
      return accepts(token, seen.length)
        ? api.answer(new URL(request.url), request.headers)
        : status(401, 'Unauthorized', `Unauthorized: ${token}`)
    }),
  )
  return seen
}

describe('a program of the kubeconfig', () => {
  it.each([V1, `${V1}beta1`])('gives a token, as %s', async (apiVersion) => {
    const seen = server()
    const { env, runs } = await withProgram(print(credential({ token: SECRET }, apiVersion)), { apiVersion })
    const { ids, error, shown } = await outcome(kubernetesInventory, 's', env)
    expect({ ids, error }).toEqual({ ids: [ID], error: '' })
    expect(new Set(seen)).toEqual(new Set([`Bearer ${SECRET}`]))
    expect(await runs()).toBe(1)
    expect(shown).not.toContain(SECRET)
  })

  it('is looked for on the PATH, and has its arguments and variables', async () => {
    const seen = server()
    const { env, path } = await withProgram(
      `joined=$(echo "$1" | tr ' ' _)\n${compute(credential({ token: '$joined-$OWN' }))}`,
      { command: 'plugin', args: ['one two'], env: [{ name: 'OWN', value: 'three' }] },
    )
    const { error } = await outcome(kubernetesInventory, 's', { ...env, PATH: `${path('.')}:${process.env.PATH}` })
    expect(error).toBe('')
    expect(seen[0]).toBe('Bearer one_two-three')
  })

  it('is run again when its credentials have run out', async () => {
    let time = Date.parse('2026-01-01T00:00:00Z')
    const seen = server(() => {
      time += 40_000
      return true
    })
    const until = (second: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + second * 1000).toISOString()
    const { env, runs } = await withProgram(
      `${COUNT}\nif [ $n = 1 ]; then\n${print(credential({ token: 'first', expirationTimestamp: until(60) }))}\nelse\n` +
        `${print(credential({ token: 'second', expirationTimestamp: until(3600) }))}\nfi`,
    )
    expect((await outcome(kubernetesInventory, 's', env, { now: () => new Date(time) })).ids).toEqual([ID])
    expect(await runs()).toBe(2)
    expect(seen.slice(0, 2)).toEqual(['Bearer first', 'Bearer first'])
    expect(new Set(seen.slice(2))).toEqual(new Set(['Bearer second']))
  })

  it('is run again, once, when the server refuses what it gave', async () => {
    const seen = server((token, count) => count < 3 || token === 'Bearer run-2')
    const { env, runs } = await withProgram(`${COUNT}\n${compute(credential({ token: 'run-$n' }))}`)
    expect((await outcome(kubernetesInventory, 's', env)).ids).toEqual([ID])
    expect(await runs()).toBe(2)
    expect(seen.at(-1)).toBe('Bearer run-2')
  })

  it('that the server never takes ends the discovery, without the token', async () => {
    server(() => false)
    const { env, runs } = await withProgram(print(credential({ token: SECRET })))
    const { error } = await outcome(kubernetesInventory, 's', env)
    expect(error).toBe('401 from Kubernetes API: Unauthorized: (sensitive value)')
    expect(await runs()).toBe(2)
  })

  it('is told of the cluster when it asks, and nothing else of the service', async () => {
    server()
    vi.stubEnv('OF_THE_SERVICE', 'private')
    const extension = { name: 'client.authentication.k8s.io/exec', extension: { audience: 'shop' } }
    const { env, path } = await withProgram(
      `env > "$(dirname "$0")/seen"\n${print(credential({ token: 'x' }))}`,
      { provideClusterInfo: true },
      { extensions: [{ name: 'other', extension: 1 }, extension] },
    )
    const more = { KUBE_USERS_SECRET: 'private', ARM_CLIENT_SECRET: 'private', AWS_PROFILE: 'work', HOME: '/home/me' }
    expect((await outcome(kubernetesInventory, 's', { ...env, ...more })).error).toBe('')
    vi.unstubAllEnvs()
    const seen = await readFile(path('seen'), 'utf8')
    expect(seen).not.toContain('private')
    for (const line of ['AWS_PROFILE=work\n', 'HOME=/home/me\n']) expect(seen).toContain(line)
    expect(JSON.parse(/^KUBERNETES_EXEC_INFO=(.*)$/m.exec(seen)?.[1] ?? '')).toEqual({
      kind: 'ExecCredential',
      apiVersion: V1,
      spec: { interactive: false, cluster: { server: SERVER, config: { audience: 'shop' } } },
    })
  })

  const FORM = 'does not print an ExecCredential of its apiVersion with a token, or with a certificate and its key'
  const MISSING = 'was not found; install it where this service runs, or set KUBE_TOKEN'
  const EXPIRED = { token: SECRET, expirationTimestamp: '2020-01-01T00:00:00Z' }
  const BY_HAND = 'run it by hand as the user of this service to see why'
  it.each<[string, string, object, string]>([
    ['fails', `echo ${SECRET} >&2; echo ${SECRET}; exit 3`, {}, `failed with exit code 3; ${BY_HAND}`],
    ['prints rubbish', `echo ${SECRET}`, {}, FORM],
    ['prints nothing', '', {}, FORM],
    ['prints another version', print(credential({ token: SECRET }, `${V1}beta1`)), {}, FORM],
    ['prints no credentials', print(credential({})), {}, FORM],
    ['prints a certificate without a key', print(credential({ clientCertificateData: SECRET })), {}, FORM],
    ['prints a date that is none', print(credential({ token: SECRET, expirationTimestamp: 'soon' })), {}, FORM],
    ['prints what has expired', print(credential(EXPIRED)), {}, 'prints credentials that have expired'],
    ['prints too much', 'yes', {}, `printed more than 256 KiB; ${BY_HAND}`],
    ['is not there', '', { command: 'no-such-program' }, MISSING],
    ['is no program', '', { command: './config' }, `could not be started (EACCES); ${BY_HAND}`],
    ['has no command', '', { command: '' }, 'has no command'],
    ['needs a terminal', '', { interactiveMode: 'Always' }, 'needs a terminal, which this service does not have'],
    ['is of another form', '', { apiVersion: `${V1}alpha1` }, `has an apiVersion that is neither ${V1} nor ${V1}beta1`],
  ])('that %s is a clear error and shows no output', async (_name, lines, exec, reason) => {
    const { env } = await withProgram(lines, exec)
    const { error, shown } = await outcome(kubernetesInventory, 's', env)
    expect(error).toBe(`${WHAT} ${reason}`)
    expect(shown).not.toContain(SECRET)
  })
})

describe('a program that does not end', () => {
  const rest = { apiVersion: V1, args: [], env: [], interactiveMode: '', provideClusterInfo: false }
  const cluster = { server: SERVER, ca: '', serverName: '', insecure: false, config: null }
  const ended = (pid: number) => vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 5_000)
  const hanging = `sleep 60 &\necho $! > "$(dirname "$0")/child"\nwait`

  it('is killed with what it has started', async () => {
    const { path, env } = await withProgram(hanging)
    const run = runExecPlugin(inventoryRequest('s', env), 'u', { ...rest, command: path('plugin') }, cluster, 1_000)
    await expect(run).rejects.toThrow(`${WHAT} gave no answer within 1 s; run it by hand`)
    const child = Number(await readFile(path('child'), 'utf8'))
    expect(child).toBeGreaterThan(1)
    await ended(child)
  })

  it('is killed when the job ends', async () => {
    const { path, env } = await withProgram(hanging)
    const job = new AbortController()
    const request = inventoryRequest('s', env, { signal: job.signal })
    const run = runExecPlugin(request, 'u', { ...rest, command: path('plugin') }, cluster)
    run.catch(() => undefined)
    const child = await vi.waitFor(async () => {
      const text = await readFile(path('child'), 'utf8')
      expect(text).toMatch(/\n$/)
      return Number(text)
    }, 5_000)
    job.abort(new Error('the job is over'))
    await expect(run).rejects.toThrow('the job is over')
    await ended(child)
  })
})
