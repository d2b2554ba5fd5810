import { HttpResponse, http } from 'msw'
import { afterEach, describe, expect, it } from 'vitest'
import { interceptRequests } from '../../helpers/intercept.ts'
import { clientOf, ENDPOINT, JOB, status } from './support.ts'

const REQUEST = { workspace_path: '/data/w', resource_types: ['aws_s3_bucket'] }
const PARTS = {
  format_version: '1.0',
  providers: { aws: { version: '5.1.0', resource_schemas: { aws_s3_bucket: { block: {} } } } },
}
const TEXTS = [{ form: 'tf' as const, text: 'a=1' }]
const FOUND = { valid: false, diagnostics: [{ severity: 'error', summary: 'Wrong', detail: 'Because.' }] }

const server = interceptRequests()
const calls: string[] = []
afterEach(() => {
  calls.length = 0
})

type Answer = () => Response | Promise<Response>
const json =
  (body: object, status = 200): Answer =>
  () =>
    HttpResponse.json(body, { status })
const ended = (stdout: string, exit_code = 0): Answer =>
  json({ job_id: JOB, status: 'succeeded', result: { exit_code, stdout, stderr: '' }, error: null })
const failed = json({ job_id: JOB, status: 'failed', result: null, error: { title: 'Gateway Timeout', status: 504 } })
const accepted = json({ job_id: JOB, status: 'queued' }, 202)
const announces = (...additions: string[]) => json({ name: 'OpenTofu', version: '1.10.6', additions })

const noted = (method: 'get' | 'post' | 'delete', path: string, answer: Answer) =>
  http[method](`${ENDPOINT}${path}`, ({ request }) => {
    const { pathname, search } = new URL(request.url)
    calls.push([request.method, `${pathname}${search}`, request.headers.get('prefer') ?? ''].join(' ').trim())
    return answer()
  })

/** Creates a service with these answers on its routes, and records every call. */
function service({
  engine = announces('schema', 'diagnostics'),
  submit = accepted,
  job = ended(JSON.stringify(PARTS)),
} = {}) {
  server.use(noted('get', '/v1/engine', engine), noted('post', '/v1/:kind', submit), noted('get', '/v1/jobs/:id', job))
}
const POSTS = () => calls.filter((call) => call.startsWith('POST'))

describe('optional jobs', () => {
  it('are submitted where they are announced', async () => {
    service()
    const iac = clientOf()
    expect(await iac.schema(REQUEST)).toEqual({
      providers: {
        aws: {
          version: '5.1.0',
          resource_schemas: { aws_s3_bucket: { block: {} } },
          data_source_schemas: {},
          ephemeral_resource_schemas: {},
          resource_types: [],
          data_source_types: [],
          ephemeral_types: [],
        },
      },
      missing: [],
      left_out: [],
    })
    service({ job: ended(JSON.stringify(FOUND), 1) })
    expect(await iac.diagnostics({ workspace_path: '/data/w' })).toMatchObject([
      { severity: 'error', summary: 'Wrong', detail: 'Because.' },
    ])
    expect(calls).toEqual([
      'GET /v1/engine',
      'POST /v1/schema',
      `GET /v1/jobs/${JOB} wait=1`,
      'POST /v1/diagnostics',
      `GET /v1/jobs/${JOB} wait=1`,
    ])
  })

  it.each<[string, Answer]>([
    ['no such route', status(404)],
    ['no such method', status(405)],
    ['the bare contract', json({ name: 'OpenTofu', version: '1.10.6' })],
    ['rubbish', status(200)],
    ['a list of rubbish', json({ additions: 'schema' })],
    ['others only', announces('diagnosis')],
  ])('are not submitted to a service that answers %s, which is asked once', async (_, engine) => {
    service({ engine })
    const iac = clientOf()
    for (let count = 0; count < 3; count++) {
      expect(await iac.schema(REQUEST)).toBeNull()
      expect(await iac.diagnostics({ workspace_path: '/data/w' })).toBeNull()
      expect(await iac.fmt?.('/data/w', TEXTS)).toBeNull()
    }
    expect(calls).toEqual(['GET /v1/engine'])
  })

  it('list what jobs would be refused for, where that is announced', async () => {
    const finding = {
      severity: 'error',
      summary: 'data "external"',
      detail: 'it would run a program',
      range: { filename: 'main.tf', start: { line: 3 } },
      allowed_by: { setting: 'IAC_ALLOW_PROGRAMS', value: 'external:*' },
    }
    service({ engine: announces('programs_only'), job: ended(JSON.stringify({ diagnostics: [finding] }), 1) })
    expect(await clientOf().programs?.({ workspace_path: '/data/w' })).toMatchObject([{ summary: 'data "external"' }])
    expect(POSTS()).toEqual(['POST /v1/diagnostics'])
    service()
    expect(await clientOf().programs?.({ workspace_path: '/data/w' })).toBeNull()
    service({ engine: announces('programs_only'), job: ended('{"diagnostics": [{}]}') })
    expect(await clientOf().programs?.({ workspace_path: '/data/w' })).toBeNull()
  })

  it('say once in the log that a service does not offer them', async () => {
    service()
    const lines: string[] = []
    const iac = clientOf({}, (line) => lines.push(line))
    for (let count = 0; count < 3; count++) expect(await iac.fmt?.('/data/w', TEXTS)).toBeNull()
    expect(lines.filter((line) => line.includes('does not offer'))).toHaveLength(1)
    expect(POSTS()).toEqual([])
  })

  it('take formatted texts only when there are as many as were sent', async () => {
    service({ engine: announces('fmt'), job: ended('{"texts": ["a = 1\\n", "b"]}') })
    const iac = clientOf()
    expect(await iac.fmt?.('/data/w', [...TEXTS, ...TEXTS])).toEqual(['a = 1\n', 'b'])
    expect(await iac.fmt?.('/data/w', TEXTS)).toBeNull()
    expect(await iac.fmt?.('/data/w', [...TEXTS, ...TEXTS])).toBeNull()
    expect(POSTS()).toHaveLength(2)
  })

  it.each([404, 405, 422, 501, 200, 302])('are not asked for again after %i', async (code) => {
    service({ submit: status(code) })
    const iac = clientOf()
    for (let count = 0; count < 3; count++) expect(await iac.schema(REQUEST)).toBeNull()
    expect(POSTS()).toEqual(['POST /v1/schema'])
    expect(await iac.diagnostics({ workspace_path: '/data/w' })).toBeNull()
    expect(POSTS()).toHaveLength(2)
  })

  it('are not asked for again after a job that was answered with another status than 202', async () => {
    service({ submit: json({ job_id: JOB, status: 'queued' }, 200) })
    const iac = clientOf()
    for (let count = 0; count < 2; count++) expect(await iac.schema(REQUEST)).toBeNull()
    expect(calls).toEqual(['GET /v1/engine', 'POST /v1/schema'])
  })

  it.each([
    'no JSON',
    '[]',
    '{"providers": {"aws": 1}}',
    '{"diagnostics": {}}',
    'null',
  ])('are not asked for again after the answer %s', async (stdout) => {
    service({ job: ended(stdout) })
    const iac = clientOf()
    for (let count = 0; count < 2; count++) expect(await iac.schema(REQUEST)).toBeNull()
    for (let count = 0; count < 2; count++) expect(await iac.diagnostics({ workspace_path: '/data/w' })).toBeNull()
    expect(POSTS()).toEqual(['POST /v1/schema', 'POST /v1/diagnostics'])
  })

  it.each<[string, Parameters<typeof service>[0]]>([
    ['a fault', { submit: status(500) }],
    ['a job that failed', { job: failed }],
    ['a refused connection', { submit: () => HttpResponse.error() }],
    ['a refused question', { engine: () => HttpResponse.error() }],
    ['a service that is busy', { engine: status(503) }],
    ['a job that never ends', { job: json({ job_id: JOB, status: 'running' }) }],
  ])('are left alone for a while after %s', async (_, answers) => {
    service(answers)
    const iac = clientOf({ job_timeout: 0.2 })
    expect(await iac.schema(REQUEST)).toBeNull()
    const before = calls.length
    service()
    expect(await iac.schema(REQUEST)).toBeNull()
    expect(await iac.diagnostics({ workspace_path: '/data/w' })).toBeNull()
    expect(calls).toHaveLength(before)
  })

  it('of which the engine makes nothing are asked for again', async () => {
    service({ job: ended('', 1) })
    const iac = clientOf()
    expect(await iac.schema(REQUEST)).toBeNull()
    service()
    expect(await iac.schema(REQUEST)).not.toBeNull()
  })

  it('of a run that is over give nothing, and nothing is concluded', async () => {
    const stop = new AbortController()
    service({
      submit: () => {
        stop.abort()
        return accepted()
      },
    })
    const iac = clientOf()
    expect(await iac.schema(REQUEST, stop.signal)).toBeNull()
    service()
    expect(await iac.schema(REQUEST)).not.toBeNull()
  })
})

const FROM = { stdout: 3, stderr: 0 }
const PIECE = { job_id: JOB, status: 'running', stdout: 'a\n', stderr: '', stdout_next: 5, stderr_next: 0 }
const { job_id: _, ...OUTPUT } = PIECE
const unreachable: Answer = () => HttpResponse.error()

/** Creates a client of a service with these answers, the last one of a list repeated. Every call is recorded. */
function liveClient(answers: { engine?: Answer; cancel?: Answer[]; output?: Answer }) {
  const { engine = announces('cancel', 'output_from'), cancel = [json({ job_id: JOB, status: 'running' }, 202)] } =
    answers
  server.use(
    noted('get', '/v1/engine', engine),
    noted('delete', '/v1/jobs/:id', () => ((cancel.length > 1 ? cancel.shift() : cancel[0]) as Answer)()),
    noted('get', '/v1/jobs/:id/output', answers.output ?? json(PIECE)),
  )
  return clientOf()
}

describe('cancel', () => {
  it('is asked of a service that announces it, which is found out once', async () => {
    const iac = liveClient({})
    expect(await Promise.all([iac.cancel?.(JOB), iac.cancel?.(JOB)])).toEqual([true, true])
    expect(calls).toEqual(['GET /v1/engine', `DELETE /v1/jobs/${JOB}`, `DELETE /v1/jobs/${JOB}`])
  })

  it.each<[string, Parameters<typeof liveClient>[0], boolean]>([
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
    expect(await liveClient(answers).cancel?.(JOB)).toBe(expected)
  })

  it('ends with its signal', async () => {
    expect(await liveClient({ cancel: [unreachable] }).cancel?.(JOB, AbortSignal.abort())).toBe(false)
  })
})

describe('output from an offset', () => {
  const read = (answers: Parameters<typeof liveClient>[0], signal?: AbortSignal) =>
    liveClient(answers).outputFrom?.(JOB, FROM, { waitSeconds: 7, ...(signal && { signal }) })

  it('is asked for with both offsets and a wait', async () => {
    expect(await read({})).toEqual(OUTPUT)
    expect(calls).toEqual(['GET /v1/engine', `GET /v1/jobs/${JOB}/output?stdout_from=3&stderr_from=0 wait=7`])
  })

  it.each<[string, Parameters<typeof liveClient>[0], 'missed' | null]>([
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
