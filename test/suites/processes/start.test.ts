import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { readRecord, runningStack, type StackRecord } from '../../../dev/stack/data-folder.ts'
import { isAlive } from '../../../src/runtime/process-identity.ts'

let root: string
let folder: string
const launchers: Launcher[] = []

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'start-test-'))
  // As root the database server is another user, whose data would be elsewhere without this.
  await chmod(root, 0o755)
  folder = join(root, 'data')
})
afterEach(async () => {
  for (const launcher of launchers.splice(0)) if (launcher.process.exitCode === null) await launcher.end('SIGTERM')
})
afterAll(() => rm(root, { recursive: true, force: true }))

interface Launcher {
  process: ChildProcess
  output(): string
  said(text: string | RegExp): Promise<void>
  ended: Promise<number | null>
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Runs a script of the embedded stack as npm does. */
function launch(script: string, args: string[], env: Record<string, string> = {}): Launcher {
  const { PATH, HOME, TMPDIR } = process.env
  const shell = { PATH, HOME, ...(TMPDIR && { TMPDIR }), PLATFORM_PORT: '0', ...env }
  const child = spawn(process.execPath, [script, '--data', folder, ...args], {
    env: shell,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text += chunk
      for (const listener of listeners) listener()
    })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const said = (wanted: string | RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (wanted instanceof RegExp ? wanted.test(text) : text.includes(wanted)) resolve()
      }
      listeners.add(look)
      look()
      void ended.then(() => reject(new Error(`ended without saying ${wanted}:\n${text}`)))
    })
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return ended
  }
  const launcher = { process: child, output: () => text, said, ended, end }
  launchers.push(launcher)
  return launcher
}

const record = (): StackRecord => readRecord(folder) ?? expect.fail('no stack is recorded')
const alive = (stack: StackRecord) => stack.children.filter((child) => isAlive(child)).map((child) => child.name)

test('starts, refuses a second one, survives its own kill -9, stops everything', async () => {
  const first = launch('dev/start.ts', ['--embedded'])
  await first.said('everything is ready')
  const before = record()
  expect(before.children.map((child) => child.name).sort()).toEqual(['core', 'iac', 'worker'])
  expect(first.output()).toContain('/samples/web-platform.git')
  expect(first.output()).toContain('plays recorded requests')
  for (const route of ['generate', 'drift', 'import', 'apply'])
    expect(first.output()).toContain(`/api/v1/iac/${route} `)
  expect((await fetch(`${before.ready?.url}/readyz`)).status).toBe(200)
  const secrets = JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8')) as Record<string, string>
  for (const secret of Object.values(secrets)) expect(first.output()).not.toContain(secret)

  const second = launch('dev/start.ts', ['--embedded'])
  expect(await second.ended).toBe(1)
  expect(second.output()).toContain('The stack already runs on')
  expect(alive(before)).toHaveLength(3)

  await first.end('SIGKILL')
  expect(alive(before)).toHaveLength(3)
  expect(runningStack(folder)).toBeNull()

  const third = launch('dev/start.ts', ['--embedded'])
  await third.said('everything is ready')
  expect(third.output()).toContain('ending what an earlier run left behind')
  expect(alive(before)).toEqual([])
  const after = record()
  expect(after.ready?.git_host).toEqual(before.ready?.git_host)

  // A terminal and npm may both deliver one Ctrl-C.
  third.process.kill('SIGINT')
  await third.said('SIGINT: stopping')
  expect(await third.end('SIGINT')).toBe(0)
  expect(alive(after)).toEqual([])
  expect(readRecord(folder)).toBeNull()
  await expect(fetch(`${after.ready?.url}/healthz`)).rejects.toThrow()
})

test('one process dies: it is named and everything else is stopped', async () => {
  const launcher = launch('dev/start.ts', ['--embedded'])
  await launcher.said('everything is ready')
  const stack = record()
  const worker = stack.children.find((child) => child.name === 'worker')
  process.kill(worker?.pid ?? 0, 'SIGKILL')
  expect(await launcher.ended).toBe(1)
  expect(launcher.output()).toContain('The process worker was ended by SIGKILL.')
  expect(alive(stack)).toEqual([])
  expect(readRecord(folder)).toBeNull()
})

test('no engine: the start fails with what to do, and leaves nothing running', async () => {
  const launcher = launch('dev/start.ts', ['--embedded'], { IAC_BINARY: '/nonexistent/engine' })
  expect(await launcher.ended).toBe(1)
  expect(launcher.output()).toMatch(/The process iac .*exit code 1/)
  expect(launcher.output()).toContain('/nonexistent/engine')
  expect(readRecord(folder)).toBeNull()
})

test('the demo: starts its own stack, completes, opens the pull request, downloads everything, stops', async () => {
  const demo = launch('dev/demo.ts', ['--json'])
  expect(await demo.ended, demo.output()).toBe(0)
  const lines = demo.output().trim().split('\n')
  const result = JSON.parse(lines.at(-1) ?? '')
  expect(Object.keys(result)).toEqual([
    ...[
      'session_id',
      'mode',
      'status',
      'statuses',
      'plan',
      'targets',
      'validation_attempts',
      'pull_request',
      'artifacts',
    ],
    ...['engine', 'duration_s', 'engine_s', 'model_s'],
    ...['platform_s', 'message', 'report', 'locked', 'checks', 'ok'],
  ])
  expect(result).toMatchObject({
    mode: 'generate',
    status: 'completed',
    plan: { create: 3, update: 0, delete: 0, replace: 0 },
    targets: [
      'terraform_data.orders_dead_letter_queue',
      'terraform_data.orders_queue',
      'terraform_data.orders_queue_alarm',
    ],
    validation_attempts: 2,
    pull_request: {
      status: 'open',
      url: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/samples\/web-platform\/pull\/\d+$/),
    },
  })
  expect(result.statuses.slice(0, 5)).toEqual(['started', 'filtering', 'generating', 'validating', 'generating'])
  expect(result.statuses.at(-1)).toBe('completed')
  expect(new Set(result.artifacts.map((artifact: { kind: string }) => artifact.kind))).toEqual(
    new Set(['code_change', 'plan', 'drift', 'report', 'compliance_check']),
  )
  expect(result.artifacts.every((artifact: { bytes: number }) => artifact.bytes > 0)).toBe(true)
  expect(result.engine_s).toBeGreaterThan(0)
  expect(result.model_s).toBeGreaterThan(0)
  expect(result.duration_s).toBeGreaterThan(result.engine_s)
  expect(demo.output()).toContain('Attempt 2 of 5: attempt 1 failed at validate: Reference to undeclared local value.')
  expect(runningStack(folder)).toBeNull()
})

test('the demo: Ctrl-C cancels the round, which ends as any other, and stops the stack', async () => {
  const demo = launch('dev/demo.ts', ['--json'])
  await demo.said('iac generator')
  expect(await demo.end('SIGINT'), demo.output()).toBe(130)
  const result = JSON.parse(demo.output().trim().split('\n').at(-1) ?? '')
  expect(result).toMatchObject({
    status: 'uncompleted',
    message: 'Cancelled by dev@platform.local.',
    pull_request: null,
    ok: false,
  })
  expect(demo.output()).toContain('The round was cancelled')
  expect(runningStack(folder)).toBeNull()
})

/** Posts a request to the stack, waits for the end of its round and returns the session. */
async function requested(route: string, sample: string, q: string) {
  const { url, git_host } = record().ready ?? expect.fail('the stack is not ready')
  const repo_uri = git_host?.repositories.find((address) => address.endsWith(`/${sample}.git`))
  const body = JSON.stringify({ q, repo_uri, scope_id: '123456789012', engine_providers: 'aws', is_partial: true })
  const posted = await fetch(`${url}/api/v1/iac/${route}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
  const { session_id } = (await posted.json()) as { session_id: string }
  await (await fetch(`${url}/api/v1/events/subscribe/${session_id}`)).text()
  const session = await (await fetch(`${url}/api/v1/sessions?id=${session_id}`)).json()
  return session as { current_status: string; rounds: { code_changes: unknown[] }[] }
}

test('samples are ready for drift and import; the demo uses a running stack and leaves it running; a declined request is no success', async () => {
  const launcher = launch('dev/start.ts', ['--embedded'], { AWS_PROFILE: 'of-the-operator', AWS_REGION: 'us-east-1' })
  await launcher.said('Ctrl-C stops everything')
  const sessions = await Promise.all([
    requested('drift', 'network-baseline', 'Bring the flow logs in line with what really runs.'),
    requested('import', 'legacy-accounts', 'Import the tables.'),
  ])
  for (const { current_status, rounds } of sessions) {
    expect(current_status).toBe('completed')
    expect(rounds[0]?.code_changes.length).toBeGreaterThan(0)
  }
  const demo = launch('dev/demo.ts', ['--json', '--request', 'Delete the production network'])
  expect(await demo.ended).toBe(1)
  expect(demo.output()).toContain('the running one')
  expect(JSON.parse(demo.output().trim().split('\n').at(-1) ?? '')).toMatchObject({
    status: 'uncompleted',
    pull_request: null,
  })
  expect(runningStack(folder)?.ready?.url).toBe(record().ready?.url)
  const missing = launch('dev/demo.ts', ['--repo', `${record().ready?.git_host?.url}/samples/missing.git`])
  expect(await missing.ended).toBe(1)
  expect(missing.output()).toContain('answered 400: Repository is not reachable or access was denied.')
})

test('starts with the lines that the endpoint of the evaluation prints', async () => {
  const hand = launch('eval/run.ts', ['--hand', '--serve', '--folder', join(root, 'hand')])
  await hand.said('npm start')
  const variables = [...hand.output().matchAll(/^(\w+)=(.*) \\$/gm)].map(([, name = '', value = '']) => [name, value])
  const launcher = launch('dev/start.ts', [], Object.fromEntries(variables))
  await launcher.said('everything is ready')
  expect(record().ready?.model).toEqual({ name: 'openai/hand', scripted: false })
  expect(launcher.output()).toContain('/samples/web-platform.git')
})

test('an interrupted start leaves nothing running', async () => {
  const launcher = launch('dev/start.ts', ['--embedded'])
  await launcher.said('iac')
  expect(await launcher.end('SIGINT')).toBe(130)
  expect(readRecord(folder)).toBeNull()
})

test('a wanted port that is taken is a clear error', async () => {
  const occupant = createServer().listen(0, '127.0.0.1')
  await once(occupant, 'listening')
  const { port } = occupant.address() as AddressInfo
  const launcher = launch('dev/start.ts', ['--embedded'], { PLATFORM_PORT: String(port) })
  expect(await launcher.ended).toBe(1)
  expect(launcher.output()).toContain(`Port ${port} (PLATFORM_PORT) is taken by another program.`)
  expect(readRecord(folder)).toBeNull()
  occupant.close()
})

test('wrong arguments: exit code 2 and a hint', async () => {
  for (const args of [['--mode', 'drift'], ['--limit', 'soon'], ['--unknown']]) {
    const demo = launch('dev/demo.ts', args)
    expect(await demo.ended).toBe(2)
    expect(demo.output()).toContain('--help')
  }
})
