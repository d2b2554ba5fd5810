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
/** Makes a plan that has drift until the generator has written. */
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
})
