import { describe, expect, it } from 'vitest'
import { EMPTY_PLAN } from './fake-sidecar.ts'
import {
  change,
  course,
  document,
  keysOf,
  lastMessage,
  metadata,
  planOf,
  provideWorld,
  text,
  type World,
} from './world.ts'

const world = provideWorld({ orchestration: { max_drift_reports: 2 } })

const ADDRESS = 'aws_s3_bucket.logs'
const DRIFTED = planOf(
  change(
    ADDRESS,
    ['update'],
    {
      before: { bucket: 'logs', tags: { owner: 'console' }, policy: 'secret-of-the-cloud' },
      after: { bucket: 'logs', tags: { owner: 'code' }, policy: 'secret-of-the-code' },
    },
    { before_sensitive: { policy: true }, after_sensitive: { policy: true } },
  ),
)
const IN_SYNC = 'No drift found; the targeted infrastructure is synchronized.'
const KEYS = ['remediated_resources', 'status', 'summary', 'unreconciled_drift', 'whitelisted_exceptions']
const messages = (session: Awaited<ReturnType<World['first']>>) =>
  session.rounds[0]?.statuses.map(({ message }) => message)
/** Drifted until the generator wrote. */
const mended = () => {
  world.sidecar.script = ({ kind }) =>
    kind === 'show' ? { stdout: JSON.stringify(world.sidecar.of('plan').length > 1 ? EMPTY_PLAN : DRIFTED) } : undefined
}

describe('a full drift round', () => {
  it('in sync plans the whole root once, asks no filter, reports', async () => {
    const session = await world.first('drift')
    expect(lastMessage(session)).toBe('DRIFT')
    expect(course(session.rounds[0])).toEqual(['started', 'filtering', 'validating', 'report', 'completed'])
    expect(messages(session)).toEqual(
      expect.arrayContaining(['Assessing drift on the targeted infrastructure.', IN_SYNC]),
    )
    expect(world.sidecar.kinds()).toEqual(['init', 'validate', 'plan', 'show'])
    expect(world.sidecar.of('plan')[0]?.body.targets ?? []).toEqual([])
    expect(world.model.of('requests_filter')).toEqual([])
    expect(world.model.of('generate_engine_targets')).toEqual([])
    expect(session.rounds[0]).toMatchObject({ compliance_checks: [], reports: [{ type: 'drift' }] })
    const report = await document(session.rounds[0]?.reports[0])
    expect(Object.keys(report).sort()).toEqual(KEYS)
    expect(report).toMatchObject({
      status: 'Succeeded',
      remediated_resources: [],
      unreconciled_drift: [],
      whitelisted_exceptions: [],
    })
    expect(session.is_blocked).toBe(false)
  })

  it('mends drift, inverted and masked, and plans again', async () => {
    mended()
    const session = await world.first('drift')
    expect(lastMessage(session)).toBe('DRIFT')
    expect(world.sidecar.kinds()).toEqual(['init', 'validate', 'plan', 'show', 'validate', 'plan', 'show'])
    expect(messages(session)).toContain(IN_SYNC)
    const [drift] = session.rounds[0]?.plans ?? []
    expect(await metadata(drift)).toEqual({ type: 'drift' })
    const told = await text(drift)
    expect(JSON.parse(told)).toMatchObject([{ address: ADDRESS, action: 'update resource' }])
    expect(told).toMatch(/console/)
    expect(told + world.model.calls.map((call) => call.text).join('')).not.toMatch(/secret-of-the-(cloud|code)/)
    expect(world.model.decomposed('splitter').map(({ model }) => model)).toEqual(['main-model'])
    expect(world.model.decomposed('reconciliation')).toEqual([])
    expect(world.model.decomposed('sole').map(({ model }) => model)).toEqual(['small-model'])
    const report = await document(session.rounds[0]?.reports[0])
    expect(report).toMatchObject({ status: 'Succeeded', remediated_resources: [{ resource_address: ADDRESS }] })
    expect(
      keysOf(report)
        .filter((key) => key.startsWith('.remediated_resources[]'))
        .sort(),
    ).toEqual(
      [
        'changes',
        'changes[].attribute_modified',
        'changes[].change_description',
        'changes[].details',
        'changes[].reason',
        'file_path',
        'resource_address',
      ].map((key) => `.remediated_resources[].${key}`),
    )
    expect(session.history).toEqual([{ user: 'Add a bucket for logs', assistant: 'Wrote the bucket.' }])
  })

  it('stops after the iterations of the configuration and reports what is left', async () => {
    world.sidecar.plan = DRIFTED
    const session = await world.first('drift')
    expect(lastMessage(session)).toBe('DRIFT')
    expect(world.model.decomposed('splitter')).toHaveLength(2)
    expect(
      messages(session)?.filter((message) => message === 'Assessing drift on the targeted infrastructure.'),
    ).toHaveLength(2)
    expect(await document(session.rounds[0]?.reports[0])).toMatchObject({
      unreconciled_drift: [{ resource_address: ADDRESS }],
    })
  })

  it('makes tasks of at most eight operations', async () => {
    mended()
    world.sidecar.script = ({ kind }) =>
      kind === 'show'
        ? { stdout: JSON.stringify(world.sidecar.of('plan').length > 2 ? EMPTY_PLAN : DRIFTED) }
        : undefined
    const operations = Array.from({ length: 9 }, (_, index) => `operation number ${index}`)
    world.model.on.report_decomposed_task_operations = () => ({ operations, explanation: 'Nine.' })
    const session = await world.first('drift')
    expect(lastMessage(session)).toBe('DRIFT')
    const tasks = world.model.of('task_complete').filter(({ messages }) => messages.at(-1)?.role === 'user')
    const told = tasks.map(({ messages }) =>
      operations.filter((one) => messages.at(-1)?.content?.includes(`- ${one}\n`)),
    )
    expect(told).toEqual([operations.slice(0, 8), operations.slice(8)])
    expect(session.history?.map(({ user }) => user)).toEqual(['Add a bucket for logs'])
  })

  it('leaves alone what the exception rules cover', async () => {
    world.sidecar.plan = DRIFTED
    world.model.on.report_decomposed_task_operations = ({ tools }) =>
      tools.length === 1 ? { operations: [], explanation: 'Owner tags are noise.' } : undefined
    const session = await world.first('drift')
    expect(lastMessage(session)).toBe('DRIFT')
    expect(messages(session)).toContain(
      'Drift check completed; the remaining differences are covered by the drift exception rules.',
    )
    expect(world.model.of('task_complete')).toEqual([])
    expect(await document(session.rounds[0]?.reports[0])).toMatchObject({
      status: 'Succeeded',
      unreconciled_drift: [],
      whitelisted_exceptions: [{ resource_address: ADDRESS }],
    })
  })

  it('whose plan fails completes and reports it as unreconciled', async () => {
    world.sidecar.script = ({ kind }) =>
      kind === 'plan' ? { exit_code: 1, stderr: 'Error: no credentials' } : undefined
    const session = await world.first('drift')
    expect(lastMessage(session)).toBe('DRIFT')
    const report = await document(session.rounds[0]?.reports[0])
    expect(report.status).toBe('Failed')
    expect(JSON.stringify(report.unreconciled_drift)).toContain('no credentials')
    expect(world.sidecar.of('plan')).toHaveLength(1)
  })

  it('whose remediation never validates fails', async () => {
    world.sidecar.script = ({ kind, number }) =>
      kind === 'show'
        ? { stdout: JSON.stringify(DRIFTED) }
        : kind === 'plan' && number > 1
          ? { exit_code: 1, stderr: 'Error: no' }
          : undefined
    const session = await world.first('drift')
    expect(lastMessage(session)).toBe('runner failed: Validation loop exceeded.')
  })

  it('pins nothing: an apply after it fails', async () => {
    const { uuid } = await world.first('drift')
    expect(lastMessage(await world.run('apply', { session_id: uuid }))).toBe(
      'runner failed: No reviewed plan is pinned for this session; run a generate round before applying.',
    )
  })

  it('neither sets nor clears the lock', async () => {
    const { uuid } = await world.first('drift')
    await world.call('PATCH', `/admin/sessions/${uuid}/toggle_lock`, { locked: true })
    expect(await world.run('drift', { session_id: uuid, q: 'again' })).toMatchObject({ is_blocked: true })
  })
})

describe('a partial drift round', () => {
  const partial = (body = {}) => world.first('drift', { is_partial: true, q: 'The log bucket', ...body })

  it('plans what the model found for the request, in sync', async () => {
    world.model.on.generate_engine_targets = () => ({ targets: [ADDRESS], explanation: 'the bucket' })
    const session = await partial()
    expect(lastMessage(session)).toBe('DRIFT')
    expect(world.model.of('requests_filter')).toHaveLength(1)
    expect(world.sidecar.of('plan').map(({ body }) => body.targets)).toEqual([[ADDRESS]])
    expect(messages(session)).toContain(IN_SYNC)
    expect(await document(session.rounds[0]?.reports[0])).toMatchObject({ status: 'Succeeded', unreconciled_drift: [] })
  })

  it('mends what drifted among the targets', async () => {
    mended()
    world.model.on.generate_engine_targets = () => ({ targets: [ADDRESS], explanation: 'the bucket' })
    const session = await partial()
    expect(lastMessage(session)).toBe('DRIFT')
    const reviewed = world.sidecar.of('plan').filter(({ body }) => body.plan_file === 'session.plan')
    expect(reviewed.map(({ body }) => body.targets)).toEqual([[ADDRESS], [ADDRESS]])
    expect(session.rounds[0]?.plans.map(({ targets }) => targets)).toEqual([[ADDRESS], [ADDRESS]])
  })

  it.each([
    ['the filter declines', () => ({ status: false, explanation: 'Not about drift.' }), 'Not about drift.'],
    ['nothing fits', undefined, 'Everything.'],
  ])('ends uncompleted when %s', async (_, requests_filter, words) => {
    world.model.on = requests_filter ? { requests_filter } : {}
    const session = await partial()
    expect([session.current_status, lastMessage(session)]).toEqual(['uncompleted', words])
    expect(world.sidecar.submissions).toEqual([])
  })
})
