import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../../helpers/eventually.ts'
import { clientOf, fakeEngine, isRunning, stage, TOKEN, temporaryFolder } from './service.ts'

interface ServiceProcess extends Awaited<ReturnType<typeof clientOf>> {
  child: ChildProcess
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Waits for the end of a process. Returns its code and what it wrote. */
async function outcomeOf(child: ChildProcess) {
  const [[code], out, err] = await Promise.all([
    once(child, 'close'),
    text(child.stdout as Readable),
    text(child.stderr as Readable),
  ])
  return { code, out, err }
}

const children: ChildProcess[] = []
let folder: string
let binary: string

beforeEach(async () => {
  folder = await temporaryFolder()
  binary = await fakeEngine(folder)
})
afterEach(async () => {
  for (const child of children.splice(0))
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

function launch(env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, ['sidecars/main.ts', 'iac'], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      PLATFORM_PORT: '0',
      PLATFORM_HOST: '127.0.0.1',
      PLATFORM_IAC_TOKEN: TOKEN,
      IAC_BINARY: binary,
      IAC_DATA_DIR: join(folder, 'data'),
      IAC_STOP_GRACE_SECONDS: '0.2',
      // The engine of these tests is a script that leaves files outside of its workspace.
      IAC_SANDBOX: 'none',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  return child
}

async function boot(env: Record<string, string> = {}): Promise<ServiceProcess> {
  const child = launch(env)
  const exited = once(child, 'exit')
  for await (const line of createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })) {
    const entry = JSON.parse(line)
    if (entry.message !== 'iac service ready') continue
    child.stdout?.resume()
    return {
      child,
      ...(await clientOf(entry.url, folder)),
      end: async (signal) => {
        child.kill(signal)
        const [code] = await exited
        return code
      },
    }
  }
  throw new Error('the service did not start')
}

/** Starts a poll that the service holds. Returns a function that resolves to the final status. */
async function heldPoll(url: string): Promise<() => Promise<number>> {
  const headers = { authorization: `Bearer ${TOKEN}`, prefer: 'wait=60', expect: '100-continue' }
  const request = httpRequest(url, { headers, agent: false })
  const answered = once(request, 'response').then(([response]: IncomingMessage[]) => response?.resume().statusCode ?? 0)
  request.flushHeaders()
  await once(request, 'continue')
  request.end()
  return () => answered
}

const recordOf = (id: string) => join(folder, 'data', 'jobs', `${id}.json`)
const readRecord = async (id: string) => JSON.parse(await readFile(recordOf(id), 'utf8'))

/** Waits until the service has recorded the process of the job, which may be later than the engine's first output. */
const recordedProcess = (id: string) => eventually(async () => expect((await readRecord(id)).process).not.toBeNull())

describe('a service that was killed', () => {
  it('answers finished jobs as before', async () => {
    const first = await boot()
    const workspace_path = await first.workspace({ 'command.sh': 'echo out; echo err >&2; exit 3' })
    const job = await first.run('/v1/validate', { workspace_path })
    await first.end('SIGKILL')
    const second = await boot()
    expect((await second.request('GET', `/v1/jobs/${job.job_id}`)).body).toEqual(job)
  })

  it('fails the interrupted and the waiting job, and ends the process left behind before the next one', async () => {
    const first = await boot()
    const script = 'trap "" INT; echo $$ >pid; echo go >started; while :; do sleep 0.1; done'
    const { workspace_path, started } = await stage(first, script)
    const interrupted = await first.submit('/v1/validate', { workspace_path })
    const waiting = await first.submit('/v1/validate', { workspace_path })
    await started.read()
    const engine = Number(await readFile(join(workspace_path, 'pid'), 'utf8'))
    await recordedProcess(interrupted)
    expect((await first.request('GET', `/v1/jobs/${interrupted}`)).body.status).toBe('running')
    await first.end('SIGKILL')
    expect(isRunning(engine)).toBe(true)

    await writeFile(
      join(workspace_path, 'command.sh'),
      `kill -0 ${engine} 2>/dev/null && grep -qv " Z " /proc/${engine}/stat && exit 5; exit 0`,
    )
    const second = await boot()
    const detail = 'Service shut down before the job finished.'
    const error = { type: 'about:blank', title: 'Service Unavailable', status: 503, detail }
    for (const id of [interrupted, waiting]) {
      const { body } = await second.request('GET', `/v1/jobs/${id}`)
      expect(body).toMatchObject({ status: 'failed', result: null, error })
      expect(body.finished_at).not.toBeNull()
    }
    // The workspace is free, because the earlier job started after the old process had ended.
    expect((await second.run('/v1/validate', { workspace_path })).result.exit_code).toBe(0)
    expect(isRunning(engine)).toBe(false)
  })

  it('leaves a process alone that only has the number of an old one', async () => {
    const first = await boot()
    const { workspace_path, started } = await stage(first, 'echo go >started; cat gate')
    const id = await first.submit('/v1/validate', { workspace_path })
    await started.read()
    await recordedProcess(id)
    await first.end('SIGKILL')
    const bystander = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' })
    const record = await readRecord(id)
    process.kill(-record.process.pid, 'SIGKILL')
    await writeFile(recordOf(id), JSON.stringify({ ...record, process: { ...record.process, pid: bystander.pid } }))
    const second = await boot()
    expect((await second.request('GET', `/v1/jobs/${id}`)).body.status).toBe('failed')
    await writeFile(join(workspace_path, 'command.sh'), 'exit 0')
    await second.run('/v1/validate', { workspace_path })
    expect(isRunning(bystander.pid as number)).toBe(true)
    bystander.kill('SIGKILL')
  })

  it('survives a damaged record', async () => {
    const first = await boot()
    const workspace_path = await first.workspace({ 'command.sh': 'exit 0' })
    const { job_id } = await first.run('/v1/validate', { workspace_path })
    await first.end('SIGKILL')
    await writeFile(recordOf(job_id), '{"job_id": ')
    const second = await boot()
    expect((await second.request('GET', `/v1/jobs/${job_id}`)).status).toBe(404)
    expect((await second.run('/v1/validate', { workspace_path })).result.exit_code).toBe(0)
  })
})

describe('a service that is asked to stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends its engine and exits cleanly on %s', async (signal) => {
    const service = await boot()
    const { workspace_path, started } = await stage(service, 'echo $$ >pid; echo go >started; exec sleep 1000')
    const id = await service.submit('/v1/validate', { workspace_path })
    await started.read()
    const held = await heldPoll(`${service.url}/v1/jobs/${id}`)
    // The held answer is sent before the end and does not delay it.
    const [status, code] = await Promise.all([held(), service.end(signal)])
    expect({ status, code }).toEqual({ status: 200, code: 0 })
    expect(isRunning(Number(await readFile(join(workspace_path, 'pid'), 'utf8')))).toBe(false)
    const next = await boot()
    expect((await next.request('GET', `/v1/jobs/${id}`)).body.error.status).toBe(503)
  })
})

describe('start', () => {
  const failure = (env: Record<string, string>) => outcomeOf(launch(env))

  it('is refused on a data folder that another service uses', async () => {
    const first = await boot()
    const { code, err } = await failure({})
    expect(code).toBe(1)
    expect(err).toContain(`is in use by process ${first.child.pid}`)
  })

  it('is refused without an engine, saying what to install', async () => {
    const { code, err } = await failure({ IAC_BINARY: '', PATH: folder })
    expect(code).toBe(1)
    for (const word of ['OpenTofu', 'Terraform', 'IAC_BINARY', 'IAC_DOWNLOAD']) expect(err).toContain(word)
  })

  it('is refused with an engine that is none', async () => {
    const missing = { code: 1, err: expect.stringContaining("IAC_BINARY '/none/tofu'") }
    expect(await failure({ IAC_BINARY: '/none/tofu' })).toMatchObject(missing)
    expect((await failure({ IAC_BINARY: folder })).code).toBe(1)
  })

  it('names every wrong variable', async () => {
    const wrong = { IAC_MAX_PARALLEL: '0', IAC_JOB_TIMEOUT_SECONDS: 'soon', IAC_ALLOW_HOST_PROGRAMS: 'yes' }
    const { code, err } = await failure(wrong)
    expect(code).toBe(1)
    for (const name of Object.keys(wrong)) expect(err).toContain(name)
  })
})

describe('the command line', () => {
  const outcome = (...args: string[]) =>
    outcomeOf(spawn(process.execPath, ['sidecars/main.ts', ...args], { stdio: ['ignore', 'pipe', 'pipe'] }))

  it.each([
    [[]],
    [['mapper']],
    [['constructor']],
    [['iac', 'more']],
  ])('%j is answered with what exists', async (args) => {
    const { code, err } = await outcome(...args)
    expect(code).toBe(2)
    expect(err).toMatch(/Usage: .*\n\n {2}iac /)
  })

  it('--help is no error', async () => {
    expect(await outcome('--help')).toMatchObject({ code: 0, err: '', out: expect.stringContaining('  iac ') })
    expect((await outcome('iac', '--help')).code).toBe(0)
  })
})
