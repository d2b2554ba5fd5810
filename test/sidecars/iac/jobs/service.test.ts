import { readdirSync, readFileSync } from 'node:fs'
import { chmod, readdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fakeEngine, isRunning, pipe, SCOPE, stage, startFakeService, temporaryFolder } from '../service.ts'

/** Runs a script of the engine in a service of its own, and returns the finished job. */
async function validate(script: string, ...options: Parameters<typeof startFakeService>) {
  const service = await startFakeService(...options)
  const workspace_path = await service.workspace({ 'command.sh': script })
  const job = await service.run('/v1/validate', { workspace_path })
  return { service, workspace_path, job, result: job.result }
}

describe('order', () => {
  it('is first in, first out for one workspace, whatever path leads to it', async () => {
    const service = await startFakeService({ IAC_MAX_PARALLEL: '4' })
    const script = 'echo begin $1 >>log; cat gate >/dev/null; echo end $1 >>log'
    const { workspace_path, gate } = await stage(service, script)
    const alias = `${workspace_path}-alias`
    await symlink(workspace_path, alias)
    const ids = [
      await service.submit('/v1/validate', { workspace_path }),
      await service.submit('/v1/init', { workspace_path: alias, ...SCOPE }),
      await service.submit('/v1/validate', { workspace_path: `${workspace_path}/../${alias.split('/').at(-1)}` }),
    ]
    for (const id of ids) {
      expect((await service.request('GET', `/v1/jobs/${id}`)).body.status).not.toBe('succeeded')
      await gate.write('')
      await service.finished(id)
    }
    const log = await readFile(join(workspace_path, 'log'), 'utf8')
    expect(log).toBe('begin validate\nend validate\nbegin init\nend init\nbegin validate\nend validate\n')
  })

  it('lets different workspaces run side by side', async () => {
    const service = await startFakeService({ IAC_MAX_PARALLEL: '2' })
    // Each waits for the other, so one after the other they would never end.
    const one = await service.workspace({ 'command.sh': 'echo hello >../meet; cat ../answer' })
    const two = await service.workspace({ 'command.sh': 'cat ../meet; echo goodbye >../answer' })
    pipe(join(service.folder, 'meet'))
    pipe(join(service.folder, 'answer'))
    const ids = [
      await service.submit('/v1/validate', { workspace_path: one }),
      await service.submit('/v1/validate', { workspace_path: two }),
    ]
    const [first, second] = await Promise.all(ids.map(service.finished))
    expect(first.result.stdout).toBe('goodbye\n')
    expect(second.result.stdout).toBe('hello\n')
  })

  it('keeps to the bound and serves the longest waiting workspace', async () => {
    const service = await startFakeService({ IAC_MAX_PARALLEL: '1' })
    const script = 'basename "$PWD" >>../log; cat gate >/dev/null'
    const [one, two] = [await stage(service, script), await stage(service, script)]
    const submit = ({ workspace_path }: typeof one) => service.submit('/v1/validate', { workspace_path })
    const ids = [await submit(one), await submit(one), await submit(two)]
    await one.gate.write('')
    await service.finished(ids[0] as string)
    expect((await service.request('GET', `/v1/jobs/${ids[2]}`)).body.status).toBe('queued')
    await one.gate.write('')
    await two.gate.write('')
    await Promise.all(ids.map(service.finished))
    const order = (await readFile(join(service.folder, 'log'), 'utf8')).trim().split('\n')
    expect(order).toEqual([one, one, two].map(({ workspace_path }) => workspace_path.split('/').at(-1)))
  })
})

describe('answers', () => {
  it('shows queued, running and the end, with all keys each time', async () => {
    const service = await startFakeService({ IAC_MAX_PARALLEL: '1' })
    const script = 'echo on >started; cat gate >/dev/null; echo done; exit 4'
    const { workspace_path, started, gate } = await stage(service, script)
    const submit = () => service.submit('/v1/validate', { workspace_path })
    const [first, second] = [await submit(), await submit()]
    await started.read()
    const keys = ['created_at', 'error', 'finished_at', 'job_id', 'kind', 'result', 'started_at', 'status']
    const running = (await service.request('GET', `/v1/jobs/${first}`)).body
    expect(Object.keys(running).sort()).toEqual(keys)
    expect(running).toMatchObject({ status: 'running', finished_at: null, result: null, error: null })
    const queued = (await service.request('GET', `/v1/jobs/${second}`)).body
    expect(Object.keys(queued).sort()).toEqual(keys)
    expect(queued).toMatchObject({ status: 'queued', started_at: null, finished_at: null })
    const held = service.request('GET', `/v1/jobs/${first}`, { headers: { prefer: 'wait=60' } })
    await gate.write('')
    const { body, headers } = await held
    expect(headers.get('preference-applied')).toBe('wait=60')
    expect(Object.keys(body).sort()).toEqual(keys)
    expect(body).toMatchObject({
      status: 'succeeded',
      result: { exit_code: 4, stdout: 'done\n', stderr: '' },
      error: null,
    })
    for (const at of [body.created_at, body.started_at, body.finished_at])
      expect(at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    await started.read()
    await gate.write('')
    await service.finished(second)
  })

  it('holds the answer no longer than asked', async () => {
    const service = await startFakeService()
    const { workspace_path, gate } = await stage(service, 'cat gate')
    const id = await service.submit('/v1/validate', { workspace_path })
    const { body } = await service.request('GET', `/v1/jobs/${id}`, { headers: { prefer: 'wait=1' } })
    expect(['queued', 'running']).toContain(body.status)
    await gate.write('')
    await service.finished(id)
  })

  it('decodes output with replacement and tells a death by signal', async () => {
    const { result } = await validate(`printf 'a\\377"\\\\\\303\\244'; kill -9 $$`)
    expect(result).toEqual({ exit_code: 137, stdout: 'a\uFFFD"\\ä', stderr: '' })
  })

  it('returns large output whole, characters across chunks included', async () => {
    const { result } = await validate('yes "ä\\"€😀" | head -c 6000000')
    expect(Buffer.byteLength(result.stdout.replace(/\uFFFD+$/, ''))).toBeGreaterThan(5_999_990)
    expect(result.stdout.slice(0, -20).includes('\uFFFD')).toBe(false)
  })

  it('ends a job that writes too much', async () => {
    const { service, job } = await validate('yes', {}, { settings: { maxOutputBytes: 1_000_000 } })
    const detail = 'The engine wrote more than 1000000 bytes of output.'
    const error = { type: 'about:blank', title: 'Internal Server Error', status: 500, detail }
    expect(job).toMatchObject({ status: 'failed', result: null, error })
    const short = await service.workspace({ 'command.sh': 'head -c 1000001 /dev/zero' })
    expect((await service.run('/v1/validate', { workspace_path: short })).error.status).toBe(500)
  })

  it('fails a job whose workspace vanished while it waited', async () => {
    const service = await startFakeService({ IAC_MAX_PARALLEL: '1' })
    const { workspace_path, gate } = await stage(service, 'cat gate')
    const blocking = await service.submit('/v1/validate', { workspace_path })
    const second = await service.workspace()
    const id = await service.submit('/v1/validate', { workspace_path: second })
    await rm(second, { recursive: true })
    await gate.write('')
    await service.finished(blocking)
    expect(await service.finished(id)).toMatchObject({
      status: 'failed',
      error: { status: 500, detail: 'The engine could not be started.' },
    })
  })

  it('forgets jobs an hour after their end, with their files', async () => {
    let now = new Date('2026-01-01T00:00:00Z')
    const { service, job } = await validate('echo x', {}, { now: () => now })
    const { job_id } = job
    now = new Date('2026-01-01T00:59:59Z')
    expect((await service.request('GET', `/v1/jobs/${job_id}`)).status).toBe(200)
    now = new Date('2026-01-01T01:00:00Z')
    const gone = await service.request('GET', `/v1/jobs/${job_id}`)
    expect(gone).toMatchObject({ status: 404, body: { title: `Unknown or expired job: ${job_id}` } })
  })

  it('keeps output from other users', async () => {
    const { service } = await validate('echo x')
    const folder = join(service.folder, 'data', 'jobs')
    expect((await stat(folder)).mode & 0o077).toBe(0)
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o077).toBe(0)
  })
})

describe('limits', () => {
  // The child ignores the interrupt and keeps its own child, so only killing the whole group ends both.
  const STUBBORN =
    'trap "" INT TERM; sh -c "trap \\"\\" INT TERM; echo \\$\\$ >child; echo go >started; ' +
    'while :; do sleep 1; done" & wait'

  it('kills the whole process group after the time limit', async () => {
    const service = await startFakeService({ IAC_JOB_TIMEOUT_SECONDS: '0.5', IAC_STOP_GRACE_SECONDS: '0.2' })
    const { workspace_path, started } = await stage(service, STUBBORN)
    const id = await service.submit('/v1/validate', { workspace_path })
    await started.read()
    const child = Number(await readFile(join(workspace_path, 'child'), 'utf8'))
    const error = { title: 'Gateway Timeout', status: 504, detail: 'The engine did not finish within 0.5s.' }
    expect(await service.finished(id)).toMatchObject({ status: 'failed', result: null, error })
    expect(isRunning(child)).toBe(false)
  })

  it('leaves nothing behind when the command itself ends', async () => {
    const service = await startFakeService()
    const script = 'sh -c "echo \\$\\$ >child; echo go >started; sleep 1000" & cat started; exit 0'
    const { workspace_path } = await stage(service, script)
    expect((await service.run('/v1/validate', { workspace_path })).result.exit_code).toBe(0)
    expect(isRunning(Number(await readFile(join(workspace_path, 'child'), 'utf8')))).toBe(false)
  })

  it('asks the engine to stop first, so that it can release its lock', async () => {
    const script = 'trap "echo released >lock; exit 1" INT; while :; do sleep 0.1; done'
    const env = { IAC_JOB_TIMEOUT_SECONDS: '0.3', IAC_STOP_GRACE_SECONDS: '30' }
    const { workspace_path, job } = await validate(script, env)
    expect(job.error.status).toBe(504)
    expect(await readFile(join(workspace_path, 'lock'), 'utf8')).toBe('released\n')
  })

  it('a stop interrupts what runs and fails what waits', async () => {
    const service = await startFakeService({ IAC_STOP_GRACE_SECONDS: '0.2' })
    const { workspace_path, started } = await stage(service, STUBBORN)
    await service.submit('/v1/validate', { workspace_path })
    await service.submit('/v1/validate', { workspace_path })
    await started.read()
    const child = Number(await readFile(join(workspace_path, 'child'), 'utf8'))
    const jobs = join(service.folder, 'data', 'jobs')
    const records = () =>
      readdirSync(jobs)
        .filter((name) => name.endsWith('.json'))
        .map((name) => JSON.parse(readFileSync(join(jobs, name), 'utf8')))
    await service.stop()
    expect(isRunning(child)).toBe(false)
    expect(records()).toHaveLength(2)
    for (const record of records())
      expect(record).toMatchObject({
        status: 'failed',
        error: { status: 503, detail: 'Service shut down before the job finished.' },
      })
  })
})

describe('environment of the engine', () => {
  const environment = async (path: string, scope: object) => {
    const service = await startFakeService({
      PLATFORM_OTHER_TOKEN: 'x',
      AWS_PROFILE: 'kept',
      ARM_SUBSCRIPTION_ID: 'own',
    })
    const workspace_path = await service.workspace({ 'command.sh': 'env' })
    const { result } = await service.run(path, { workspace_path, ...scope })
    return Object.fromEntries((result.stdout as string).split('\n').map((line) => line.split(/=(.*)/s)))
  }

  it('has the scope of azure, no secret of the service and the shared plugin cache', async () => {
    const seen = await environment('/v1/init', { scope_id: 'sub', engine_provider: 'azure' })
    expect(seen).toMatchObject({
      ARM_SUBSCRIPTION_ID: 'sub',
      AWS_PROFILE: 'kept',
      TF_IN_AUTOMATION: '1',
      CHECKPOINT_DISABLE: '1',
    })
    expect(Object.keys(seen).filter((name) => /^(PLATFORM|IAC)_/.test(name))).toEqual([])
    expect((await stat(seen.TF_PLUGIN_CACHE_DIR)).isDirectory()).toBe(true)
  })

  it('has the scope of gcp, and of no other cloud', async () => {
    expect((await environment('/v1/init', { scope_id: 'project-1', engine_provider: 'gcp' })).GOOGLE_PROJECT).toBe(
      'project-1',
    )
    const aws = await environment('/v1/init', SCOPE)
    expect(aws.ARM_SUBSCRIPTION_ID).toBe('own')
    expect(aws.GOOGLE_PROJECT).toBeUndefined()
  })

  it('has no scope for commands that read no cloud', async () => {
    expect((await environment('/v1/validate', {})).ARM_SUBSCRIPTION_ID).toBe('own')
  })
})

describe('plugin cache', () => {
  it('is shared, and left out when a cached provider cannot be written', async () => {
    const service = await startFakeService({ IAC_PLUGIN_CACHE_DIR: join(await temporaryFolder(), 'cache') })
    const script = 'if [ -n "$TF_PLUGIN_CACHE_DIR" ]; then echo "open x: text file busy" >&2; exit 1; fi; echo alone'
    const workspace_path = await service.workspace({ 'command.sh': script })
    expect((await service.run('/v1/init', { workspace_path, ...SCOPE })).result).toEqual({
      exit_code: 0,
      stdout: 'alone\n',
      stderr: '',
    })
  })

  it('is filled by one init at a time', async () => {
    const service = await startFakeService({ IAC_MAX_PARALLEL: '4' })
    const script = 'mkdir ../filling || exit 9; echo $PWD >>../order; cat gate >/dev/null; rmdir ../filling'
    const both = [await stage(service, script), await stage(service, script)]
    const ids = []
    for (const { workspace_path } of both) ids.push(await service.submit('/v1/init', { workspace_path, ...SCOPE }))
    for (const { gate } of both) await gate.write('')
    for (const job of await Promise.all(ids.map(service.finished))) expect(job.result.exit_code).toBe(0)
  })
})

describe('state identifiers', () => {
  const ids = async (script: string) => {
    const service = await startFakeService()
    const workspace_path = await service.workspace({ 'command.sh': script, state: '' })
    return (await service.run('/v1/import/state-resource-ids', { workspace_path })).result
  }

  it('hands on a failing pull', async () => {
    const failed = { exit_code: 7, stdout: '', stderr: 'no backend\n' }
    expect(await ids('echo half; echo no backend >&2; exit 7')).toEqual(failed)
  })
  it('an empty state has none', async () => {
    expect(await ids('exit 0')).toEqual({ exit_code: 0, stdout: '[]', stderr: '' })
  })
  it.each(['not json', '[]', '3'])('%s is no state', async (text) => {
    const result = await ids(`echo '${text}'`)
    expect(result).toEqual({ exit_code: 1, stdout: '', stderr: 'state pull returned an unparsable state document' })
  })
  it('prefers the arn, skips data and repeats', async () => {
    const state = {
      resources: [
        {
          mode: 'managed',
          instances: [{ attributes: { arn: 'arn:1', id: 'a' } }, { attributes: { arn: '', id: 'b' } }],
        },
        { mode: 'data', instances: [{ attributes: { id: 'no' } }] },
        {
          mode: 'managed',
          instances: [{ attributes: { id: 'b' } }, { attributes: { id: 5 } }, { attributes: null }, {}],
        },
      ],
    }
    expect((await ids(`echo '${JSON.stringify(state)}'`)).stdout).toBe('["arn:1","b"]')
  })
})

it('an engine that lost its permission fails the job, not the service', async () => {
  const own = await fakeEngine(await temporaryFolder())
  const service = await startFakeService({ IAC_BINARY: own })
  const workspace_path = await service.workspace({ 'command.sh': 'echo x' })
  await chmod(own, 0o644)
  expect((await service.run('/v1/validate', { workspace_path })).error).toMatchObject({
    status: 500,
    detail: 'The engine could not be started.',
  })
})
