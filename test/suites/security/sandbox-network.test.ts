import { readFileSync } from 'node:fs'
import { access, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { childrenOf } from '../../../src/runtime/process-identity.ts'
import { eventually } from '../../helpers/eventually.ts'
import { SCOPE, startTestService, type TestService, temporaryFolder } from '../../sidecars/iac/service.ts'
import { attackSandbox, BOXED, HAS_SANDBOX, runHostile } from './sandboxed.ts'

const GROUP = 'connections of engines and their programs'

let service: TestService
let allowed: Listener
let closed: Listener
let byPath: Listener
let abstract: Listener

beforeAll(async () => {
  const folder = await temporaryFolder()
  // Every address of the machine, of both versions.
  closed = await listen({ port: 0, host: '::' })
  allowed = await listen({ port: 0, host: '127.0.0.1' })
  byPath = await listen({ path: join(folder, 'docker.sock') })
  abstract = await listen({ path: '\0platform-security-test' })
  if (HAS_SANDBOX)
    service = await startTestService({
      ...BOXED,
      IAC_ALLOW_HOST_PROGRAMS: 'true',
      IAC_EGRESS_ALLOW: `127.0.0.1:${allowed.port}`,
    })
})
afterAll(async () => {
  await Promise.all([service?.close(), ...[closed, allowed, byPath, abstract].map((each) => each.close())])
})
beforeEach(() => {
  for (const each of [closed, allowed, byPath, abstract]) each.connections = 0
})

const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).filter(({ internal }) => !internal))
const ownV4 = own.find(({ family }) => family === 'IPv4')?.address ?? '127.0.0.1'

/** Spellings of addresses that lead to this machine. */
const SPELLINGS = [
  '127.0.0.1',
  'localhost',
  '127.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0.0.0.0',
  '0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  ownV4,
  `[::ffff:${ownV4}]`,
  ...own.filter(({ family, scopeid }) => family === 'IPv6' && !scopeid).map(({ address }) => `[${address}]`),
]

for (const host of SPELLINGS)
  attackSandbox(GROUP, `a state backend on this machine as ${host}`, async () => {
    const text = await initWithBackend(`http://${host}:${closed.port}/state`)
    expect(closed.connections).toBe(0)
    return text
  })

for (const address of [
  '169.254.169.254',
  '169.254.170.2',
  '10.0.0.1',
  '172.17.0.1',
  '192.168.0.1',
  '100.100.100.200',
  '[fd00:ec2::254]',
  '[fe80::1]',
])
  attackSandbox(GROUP, `metadata and private networks: ${address}`, async () => {
    const started = performance.now()
    const text = await initWithBackend(`http://${address}/state`)
    // The route is refused. An address without a host would take minutes.
    expect(performance.now() - started).toBeLessThan(20_000)
    expect(text).toMatch(/refused|unreachable|prohibited|denied|no route|invalid argument/i)
    return text
  })

attackSandbox(GROUP, 'a program connects to this machine', async () => {
  const hosts = ['127.0.0.1', 'localhost', '0.0.0.0', ownV4, '::1', '127.0.0.53']
  const lines = hosts.map((host) => `bash -c 'exec 3<>/dev/tcp/${host}/${closed.port}' && echo CONNECTED ${host}`)
  const { output } = await runHostile(service, `${lines.join('\n')}\necho end`)
  expect(output).toContain('end')
  expect(output).not.toContain('CONNECTED')
  expect(closed.connections).toBe(0)
  return output.split('\n').find((line) => line.includes('refused')) ?? 'refused'
})

/** Listens on a port and an abstract name, connects to both itself, and goes on until its workspace has a file `stop`. */
const LISTENS = `perl -MIO::Socket::INET -MIO::Socket::UNIX -e '
  my $tcp = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 38461, Listen => 5) or die $!;
  my $unix = IO::Socket::UNIX->new(Local => "\\0platform-job", Listen => 5) or die $!;
  print IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => 38461) ? "itself\\n" : "closed: $!\\n";
  print IO::Socket::UNIX->new(Peer => "\\0platform-job") ? "itself\\n" : "closed: $!\\n";
  open(my $file, ">", "listening"); close($file);
  select(undef, undef, undef, 0.05) until -e "stop";
'`
const CONNECTS = `perl -MIO::Socket::INET -MIO::Socket::UNIX -e '
  for my $host ("127.0.0.1", "localhost", "0.0.0.0", "169.254.53.53") {
    print IO::Socket::INET->new(PeerAddr => $host, PeerPort => 38461, Timeout => 3) ? "CONNECTED\\n" : "closed: $!\\n";
  }
  print IO::Socket::UNIX->new(Peer => "\\0platform-job") ? "CONNECTED\\n" : "closed: $!\\n";
'`

/** Lists the processes that hold network namespaces of this test's services. */
const namespaces = () =>
  childrenOf(process.pid).filter((pid) => /^pas(ta|st)/.test(readFileSync(`/proc/${pid}/comm`, 'utf8')))

attackSandbox(GROUP, 'a job connects to what another job at the same time listens on', async () => {
  const workspace = await service.workspace()
  const first = runHostile(service, LISTENS, { workspace })
  await eventually(() => access(join(workspace, 'listening')))
  const { output } = await runHostile(service, CONNECTS)
  // One of the job that listens, one that is open ahead, and that of the other workspace, which waits for its next job.
  await eventually(() => expect(namespaces()).toHaveLength(3))
  await writeFile(join(workspace, 'stop'), '')
  const lines = (text: string) => text.split('\n').slice(1)
  expect(lines((await first).output)).toEqual(['itself', 'itself'])
  expect(lines(output)).toEqual(Array.from({ length: 5 }, () => expect.stringMatching(/^closed: /)))
  // Those without a next job end.
  await eventually(() => expect(namespaces()).toHaveLength(1))
  return lines(output).join(', ')
})

attackSandbox(GROUP, 'a job connects to what an earlier job of its workspace has left behind', async () => {
  const left = LISTENS.replace(/^perl /, 'setsid perl ')
  const script = `(${left} >/dev/null 2>&1 &)\nuntil [ -e listening ]; do sleep 0.05; done\necho left`
  const { workspace, output: first } = await runHostile(service, script)
  expect(first).toContain('left')
  await rm(join(workspace, 'terraform.tfstate'))
  const open = namespaces()
  const { output } = await runHostile(service, CONNECTS, { workspace })
  // The commands have used the namespace of the earlier ones.
  expect(namespaces().sort()).toEqual(open.sort())
  const lines = output.split('\n').slice(1)
  expect(lines).toEqual(Array.from({ length: 5 }, () => expect.stringMatching(/^closed: /)))
  return lines.join(', ')
})

attackSandbox(GROUP, 'a program connects to unix sockets of this machine, by path and by abstract name', async () => {
  const script = `perl -MIO::Socket::UNIX -e 'for my $p ("${byPath.path}", "\\0platform-security-test") { print IO::Socket::UNIX->new(Peer => $p) ? "CONNECTED\\n" : "closed: $!\\n" }'`
  const { output } = await runHostile(service, script)
  expect(output).not.toContain('CONNECTED')
  expect(byPath.connections + abstract.connections).toBe(0)
  expect(output.match(/closed: /g)).toHaveLength(2)
  return output
    .split('\n')
    .filter((line) => line.startsWith('closed'))
    .join(', ')
})

attackSandbox(GROUP, 'a program opens the network again: addresses, routes, rules', async () => {
  const script =
    'ip addr add 10.9.8.7/32 dev lo && echo CHANGED; ip rule flush && echo CHANGED; ip rule del priority 100 && echo CHANGED; ' +
    'ip route add 10.0.0.0/8 dev lo && echo CHANGED; echo end'
  const { output } = await runHostile(service, script)
  expect(output).toContain('end')
  expect(output).not.toContain('CHANGED')
  return output.split('\n').find((line) => /permitted/.test(line)) ?? 'not permitted'
})

attackSandbox(GROUP, 'what the operator allows is reached, and nothing beside it', async () => {
  const text = await initWithBackend(`http://127.0.0.1:${allowed.port}/state`)
  expect(allowed.connections).toBeGreaterThan(0)
  expect(closed.connections).toBe(0)
  return `the allowed port answered (${text.slice(0, 30)}), the other one was not asked`
})

/** Runs init on a backend at this address. Returns the first line of the engine's error. */
async function initWithBackend(address: string): Promise<string> {
  const backend = `terraform {\n  backend "http" {\n    address   = "${address}"\n    retry_max = 0\n  }\n}\n`
  const path = await service.workspace({ 'main.tf': backend, 'output.tf': 'output "x" {\n  value = 1\n}\n' })
  const init = await service.run('/v1/init', { workspace_path: path, ...SCOPE })
  const plan = await service.run('/v1/plan', { workspace_path: path, ...SCOPE, plan_file: 'session.plan' })
  const text: string = (init.result?.stderr || plan.result?.stderr || '').replaceAll(/\s+/g, ' ')
  return /dial tcp.*|lookup .*/.exec(text)?.[0] ?? text
}

interface Listener {
  port: number
  path: string
  connections: number
  close(): Promise<void>
}

async function listen(at: { port: number; host: string } | { path: string }): Promise<Listener> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    listener.connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(at, resolve))
  const address = server.address()
  const listener: Listener = {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    path: 'path' in at ? at.path : '',
    connections: 0,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return listener
}
