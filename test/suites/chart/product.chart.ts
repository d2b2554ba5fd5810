import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { configWarnings } from '../../../config/check.ts'
import { loadConfig } from '../../../config/load.ts'
import { createHealthRoutes } from '../../../routes/health.ts'
import { readSettings as readAuthz } from '../../../sidecars/authz/main.ts'
import { readSettings as readIac } from '../../../sidecars/iac/settings.ts'
import { readSettings as readMapping } from '../../../sidecars/mapping/main.ts'
import { readSettings as readNotifications } from '../../../sidecars/notifications/main.ts'
import { createSidecarApp } from '../../../sidecars/shared/http.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { isPriced } from '../../../src/llm/prices.ts'
import { readRuleIds } from '../../../src/rules/ids.ts'
import { readAddress, readMetricsAddress } from '../../../src/runtime/boot.ts'
import { readFields } from './config-schema.ts'
import {
  type Container,
  chartTools,
  containersOf,
  EXAMPLES,
  type Manifest,
  ofKind,
  podsOf,
  render,
} from './rendered.ts'

const { helm } = chartTools()
const fields = new Set(await readFields())
const releases = new Map(await Promise.all(EXAMPLES.map(async (name) => [name, await render(helm, name)] as const)))
const releaseOf = (name: string) => releases.get(name) ?? []

/** Read by the runtimes and their libraries, not by the platform. */
const OF_THE_RUNTIME = ['HOME', 'NODE_EXTRA_CA_CERTS']

/** What a pod of an operator would have for a key of a Secret. */
const VALUES: Record<string, string> = {
  PLATFORM_SQL_DATABASE_URL: 'postgresql://platform:secret@db:5432/platform',
  PLATFORM_SQL_DIRECT_URL: 'postgresql://platform:secret@db:5432/platform',
  PLATFORM_REDIS_URL: 'redis://:secret@cache:6379/0',
  CHAT_WEBHOOK_URL: 'https://chat.example.com/hook',
  SMTP_URL: 'smtps://mail.example.com',
  NOTIFICATIONS_WEBHOOK_URL: 'https://example.com/hook',
}

/** The environment of a container, and a set that tells which of it was read. */
function environmentOf({ env }: Container): { env: Record<string, string | undefined>; read: Set<string> } {
  const given = Object.fromEntries(
    env.map(({ name, value }) => [name, value ?? VALUES[name] ?? `value-of-${name.toLowerCase()}-with-32-characters`]),
  )
  const read = new Set<string>()
  const note = (name: string | symbol) => {
    if (typeof name === 'string') read.add(name)
  }
  const watched = new Proxy(given, {
    get: (target, name) => {
      note(name)
      return Reflect.get(target, name)
    },
    // `Object.hasOwn` asks in this way.
    getOwnPropertyDescriptor: (target, name) => {
      note(name)
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
  })
  return { env: watched, read }
}

const filesOf = (manifests: readonly Manifest[]): Record<string, string> =>
  ofKind(manifests, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith('-config'))?.data ?? {}

const containers = EXAMPLES.flatMap((release) =>
  [...podsOf(releaseOf(release)).values()].flatMap((pod) =>
    containersOf(pod).map((container) => ({ release, name: container.name, container })),
  ),
)

describe('the environment of', () => {
  it.each(
    containers.filter(({ name }) => ['core', 'worker'].includes(name)),
  )('the $name of $release starts the process, which reads every variable', async ({ release, name, container }) => {
    const { env, read } = environmentOf(container)
    const files = filesOf(releaseOf(release))
    const readFileOf = async (path: string) => files[path.replace('/etc/platform/', '')] ?? null
    const config = await loadConfig(env, readFileOf, readRuleIds, isPriced)
    const address = { port: 'PLATFORM_PORT', host: 'PLATFORM_HOST' }
    const metrics = readMetricsAddress(env)
    if (name === 'core')
      expect(readAddress(env, address, { port: '1', host: 'none' })).toEqual({ port: 8000, hostname: '0.0.0.0' })
    expect(metrics).toEqual({ port: 9100, hostname: '0.0.0.0' })
    // Credentials of models are read by name when a model is called.
    const ofModels = container.env.flatMap(({ name: each }) =>
      /^(VERTEXAI|GOOGLE|ANTHROPIC|OPENAI|CUSTOM_OPENAI)_/.test(each) ? [each] : [],
    )
    const unread = container.env
      .map(({ name: each }) => each)
      .filter((each) => !read.has(each) && ![...OF_THE_RUNTIME, ...ofModels].includes(each))
    expect(unread).toEqual([])
    expect(config.paths.git_folder).toBe('/git')
    expect(
      configWarnings(config).filter((warning) => !/git user|services.authz is enabled and not/.test(warning)),
    ).toEqual([])
  })

  it.each(
    containers.filter(({ name }) => !['core', 'worker'].includes(name)),
  )('the $name of $release starts the service, which reads every variable', ({ name, container }) => {
    const readers = { iac: readIac, authz: readAuthz, mapping: readMapping, notifications: readNotifications }
    const { env, read } = environmentOf(container)
    const settings = readers[name as keyof typeof readers](env)
    expect(settings.token).not.toBe('')
    const unread = container.env.map((each) => each.name).filter((each) => !read.has(each))
    expect(unread.filter((each) => !OF_THE_RUNTIME.includes(each))).toEqual([])
  })
})

/** The dotted names of a file, down to the fields of the product; what is below a field is its value. */
function keysOf(value: unknown, path = ''): string[] {
  if (fields.has(path) || typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([key, inner]) => keysOf(inner, path === '' ? key : `${path}.${key}`))
}

describe('the configuration file', () => {
  it.each(EXAMPLES)('of %s has known keys alone', (name) => {
    const keys = keysOf(parse(filesOf(releaseOf(name))['config.yaml'] ?? ''))
    expect(keys.length).toBeGreaterThan(10)
    expect(keys.filter((key) => !fields.has(key))).toEqual([])
  })

  it('with an unknown key would be seen', () => {
    const keys = keysOf({ storage: { bucket: 'b', buckets: 'c' }, llm: { prices: { x: { input: 1 } } } })
    expect(keys.filter((key) => !fields.has(key))).toEqual(['storage.buckets'])
  })

  it('has the text of a value as it is, also where it looks like a number', async () => {
    const set = ['config.access={"scopes":{"012345678901":["github.com/acme/*"]}}', 'config.oidc.client_id="0123"']
    const config = parse(filesOf(await render(helm, 'minimal', set))['config.yaml'] ?? '')
    expect([config.access.scopes, config.oidc.client_id]).toEqual([{ '012345678901': ['github.com/acme/*'] }, '0123'])
  })
})

describe('the probes', () => {
  const pathsOf = (app: { routes: { path: string }[] }) => new Set(app.routes.map(({ path }) => path))
  const ofCore = pathsOf(createHealthRoutes())
  const ofSidecars = pathsOf(createSidecarApp({ token: 'token', log: silentLogger }))
  it.each(containers)('of $name of $release ask for what it answers', ({ name, container }) => {
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe].flatMap(
      (each) => each ?? [],
    )
    expect(probes.length).toBeGreaterThan(0)
    for (const { httpGet, tcpSocket, exec } of probes) {
      const path = httpGet?.path ?? (exec && /127\.0\.0\.1:8082(\/\w+)/.exec(exec.command.join(' '))?.[1])
      if (path) expect([name, (name === 'core' ? ofCore : ofSidecars).has(path)]).toEqual([name, true])
      else expect(tcpSocket).toEqual({ port: 'metrics' })
    }
  })

  it('of the core ask whether it may have traffic, and whether it lives', () => {
    const core = podsOf(releaseOf('keda')).get('core')?.containers[0]
    expect([core?.readinessProbe?.httpGet?.path, core?.livenessProbe?.httpGet?.path]).toEqual(['/readyz', '/healthz'])
  })
})

it('every container runs the image of its process, whose command it leaves as it is', async () => {
  const sidecars = ['authz', 'mapping', 'notifications']
  const file = await readFile(new URL('../../../Dockerfile', import.meta.url), 'utf8')
  const targets = [...file.matchAll(/^FROM image AS (\S+)$/gm)].map(([, name]) => name)
  for (const { release, name, container } of containers) {
    const [, target] = /(?:^|\/)platform-([a-z-]+):/.exec(container.image) ?? []
    const variant = release === 'deno' && name === 'core' ? 'core-deno' : name
    expect(targets).toContain(target)
    expect([name, target]).toEqual([name, sidecars.includes(name) ? 'sidecars' : variant])
    // One image has all three sidecars.
    expect([name, container.command !== undefined]).toEqual([name, sidecars.includes(name)])
  }
  const [core] = containers.filter(({ release, name }) => release === 'deno' && name === 'core')
  expect(core?.container.image).toMatch(/^registry\.example\.com\/platform-core-deno:0\.0\.0-dev@sha256:0{64}$/)
})
