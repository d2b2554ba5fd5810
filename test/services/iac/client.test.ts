import { HttpResponse, http } from 'msw'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { IacServiceConfig } from '../../../config/types.ts'
import type { Fetch } from '../../../src/base/http.ts'
import { interceptRequests } from '../../helpers/intercept.ts'
import { controlTimeLimits } from './limits.ts'
import { clientOf, ENDPOINT, JOB, status } from './support.ts'

const OTHER = '9d31b5a8-6a57-4f0e-8c1e-0c7b5a8e4d12'
const RESULT = { exit_code: 0, stdout: 'out', stderr: '' }
const WORKSPACE = { workspace_path: '/data/w' }
const SCOPED = { ...WORKSPACE, scope_id: 's', engine_provider: 'aws' as const }

const server = interceptRequests()

const lines: string[] = []
const client = (change?: Partial<IacServiceConfig>, answer?: Fetch) =>
  clientOf(change, (line) => lines.push(line), answer)

const job = (fields: object) => ({
  job_id: JOB,
  kind: 'plan',
  status: 'queued',
  created_at: '2026-01-01T00:00:00Z',
  started_at: null,
  finished_at: null,
  result: null,
  error: null,
  ...fields,
})
const succeeded = job({ status: 'succeeded', result: RESULT })
const failed = (status: number, detail?: string) =>
  job({ status: 'failed', error: { type: 'about:blank', title: 'A title', status, ...(detail ? { detail } : {}) } })
const accepts = (path: string, ...ids: string[]) =>
  http.post(`${ENDPOINT}${path}`, () =>
    HttpResponse.json({ job_id: ids.length > 1 ? ids.shift() : ids[0], status: 'queued' }, { status: 202 }),
  )

/** Answers submissions of a kind, whose number the answer gets. Returns a function that counts them. */
function submissions(kind: string, answer: (call: number) => Response | Promise<Response>): () => number {
  let calls = 0
  server.use(http.post(`${ENDPOINT}/v1/${kind}`, () => answer(++calls)))
  return () => calls
}

/** Gives these answers to polls in turn, repeats the last one, and counts the calls. */
function polls(...answers: (() => Response)[]) {
  const seen: { id: string; prefer: string | null; headers: Headers }[] = []
  server.use(
    http.get(`${ENDPOINT}/v1/jobs/:id`, ({ request, params }) => {
      seen.push({ id: String(params.id), prefer: request.headers.get('prefer'), headers: request.headers })
      const answer = answers[Math.min(seen.length, answers.length) - 1] as () => Response
      return answer()
    }),
  )
  return seen
}
const says = (body: object) => () => HttpResponse.json(body)

/** Advances time from one timer to the next until the work has ended, so that the machine's load has no effect. */
async function jumpUntil(work: Promise<void>): Promise<void> {
  let ended = false
  const end = () => {
    ended = true
  }
  work.then(end, end)
  while (!ended) await vi.advanceTimersToNextTimerAsync()
  await work
}

describe('submission', () => {
  it.each([
    ['init', '/v1/init', SCOPED],
    ['validate', '/v1/validate', WORKSPACE],
    ['plan', '/v1/plan', { ...SCOPED, plan_file: 'p', targets: ['a.b'] }],
    ['show', '/v1/show', { ...WORKSPACE, plan_file: 'p' }],
    ['apply', '/v1/apply', { ...SCOPED, plan_file: 'p' }],
    ['import', '/v1/import', { ...SCOPED, address: 'a.b', resource_id: 'i' }],
    ['state_resource_ids', '/v1/import/state-resource-ids', WORKSPACE],
    ['scope_resource_ids', '/v1/import/scope-resource-ids', SCOPED],
  ] as const)('%s goes to %s with its body and the token, and no user', async (kind, path, body) => {
    let seen: Request | null = null
    server.use(
      http.post(`${ENDPOINT}${path}`, ({ request }) => {
        seen = request.clone()
        return HttpResponse.json({ job_id: JOB, status: 'queued' }, { status: 202 })
      }),
    )
    expect(await client().submit(kind, body)).toBe(JOB)
    const request = seen as unknown as Request
    expect(request.headers.get('authorization')).toBe('Bearer secret-token')
    expect(request.headers.get('content-type')).toBe('application/json')
    for (const name of ['x-user-id', 'x-user-email']) expect(request.headers.has(name)).toBe(false)
    expect(await request.json()).toEqual(body)
  })

  it.each([
    400, 401, 404, 422, 500, 503,
  ])('an answer %s is off contract, and its text is kept for the log', async (code) => {
    server.use(
      http.post(`${ENDPOINT}/v1/plan`, () =>
        HttpResponse.json({ title: 'no such path: /machine/path' }, { status: code }),
      ),
    )
    const error = await client()
      .submit('plan', { ...SCOPED, plan_file: 'p' })
      .catch((cause) => cause)
    expect(error).toMatchObject({
      status: 502,
      message: `iac service returned an unexpected response: HTTP ${code} to plan`,
      cause: expect.stringContaining('/machine/path'),
    })
  })

  it.each([
    ['no json', 'text'],
    ['no id', '{}'],
    ['no uuid', '{"job_id": "1"}'],
  ])('202 with %s is off contract', async (_name, text) => {
    server.use(http.post(`${ENDPOINT}/v1/init`, () => new HttpResponse(text, { status: 202 })))
    await expect(client().submit('init', SCOPED)).rejects.toMatchObject({ status: 502 })
  })

  it('times out with 504, and does not try again', async () => {
    const count = submissions('init', () => new Promise<Response>(() => {}))
    await expect(client({ timeout: 0.1 }).submit('init', SCOPED)).rejects.toMatchObject({
      status: 504,
      message: expect.stringContaining('iac service timed out'),
    })
    expect(count()).toBe(1)
  })

  it('outlives a short absence of the service', async () => {
    const count = submissions('init', (call) =>
      call === 1 ? HttpResponse.error() : HttpResponse.json({ job_id: JOB, status: 'queued' }, { status: 202 }),
    )
    expect(await client().submit('init', SCOPED)).toBe(JOB)
    expect(count()).toBe(2)
  })

  it.each(['apply', 'import'] as const)('%s is never sent twice', async (kind) => {
    const count = submissions(kind, () => HttpResponse.error())
    const body = { ...SCOPED, plan_file: 'p', address: 'a.b', resource_id: 'i' }
    await expect(client().submit(kind, body)).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('iac service unreachable'),
    })
    expect(count()).toBe(1)
  })
})

describe('waiting', () => {
  it('polls until the end and asks for a held answer', async () => {
    const seen = polls(says(job({})), says(job({ status: 'running' })), says(succeeded))
    expect(await client().wait(JOB)).toEqual(RESULT)
    expect(seen.map(({ prefer }) => prefer)).toEqual(['wait=1', 'wait=1', 'wait=1'])
    for (const { headers } of seen) expect(headers.get('authorization')).toBe('Bearer secret-token')
  })

  it('keeps the interval between polls of a service that does not hold its answer', async () => {
    const polled: number[] = []
    const answer = async () => {
      polled.push(performance.now())
      return Response.json(job({ status: 'running' }))
    }
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const waiting = client({ job_poll_interval: 0.4, job_timeout: 1 }, answer).wait(JOB)
    await jumpUntil(expect(waiting).rejects.toMatchObject({ status: 504 }))
    expect(polled.map((time) => time - (polled[0] ?? 0))).toEqual([0, 400, 800])
  })

  it('asks for the configured interval, at most a minute', async () => {
    const seen = polls(says(succeeded))
    await client({ job_poll_interval: 5, job_timeout: 3600 }).wait(JOB)
    await client({ job_poll_interval: 500, job_timeout: 3600 }).wait(JOB)
    expect(seen.map(({ prefer }) => prefer)).toEqual(['wait=5', 'wait=60'])
  })

  it('grants a held answer more than the time of a request', async () => {
    const limits = controlTimeLimits()
    onTestFinished(limits.restore)
    polls(says(succeeded))
    expect(await client({ timeout: 0.1, job_poll_interval: 5, job_timeout: 3600 }).wait(JOB)).toEqual(RESULT)
    // The service may hold its answer for the 5 seconds of the interval.
    expect(Math.min(...limits.asked)).toBeGreaterThan(5_000)
  })

  it('a non-zero exit code is a result', async () => {
    polls(says(job({ status: 'succeeded', result: { exit_code: 1, stdout: '', stderr: 'Error' } })))
    expect(await client().wait(JOB)).toEqual({ exit_code: 1, stdout: '', stderr: 'Error' })
  })

  it.each<[string, () => Response]>([
    ['', says(job({ status: 'running' }))],
    [', also when an answer hangs', () => new Promise<Response>(() => {}) as unknown as Response],
  ])('ends after the budget of the job%s', async (_, answer) => {
    polls(answer)
    await expect(client({ job_timeout: 0.3 }).wait(JOB)).rejects.toMatchObject({
      status: 504,
      message: `IaC job ${JOB} did not finish within 0.3s.`,
    })
  })

  it('outlives failing polls', async () => {
    const seen = polls(() => HttpResponse.error(), status(502), status(503), status(429), says(succeeded))
    expect(await client().wait(JOB)).toEqual(RESULT)
    expect(seen).toHaveLength(5)
  })

  it.each([
    ['html', status(200)],
    ['a list', says([])],
    ['an unknown state', says(job({ status: 'paused' }))],
    ['success without result', says(job({ status: 'succeeded' }))],
    ['a result without output', says(job({ status: 'succeeded', result: { exit_code: 0 } }))],
    ['a failure without error', says(job({ status: 'failed' }))],
    ['401', status(401)],
    ['a redirect', () => HttpResponse.redirect('http://elsewhere.test/')],
  ])('%s is off contract at once', async (_name, answer) => {
    const seen = polls(answer)
    await expect(client().wait(JOB)).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('iac service returned an unexpected response'),
    })
    expect(seen).toHaveLength(1)
  })

  it('keys that the contract does not name are no obstacle', async () => {
    polls(says({ ...succeeded, queue_position: 3 }))
    expect(await client().wait(JOB)).toEqual(RESULT)
  })

  it.each([
    [failed(504, 'The engine did not finish within 9s.'), 504, 'The engine did not finish within 9s.'],
    [failed(500), 500, 'A title'],
    [failed(200, 'odd'), 502, 'odd'],
  ])('a failed job becomes its problem', async (answer, code, message) => {
    polls(says(answer))
    await expect(client().wait(JOB)).rejects.toMatchObject({ status: code, message, code: 'IacJobFailed' })
  })

  it('stops when it is cancelled', async () => {
    const stop = new AbortController()
    const seen = polls(() => {
      queueMicrotask(() => stop.abort())
      return HttpResponse.json(job({}))
    })
    await expect(client({ job_poll_interval: 60 }).wait(JOB, { signal: stop.signal })).rejects.toMatchObject({
      kind: 'aborted',
    })
    expect(seen).toHaveLength(1)
  })
})

describe('lost jobs', () => {
  const LOST = { status: 502, message: `IaC job ${JOB} was lost by the iac service.` }

  it.each([
    ['unknown to the service', status(404)],
    ['interrupted by a restart', says(failed(503, 'Service shut down before the job finished.'))],
  ])('a plan that is %s is submitted once more', async (_name, answer) => {
    server.use(accepts('/v1/plan', JOB, OTHER))
    const seen = polls(answer, says(succeeded))
    const submitted: string[] = []
    const onSubmitted = async (id: string) => void submitted.push(id)
    expect(await client().run('plan', { ...SCOPED, plan_file: 'p' }, { onSubmitted })).toEqual(RESULT)
    expect(submitted).toEqual([JOB, OTHER])
    expect(seen.map(({ id }) => id)).toEqual([JOB, OTHER])
  })

  it('a second loss is final', async () => {
    server.use(accepts('/v1/plan', JOB))
    const seen = polls(status(404))
    await expect(client().run('plan', { ...SCOPED, plan_file: 'p' })).rejects.toMatchObject(LOST)
    expect(seen).toHaveLength(2)
  })

  it('a second interruption tells why', async () => {
    server.use(accepts('/v1/plan', JOB))
    polls(says(failed(503, 'Service shut down before the job finished.')))
    await expect(client().run('plan', { ...SCOPED, plan_file: 'p' })).rejects.toMatchObject({
      status: 503,
      message: 'Service shut down before the job finished.',
    })
  })

  it.each(['apply', 'import'] as const)('%s is not submitted again', async (kind) => {
    server.use(accepts(`/v1/${kind}`, JOB))
    const seen = polls(status(404))
    await expect(
      client().run(kind, { ...SCOPED, plan_file: 'p', address: 'a.b', resource_id: 'i' }),
    ).rejects.toMatchObject(LOST)
    expect(seen).toHaveLength(1)
  })

  it('a job taken up without its body is not submitted again', async () => {
    polls(status(404))
    await expect(client().wait(JOB)).rejects.toMatchObject(LOST)
  })

  it('the id is recorded before the first poll', async () => {
    const order: string[] = []
    server.use(accepts('/v1/init', JOB))
    polls(() => {
      order.push('poll')
      return HttpResponse.json(succeeded)
    })
    const onSubmitted = async () => {
      await Promise.resolve()
      order.push('recorded')
    }
    await client().run('init', SCOPED, { onSubmitted })
    expect(order).toEqual(['recorded', 'poll'])
  })
})

describe('the service itself', () => {
  it('is healthy or not, without throwing', async () => {
    server.use(http.get(`${ENDPOINT}/healthz`, () => HttpResponse.json({ status: 'ok' }), { once: true }))
    expect(await client().healthy()).toBe(true)
    server.use(http.get(`${ENDPOINT}/healthz`, () => HttpResponse.error()))
    expect(await client().healthy()).toBe(false)
    server.use(http.get(`${ENDPOINT}/healthz`, status(500)))
    expect(await client().healthy()).toBe(false)
  })

  it('tells its engine, when it offers that', async () => {
    server.use(
      http.get(`${ENDPOINT}/v1/engine`, () => HttpResponse.json({ name: 'OpenTofu', version: '1.10.6' }), {
        once: true,
      }),
    )
    expect(await client().engine()).toEqual({ name: 'OpenTofu', version: '1.10.6' })
    server.use(http.get(`${ENDPOINT}/v1/engine`, status(404)))
    expect(await client().engine()).toBeNull()
    for (const answer of [status(401), says({ name: '' })]) {
      server.use(http.get(`${ENDPOINT}/v1/engine`, answer))
      await expect(client().engine()).rejects.toMatchObject({ status: 502 })
    }
  })

  it('tells whether it offers an addition now, since it may be an older one after a restart', async () => {
    const iac = client()
    const engine = { name: 'OpenTofu', version: '1.10.6' }
    const answers: [() => Response | Promise<Response>, boolean][] = [
      [says({ ...engine, additions: ['schema', 'plan_sha256'] }), true],
      [says({ ...engine, additions: ['schema'] }), false],
      [says(engine), false],
      [status(404), false],
    ]
    for (const [answer, expected] of answers) {
      server.use(http.get(`${ENDPOINT}/v1/engine`, answer))
      expect(await iac.offers?.('plan_sha256')).toBe(expected)
    }
    server.use(http.get(`${ENDPOINT}/v1/engine`, status(500)))
    await expect(iac.offers?.('plan_sha256')).rejects.toMatchObject({ status: 502 })
  })
})

describe('what a service need not know', () => {
  const state = { cloud: null, override_sha256: 'a'.repeat(64) }
  const asked = { ...WORKSPACE, repository: 'git.test/a/b', state, json: true as const }

  /** Submits a validation twice, as a round does, and returns the bodies and the number of announcements read. */
  async function submitted(announce: () => Response | Promise<Response>) {
    const bodies: unknown[] = []
    let announcements = 0
    server.use(
      http.get(`${ENDPOINT}/v1/engine`, () => {
        announcements++
        return announce()
      }),
      http.post(`${ENDPOINT}/v1/validate`, async ({ request }) => {
        bodies.push(await request.json())
        return HttpResponse.json({ job_id: JOB, status: 'queued' }, { status: 202 })
      }),
    )
    const iac = client()
    for (let count = 0; count < 2; count++) await iac.submit('validate', asked)
    return { bodies, announcements }
  }
  const announces = (...additions: string[]) => says({ name: 'OpenTofu', version: '1.10.6', additions })

  it.each<[string, Parameters<typeof submitted>[0], object]>([
    ['all of it', announces('state', 'repository', 'validate_json'), asked],
    ['a part', announces('state', 'plan_json'), { ...WORKSPACE, state }],
    ['nothing', status(404), WORKSPACE],
  ])('is left out of a job where it announces %s, which is asked once', async (_, announce, body) => {
    expect(await submitted(announce)).toEqual({ bodies: [body, body], announcements: 1 })
  })

  it('is left out while the announcement cannot be read, except for the state, which decides what a job changes', async () => {
    server.use(http.get(`${ENDPOINT}/v1/engine`, status(503)), accepts('/v1/validate', JOB))
    const { state: _left, ...rest } = asked
    expect(await client().submit('validate', rest)).toBe(JOB)
    await expect(client().submit('validate', asked)).rejects.toMatchObject({ status: 502 })
  })
})
