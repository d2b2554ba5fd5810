import { HttpResponse, http } from 'msw'
import { afterEach, describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { createIacClient } from '../../../src/services/iac/client.ts'
import { interceptRequests } from '../../helpers/intercept.ts'

const ENDPOINT = 'http://iac.test:8082'
const JOB = '3f2b8c1e-6a57-4f0e-9d31-0c7b5a8e4d12'
const FROM = { stdout: 3, stderr: 0 }
const PIECE = { job_id: JOB, status: 'running', stdout: 'a\n', stderr: '', stdout_next: 5, stderr_next: 0 }
const OUTPUT = { status: 'running', stdout: 'a\n', stderr: '', stdout_next: 5, stderr_next: 0 }

type Answer = () => Response
const json =
  (body: object, status = 200): Answer =>
  () =>
    HttpResponse.json(body, { status })
const status =
  (code: number): Answer =>
  () =>
    new HttpResponse('<html>', { status: code })
const unreachable: Answer = () => HttpResponse.error()
const announces = (...additions: string[]) => json({ name: 'OpenTofu', version: '1.10.6', additions })

const server = interceptRequests()
const calls: string[] = []
afterEach(() => {
  calls.length = 0
})

/** Creates a client of a service with these answers, the last one of a list repeated. Every call is recorded. */
function client(answers: { engine?: Answer; cancel?: Answer[]; output?: Answer }) {
  const { engine = announces('cancel', 'output_from'), cancel = [json({ job_id: JOB, status: 'running' }, 202)] } =
    answers
  const noted = (method: 'get' | 'delete', path: string, answer: Answer) =>
    http[method](`${ENDPOINT}${path}`, ({ request }) => {
      const { pathname, search } = new URL(request.url)
      calls.push([request.method, `${pathname}${search}`, request.headers.get('prefer') ?? ''].join(' ').trim())
      return answer()
    })
  server.use(
    noted('get', '/v1/engine', engine),
    noted('delete', '/v1/jobs/:id', () => ((cancel.length > 1 ? cancel.shift() : cancel[0]) as Answer)()),
    noted('get', '/v1/jobs/:id/output', answers.output ?? json(PIECE)),
  )
  return createIacClient(
    { endpoint: ENDPOINT, token_env: 'T', token: 't', timeout: 5, job_poll_interval: 0.05, job_timeout: 5 },
    { fetch: (input, init) => fetch(input, init), log: createLogger({ write: () => {} }) },
  )
}

describe('cancel', () => {
  it('is asked of a service that announces it, which is found out once', async () => {
    const iac = client({})
    expect(await Promise.all([iac.cancel?.(JOB), iac.cancel?.(JOB)])).toEqual([true, true])
    expect(calls).toEqual(['GET /v1/engine', `DELETE /v1/jobs/${JOB}`, `DELETE /v1/jobs/${JOB}`])
  })

  it.each<[string, Parameters<typeof client>[0], boolean]>([
    ['is not announced', { engine: announces('output') }, false],
    ['is asked of a service without announcements', { engine: status(404) }, false],
    ['names an unknown job', { cancel: [json({ title: 'Unknown', status: 404 }, 404)] }, false],
    ['is answered with something else', { cancel: [json({ ok: true }, 202)] }, false],
    ['arrives at the second attempt', { cancel: [status(503), json({ job_id: JOB, status: 'queued' }, 202)] }, true],
    [
      'finds the service away for a moment',
      { cancel: [unreachable, json({ job_id: JOB, status: 'queued' }, 202)] },
      true,
    ],
    ['never arrives', { cancel: [unreachable] }, false],
    ['finds no service', { engine: unreachable }, false],
  ])('that %s', async (_, answers, expected) => {
    expect(await client(answers).cancel?.(JOB)).toBe(expected)
  })

  it('ends with its signal', async () => {
    expect(await client({ cancel: [unreachable] }).cancel?.(JOB, AbortSignal.abort())).toBe(false)
  })
})

describe('output from an offset', () => {
  const read = (answers: Parameters<typeof client>[0], signal?: AbortSignal) =>
    client(answers).outputFrom?.(JOB, FROM, { waitSeconds: 7, ...(signal && { signal }) })

  it('is asked for with both offsets and a wait', async () => {
    expect(await read({})).toEqual(OUTPUT)
    expect(calls).toEqual(['GET /v1/engine', `GET /v1/jobs/${JOB}/output?stdout_from=3&stderr_from=0 wait=7`])
  })

  it.each<[string, Parameters<typeof client>[0], 'missed' | null]>([
    ['is not offered', { engine: announces('output', 'cancel') }, null],
    ['is of an unknown job', { output: status(404) }, null],
    ['has no offsets', { output: json({ job_id: JOB, status: 'running', stdout: '', stderr: '' }) }, null],
    ['has offsets that are none', { output: json({ ...PIECE, stdout_next: -1 }) }, null],
    ['is too large', { output: json({ ...PIECE, stdout: 'x'.repeat(5_000_000) }) }, 'missed'],
    ['cannot be had now', { output: status(503) }, 'missed'],
    ['cannot be reached', { output: unreachable }, 'missed'],
    ['is of a service that is away', { engine: unreachable }, 'missed'],
  ])('that %s', async (_, answers, expected) => {
    expect(await read(answers)).toBe(expected)
  })

  it('is not waited for any more when the signal fires', async () => {
    expect(await read({}, AbortSignal.abort())).toBeNull()
  })
})
