import { expect, test } from 'vitest'
import { attack } from './attack.ts'
import { type ComposeService, readCompose, readShipped } from './shipped-files.ts'

const GROUP = 'shipped defaults: the deployment'
const text = await readShipped('compose.yaml')
const compose = readCompose(text)
const services = Object.entries(compose.services)
const names = services.map(([name]) => name)

/** Targets of the Dockerfile for the project's processes. */
const BUILT: Record<string, string> = {
  ...{ core: 'core', worker: 'worker', iac: 'iac' },
  ...{ authz: 'sidecars', mapping: 'sidecars', notifications: 'sidecars' },
}
/** Users of the project's processes. Every other image has its own. */
const USERS: Record<string, string> = {
  core: '10001:10000',
  worker: '10002:10000',
  iac: '10003:10000',
  authz: '10004:10000',
  mapping: '10004:10000',
  notifications: '10004:10000',
}
const PRIVILEGES = ['no-new-privileges:true']
/** Additional permissions of the iac service for its sandbox. */
const FOR_SANDBOX = ['seccomp=unconfined', 'apparmor=unconfined', 'systempaths=unconfined']

/** Lists the services that share a network with a service. */
function peersOf(name: string): string[] {
  const own = new Set(compose.services[name]?.networks)
  return names.filter((other) => other !== name && compose.services[other]?.networks.some((net) => own.has(net)))
}
const mountsOf = (volume: string) =>
  services.flatMap(([name, { volumes }]) =>
    volumes.filter((mount) => mount.startsWith(`${volume}:`)).map((mount) => `${name} ${mount}`),
  )
const commandOf = ({ entrypoint = [], command = [] }: ComposeService) => [entrypoint, command].flat().join(' ')

/** Returns the form in compose.yaml of a variable that must not be blank in .env. */
const required = (name: string) => `\${${name}:?}`

/** True for a tag of one release with its digest. */
const isPinned = (image: string) => /:(version-)?\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?@sha256:[0-9a-f]{64}$/.test(image)
/** An image whose digest only its registry knows. */
const BY_TAG = 'arizephoenix/phoenix:version-19.19.0-nonroot'

attack(GROUP, 'a service that leaves out one of the restrictions, or asks for more', async () => {
  for (const [name, service] of services) {
    expect([name, service.user]).toEqual([name, USERS[name] ?? expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/)])
    expect([name, service.security_opt]).toEqual([name, name === 'iac' ? [...PRIVILEGES, ...FOR_SANDBOX] : PRIVILEGES])
    expect([name, service.devices ?? []]).toEqual([name, name === 'iac' ? ['/dev/net/tun:/dev/net/tun'] : []])
  }
  const open = (line: string) => text.replace('  core:\n', `  core:\n    ${line}\n`)
  for (const line of ['privileged: true', 'cap_add: [SYS_ADMIN]', 'network_mode: host', 'pid: host'])
    expect(() => readCompose(open(line))).toThrow('Invalid key')
  for (const line of ['read_only: false', 'init: false', 'cap_drop: []'])
    expect(() => readCompose(open(line))).toThrow()
  expect(() => readCompose(`${text}\n`.replace('services:\n', 'services:\n  added: { image: "a:1.2.3" }\n'))).toThrow()
  return `all ${names.length} services: read-only, no capability, no new privileges, a user other than root`
})

attack(GROUP, 'a port that another machine can reach', async () => {
  const published = services.flatMap(([name, { ports }]) => ports.map((port) => `${name} ${port}`))
  expect(published.sort()).toEqual([
    'core 127.0.0.1:8000:8000',
    'object-storage 127.0.0.1:9000:9000',
    'phoenix 127.0.0.1:6006:6006',
  ])
  return `${published.length} ports are published, all on 127.0.0.1`
})

attack(GROUP, 'an engine that calls database, cache, prompt registry or core', async () => {
  expect(compose.services.iac?.networks).toEqual(['engine'])
  expect(peersOf('iac').sort()).toEqual(['object-storage', 'worker'])
  return 'the iac service shares a network with worker and object store alone'
})

attack(GROUP, 'a database or cache that the outside reaches, or that reaches the outside', async () => {
  expect(compose.networks).toEqual({ edge: null, data: { internal: true }, engine: null })
  for (const name of ['postgres', 'redis']) expect(compose.services[name]?.networks).toEqual(['data'])
  expect(peersOf('postgres').sort()).toEqual(['core', 'redis', 'worker'])
  return 'both are on an internal network with core and worker alone'
})

attack(GROUP, 'a folder of one process that another one mounts', async () => {
  expect(mountsOf('workspaces')).toEqual(['worker workspaces:/workspaces', 'iac workspaces:/workspaces'])
  expect(mountsOf('git')).toEqual(['worker git:/git'])
  expect(mountsOf('iac')).toEqual(['iac iac:/data'])
  for (const volume of Object.keys(compose.volumes).filter((name) => name !== 'workspaces'))
    expect([volume, mountsOf(volume).length]).toEqual([volume, 1])
  for (const [name, { volumes }] of services)
    for (const mount of volumes)
      expect([name, Object.keys(compose.volumes)]).toEqual([name, expect.arrayContaining([mount.split(':')[0]])])
  return 'only /workspaces is shared, by worker and iac service; nothing of the host is mounted'
})

attack(GROUP, 'files that the worker or the iac service makes for everybody', async () => {
  const dockerfile = await readShipped('Dockerfile')
  for (const name of ['worker', 'iac']) {
    expect(commandOf(compose.services[name] as ComposeService)).toBe('')
    const [, rest = ''] = dockerfile.split(` AS ${name}\n`)
    const entry = rest
      .slice(0, rest.indexOf('\nFROM '))
      .split('\n')
      .find((line) => line.startsWith('ENTRYPOINT'))
    expect([name, entry]).toEqual([name, expect.stringMatching(/^ENTRYPOINT \["sh", "-c", "umask 0007 && exec node /)])
  }
  return 'both run with the umask 0007: the group of the two has access, nobody else'
})

attack(GROUP, 'a cache without a password', async () => {
  const { redis } = compose.services
  expect(commandOf(redis as ComposeService)).toMatch(/'requirepass %s\\n' "\$\$REDISCLI_AUTH" > \/tmp\/redis\.conf/)
  expect(redis?.environment).toEqual({ REDISCLI_AUTH: required('REDIS_PASSWORD') })
  for (const name of ['core', 'worker'])
    expect(compose.services[name]?.environment?.PLATFORM_REDIS_URL).toBe(
      `redis://:${required('REDIS_PASSWORD')}@redis:6379/0`,
    )
  return 'redis requires REDIS_PASSWORD of .env'
})

attack(GROUP, 'a prompt registry that anybody may write to', async () => {
  expect(compose.services.phoenix?.environment).toMatchObject({
    PHOENIX_ENABLE_AUTH: 'true',
    PHOENIX_SECRET: required('PHOENIX_SECRET'),
    PHOENIX_ADMIN_SECRET: required('PLATFORM_COLLECTOR_API_KEY'),
    PHOENIX_DEFAULT_ADMIN_INITIAL_PASSWORD: required('PHOENIX_ADMIN_PASSWORD'),
  })
  for (const name of ['core', 'worker'])
    expect(compose.services[name]?.environment?.PLATFORM_COLLECTOR_API_KEY).toBe(required('PLATFORM_COLLECTOR_API_KEY'))
  return 'phoenix has its authentication on, with secrets of .env'
})

attack(GROUP, 'a secret that is blank or has a value of its own in the file', async () => {
  const fromFile = new Set<string>()
  for (const [name, { environment = {}, entrypoint }] of services)
    for (const [variable, value] of Object.entries(environment)) {
      if (!/PASSWORD|SECRET|TOKEN|_KEY|CLI_AUTH$|_URL$/.test(variable) || value === null) continue
      const sources = [...value.matchAll(/\$\{(\w+)(:\?|:-)\}/g)]
      expect([name, variable, sources.length]).toEqual([name, variable, 1])
      const [, source = '', rule] = sources[0] ?? []
      if (rule === ':?') fromFile.add(source)
      // A webhook may be absent. A sidecar with a blank token must not start.
      else if (variable !== 'CHAT_WEBHOOK_URL')
        expect([entrypoint].flat().join(' ')).toContain(`: "$\${${source}:?}" && exec `)
    }
  const example = await readShipped('.env.example')
  for (const source of fromFile) expect(example).toMatch(new RegExp(`^${source}=$`, 'm'))
  expect(fromFile.size).toBe(8)
  return `${fromFile.size} secrets come from .env; compose starts nothing while one is blank`
})

attack(GROUP, 'an image that somebody replaces under its name', async () => {
  for (const [name, { image, build, pull_policy }] of services)
    if (build === undefined) expect([name, isPinned(image) || image === BY_TAG]).toEqual([name, true])
    else
      expect([name, build.target, image, pull_policy]).toEqual([
        ...[name, BUILT[name], `platform-${BUILT[name]}:local`, 'build'],
      ])
  const digest = `sha256:${'a'.repeat(64)}`
  for (const image of ['postgres:18.4', `postgres:18@${digest}`, `redis@${digest}`, 'rustfs/rustfs:1.0.0@sha256:12'])
    expect([image, isPinned(image)]).toEqual([image, false])
  return `every image is built here or named by version and digest; by tag alone: ${BY_TAG}`
})

test('the core is told to listen beyond loopback, and its port is published on loopback', () => {
  expect(compose.services.core?.environment?.PLATFORM_HOST).toBe('0.0.0.0')
})
