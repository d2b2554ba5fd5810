import { readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openJobStore } from '../../../../sidecars/iac/jobs/store.ts'
import type { JobRecord } from '../../../../sidecars/iac/types.ts'
import {
  pipe,
  SCOPE,
  stage,
  startFakeService,
  startTestService,
  type TestService,
  temporaryFolder,
} from '../service.ts'

const EARLY = 'The job was cancelled before it started.'
const LATE = 'The job was cancelled.'

const cancel = (service: TestService, id: string) => service.request('DELETE', `/v1/jobs/${id}`)
const recordOf = async (service: TestService, id: string): Promise<JobRecord> =>
  JSON.parse(await readFile(join(service.folder, 'data', 'jobs', `${id}.json`), 'utf8'))

describe('a job that waits', () => {
  it('fails at once, never starts and lets the next one run', async () => {
    const service = await startFakeService()
    const { workspace_path, started, gate } = await stage(service, 'echo $1 >>log; echo on >started; cat gate')
    const running = await service.submit('/v1/validate', { workspace_path })
    const waiting = await service.submit('/v1/init', { workspace_path, ...SCOPE })
    const last = await service.submit('/v1/show', { workspace_path, plan_file: 'p.plan' })
    await started.read()
    const held = service.request('GET', `/v1/jobs/${waiting}`, { headers: { prefer: 'wait=60' } })
    const answer = await cancel(service, waiting)
    expect(answer).toMatchObject({ status: 202, body: { job_id: waiting, status: 'failed' } })
    expect((await held).body).toEqual({
      ...(await service.finished(waiting)),
      status: 'failed',
      started_at: null,
      result: null,
      error: { type: 'about:blank', title: 'Conflict', status: 409, detail: EARLY },
    })
    expect(await recordOf(service, waiting)).toMatchObject({ status: 'failed', cancelled: true })
    await gate.write('')
    await service.finished(running)
    await started.read()
    await gate.write('')
    await service.finished(last)
    expect(await readFile(join(workspace_path, 'log'), 'utf8')).toBe('validate\nshow\n')
  })
})

describe('a job that runs', () => {
  const TRAPPED = 'trap "echo released; exit 3" INT; echo on >started; while :; do sleep 0.05; done'
  const DEAF = 'trap "" INT; echo on >started; while :; do sleep 0.05; done'

  it('is interrupted and ends as its engine does, and a second time changes nothing', async () => {
    const service = await startFakeService({ IAC_STOP_GRACE_SECONDS: '30' })
    const { workspace_path, started } = await stage(service, TRAPPED)
    const id = await service.submit('/v1/validate', { workspace_path })
    await started.read()
    const answers = await Promise.all([cancel(service, id), cancel(service, id.toUpperCase())])
    for (const answer of answers) expect(answer).toMatchObject({ status: 202, body: { job_id: id } })
    const job = await service.finished(id)
    expect(job).toMatchObject({
      status: 'succeeded',
      error: null,
      result: { exit_code: 3, stdout: expect.stringContaining('released\n') },
    })
    expect(Object.keys(job)).not.toContain('cancelled')
    expect((await cancel(service, id)).body).toEqual({ job_id: id, status: 'succeeded' })
    expect(await service.finished(id)).toEqual(job)
  })

  it('is killed after the grace period when it does not end', async () => {
    const service = await startFakeService({ IAC_STOP_GRACE_SECONDS: '0.2' })
    const { workspace_path, started } = await stage(service, DEAF)
    const id = await service.submit('/v1/plan', { workspace_path, ...SCOPE, plan_file: 'p.plan' })
    await started.read()
    expect((await cancel(service, id)).body.status).toBe('running')
    expect(await service.finished(id)).toMatchObject({ status: 'failed', error: { status: 409, detail: LATE } })
  })

  const COUNTING =
    'trap "echo interrupted" INT; echo on >started; ' +
    'while [ ! -e go ]; do sleep 0.05; done; echo saved >state; exit 1'

  it.each([
    ['/v1/apply', { plan_file: 'p.plan' }],
    ['/v1/import', { address: 'a.b', resource_id: 'i' }],
  ])('%s is interrupted once and never killed before it has saved', async (path, more) => {
    const service = await startFakeService({ IAC_STOP_GRACE_SECONDS: '0.1' })
    const { workspace_path, started } = await stage(service, COUNTING)
    const id = await service.submit(path, { workspace_path, ...SCOPE, ...more })
    await started.read()
    await cancel(service, id)
    await cancel(service, id)
    // Longer than the grace period. The answer is held until the job ends, which it must not.
    const held = await service.request('GET', `/v1/jobs/${id}`, { headers: { prefer: 'wait=1' } })
    expect(held.body.status).toBe('running')
    await writeFile(join(workspace_path, 'go'), '')
    const job = await service.finished(id)
    expect(job).toMatchObject({ status: 'succeeded', result: { exit_code: 1, stdout: 'interrupted\n' } })
    expect(await readFile(join(workspace_path, 'state'), 'utf8')).toBe('saved\n')
  })

  it('an apply that does not end is killed when its own time is up', async () => {
    const service = await startFakeService({ IAC_STOP_GRACE_SECONDS: '0.1', IAC_JOB_TIMEOUT_SECONDS: '1.5' })
    const { workspace_path, started } = await stage(service, DEAF)
    const id = await service.submit('/v1/apply', { workspace_path, ...SCOPE, plan_file: 'p.plan' })
    await started.read()
    await cancel(service, id)
    expect(await service.finished(id)).toMatchObject({ status: 'failed', error: { status: 504 } })
  })

  it('a listing of a scope that waits never begins', async () => {
    const service = await startFakeService({ AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'y'.repeat(20) })
    const { workspace_path, started, gate } = await stage(service, 'echo on >started; cat gate')
    const blocking = await service.submit('/v1/validate', { workspace_path })
    await started.read()
    const id = await service.submit('/v1/import/scope-resource-ids', { workspace_path, ...SCOPE })
    expect((await cancel(service, id)).body.status).toBe('failed')
    expect((await service.finished(id)).error.detail).toBe(EARLY)
    await gate.write('')
    await service.finished(blocking)
  })

  it('one of end and cancellation wins, whichever comes first', async () => {
    const service = await startFakeService({ IAC_MAX_PARALLEL: '4' })
    for (let round = 0; round < 12; round++) {
      const workspace_path = await service.workspace({ 'command.sh': 'exit 0' })
      const id = await service.submit('/v1/validate', { workspace_path })
      if (round % 3 > 0) await service.request('GET', `/v1/jobs/${id}`)
      if (round % 3 > 1) await service.request('GET', `/v1/jobs/${id}`, { headers: { prefer: 'wait=30' } })
      expect((await cancel(service, id)).status).toBe(202)
      const job = await service.finished(id)
      if (job.status === 'succeeded') expect(job.error).toBeNull()
      else expect(job.error).toMatchObject({ status: 409 })
      const { status, finished_at } = await recordOf(service, id)
      expect({ status, finished_at }).toEqual({ status: job.status, finished_at: job.finished_at })
    }
  })
})

describe('other answers', () => {
  it.each([
    ['00000000-0000-4000-8000-000000000000', 404, 'Unknown or expired job: 00000000-0000-4000-8000-000000000000'],
    ['none', 422, 'Request validation failed'],
    ['..%2Fhealthz', 422, 'Request validation failed'],
  ])('%s is %i', async (id, status, title) => {
    const service = await startFakeService()
    expect(await cancel(service, id)).toMatchObject({ status, body: { type: 'about:blank', title, status } })
    const headers = { authorization: 'Bearer wrong' }
    expect((await service.request('DELETE', `/v1/jobs/${id}`, { headers })).status).toBe(401)
  })
})

describe('after a restart', () => {
  it.each([
    [{ pid: 999_999_999, started: 'gone', interrupted: true }, LATE],
    [null, EARLY],
  ])('a cancelled job that was lost is told to be cancelled (%j)', async (process, detail) => {
    const folder = await temporaryFolder()
    const store = await openJobStore(join(folder, 'data', 'jobs'))
    const job_id = crypto.randomUUID()
    const at = new Date().toISOString()
    await store.save({
      job_id,
      kind: 'apply',
      workspace_path: folder,
      status: 'running',
      created_at: at,
      started_at: at,
      finished_at: null,
      exit_code: null,
      error: null,
      process,
      cancelled: true,
    })
    const service = await startFakeService({ IAC_DATA_DIR: join(folder, 'data') })
    const { body } = await service.request('GET', `/v1/jobs/${job_id}`)
    expect(body).toMatchObject({ status: 'failed', error: { status: 409, detail } })
    expect((await cancel(service, job_id)).body).toEqual({ job_id, status: 'failed' })
  })
})

describe('the real engine', () => {
  const SLOW = `resource "terraform_data" "first" {
  input = "one"
}

resource "terraform_data" "slow" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "echo on >started; sleep 1000"
  }
}

resource "terraform_data" "never" {
  depends_on = [terraform_data.slow]
}
`

  // In a sandbox if this machine can have one.
  it.each([
    'none',
    'auto',
  ])('saves what an interrupted apply has made and releases the lock, sandbox %s', async (sandbox) => {
    const service = await startTestService({ IAC_ALLOW_HOST_PROGRAMS: 'true', IAC_SANDBOX: sandbox })
    const workspace_path = await service.workspace({ 'main.tf': SLOW })
    await service.run('/v1/init', { workspace_path, ...SCOPE })
    const body = { workspace_path, ...SCOPE, plan_file: 'session.plan' }
    expect((await service.run('/v1/plan', body)).result.exit_code).toBe(0)
    const started = pipe(join(workspace_path, 'started'))
    const id = await service.submit('/v1/apply', body)
    await started.read()
    expect((await cancel(service, id)).body.status).toBe('running')
    const job = await service.finished(id)
    expect(job).toMatchObject({ status: 'succeeded', result: { exit_code: 1 } })
    expect(job.result.stdout).toContain('terraform_data.first: Creation complete')
    expect(`${job.result.stdout}${job.result.stderr}`).toMatch(/interrupt|Stopping operation/i)
    const state = JSON.parse(await readFile(join(workspace_path, 'terraform.tfstate'), 'utf8'))
    const names = state.resources.map(({ name }: { name: string }) => name)
    expect(names).toContain('first')
    expect(names).not.toContain('never')
    expect(readdirSync(workspace_path).filter((name) => name.includes('lock.info'))).toEqual([])
    // The lock is free, so the next engine command takes it.
    expect((await service.run('/v1/plan', body)).result.exit_code).toBe(0)
  })
})
