import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { vi } from 'vitest'
import { ask, freePort, installation, launch, PASSWORD, spawnServer } from './server.ts'

export interface Member {
  port: number
  tls_port: number
  ask(command: string[]): Promise<unknown>
  kill(): Promise<void>
  restart(): Promise<void>
}

const wait = { timeout: 30_000, interval: 100 }

async function startMember(program: string, options: (port: number) => string[]): Promise<Member> {
  const [port, tls_port] = [await freePort(), await freePort()]
  const flags = options(port)
  let running = await launch(port, tls_port, flags, program)
  return {
    port,
    tls_port,
    ask: (command) => ask(port, command),
    kill: () => end(running),
    restart: async () => {
      running = await launch(port, tls_port, flags, program)
    },
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** Makes the certificate with which members show themselves to each other, and the flags for it. */
async function makeMemberCertificate(): Promise<string[]> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'member of the cluster' }])
  const file = (name: string) => join(installation.folder, `members.${name}`)
  await writeFile(file('crt'), cert)
  await writeFile(file('key'), key, { mode: 0o600 })
  await writeFile(file('ca'), `${await readFile(installation.ca_file, 'utf8')}\n${cert}`)
  return [
    ...['--tls-cluster', 'yes', '--tls-replication', 'yes', '--tls-ca-cert-file', file('ca')],
    ...['--tls-client-cert-file', file('crt'), '--tls-client-key-file', file('key')],
  ]
}

export interface Cluster {
  /** Three primaries, each with a third of the slots, then a replica of the first. */
  members: Member[]
  /** Address of all members. */
  url: string
  tls_url: string
  kill(): Promise<void>
}

/**
 * Starts a cluster of three primaries and one replica on loopback, which promotes the replica after a second.
 * @param options.tls the members announce their TLS ports
 */
export async function startCluster(program = installation.server, options: { tls?: boolean } = {}): Promise<Cluster> {
  const busPorts = [await freePort(), await freePort(), await freePort(), await freePort()]
  const members: Member[] = []
  const memberTls = options.tls ? await makeMemberCertificate() : []
  for (const bus of busPorts)
    members.push(
      await startMember(program, (port) => [
        ...['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${port}.conf`, '--cluster-port', `${bus}`],
        ...['--cluster-node-timeout', '1000', '--cluster-replica-validity-factor', '0'],
        ...(options.tls ? memberTls : []),
      ]),
    )
  const [first, second, third, replica] = members as [Member, Member, Member, Member]
  const slots = [
    [first, '0', '5460'],
    [second, '5461', '10922'],
    [third, '10923', '16383'],
  ] as const
  for (const [member, from, to] of slots) await member.ask(['CLUSTER', 'ADDSLOTSRANGE', from, to])
  for (const [index, member] of members.entries())
    if (member !== first) {
      const port = options.tls ? member.tls_port : member.port
      await first.ask(['CLUSTER', 'MEET', '127.0.0.1', String(port), String(busPorts[index])])
    }
  const hasAll = async (member: Member) =>
    String(await member.ask(['CLUSTER', 'NODES']))
      .trim()
      .split('\n').length === 4
  await vi.waitFor(async () => {
    for (const member of members) if (!(await hasAll(member))) throw new Error('the members do not know each other')
  }, wait)
  await replica.ask(['CLUSTER', 'REPLICATE', String(await first.ask(['CLUSTER', 'MYID']))])
  await vi.waitFor(async () => {
    for (const member of members)
      if (!String(await member.ask(['CLUSTER', 'INFO'])).includes('cluster_state:ok')) throw new Error('not ok')
    if (!String(await replica.ask(['INFO', 'replication'])).includes('master_link_status:up'))
      throw new Error('no link')
  }, wait)
  const login = `:${encodeURIComponent(PASSWORD)}@`
  return {
    members,
    url: `redis://${login}${members.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    tls_url: `rediss://${login}${members.map(({ tls_port }) => `127.0.0.1:${tls_port}`).join(',')}`,
    kill: async () => {
      for (const member of members) await member.kill()
    },
  }
}

export interface Watched {
  primary: Member
  replica: Member
  /** Ports of the sentinels. */
  sentinels: number[]
  url: string
  /** Kills one of the sentinels. */
  killSentinel(index: number): Promise<void>
  kill(): Promise<void>
}

export const SENTINEL_PASSWORD = 'watch%me'

/** Starts a primary, its replica and three sentinels on loopback, which promote the replica after a second. */
export async function startWatched(program = installation.server): Promise<Watched> {
  const primary = await startMember(program, () => [])
  const replica = await startMember(program, () => ['--replicaof', '127.0.0.1', String(primary.port)])
  await vi.waitFor(async () => {
    if (!String(await replica.ask(['INFO', 'replication'])).includes('master_link_status:up'))
      throw new Error('no link')
  }, wait)
  const sentinels: number[] = []
  const running: ChildProcess[] = []
  for (let index = 0; index < 3; index++) {
    const port = await freePort()
    const file = join(installation.folder, `sentinel-${port}.conf`)
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${installation.folder}`,
      `requirepass "${SENTINEL_PASSWORD}"`,
      `sentinel sentinel-pass "${SENTINEL_PASSWORD}"`,
      `sentinel monitor the-cache 127.0.0.1 ${primary.port} 2`,
      `sentinel auth-pass the-cache "${PASSWORD}"`,
      'sentinel down-after-milliseconds the-cache 1000',
      'sentinel failover-timeout the-cache 3000',
    ]
    await writeFile(file, `${lines.join('\n')}\n`)
    running.push(await spawnServer(program, [file, '--sentinel']))
    sentinels.push(port)
  }
  await vi.waitFor(async () => {
    const told = String(await askSentinel(sentinels[0] ?? 0, ['SENTINEL', 'MASTER', 'the-cache']))
    if (!/num-other-sentinels,2/.test(told) || !/num-slaves,1/.test(told)) throw new Error('not all are known yet')
  }, wait)
  const hosts = sentinels.map((port) => `127.0.0.1:${port}`).join(',')
  return {
    primary,
    replica,
    sentinels,
    url:
      `redis-sentinel://:${encodeURIComponent(PASSWORD)}@${hosts}/the-cache` +
      `?sentinel_password=${encodeURIComponent(SENTINEL_PASSWORD)}`,
    killSentinel: (index) => end(running[index] as ChildProcess),
    kill: async () => {
      for (const child of running) await end(child)
      await primary.kill()
      await replica.kill()
    },
  }
}

export const askSentinel = (port: number, command: string[]) => ask(port, command, 0, SENTINEL_PASSWORD)
