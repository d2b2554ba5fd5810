import { beforeEach, describe, expect, it } from 'vitest'
import { change, course, document, lastMessage, planOf, provideWorld } from './world.ts'

const world = provideWorld({ orchestration: { max_import_iteration: 2, max_drift_reports: 1 } })
beforeEach(() => {
  world.model.on.import_addresses = () => ({
    status: 'done',
    summary: 'Both.',
    imports: PAIRS.map(([address, resource_id]) => ({ address, resource_id })),
  })
})

const A = 'arn:aws:s3:::one'
const B = 'arn:aws:s3:::two'
const KEPT = 'arn:aws:s3:::kept'
const PAIRS = [
  ['aws_s3_bucket.one', A],
  ['aws_s3_bucket.two', B],
] as const
const KEYS = [
  'excluded_resources',
  'execution_summary',
  'imported_resources',
  'recommendations',
  'state_alignment',
  'status',
  'summary',
]
/** Makes an account with these resources, one of which is in the state. */
const account = (...ids: string[]) => {
  world.sidecar.script = ({ kind }) => {
    if (kind === 'scope_resource_ids') return { stdout: JSON.stringify(ids) }
    return kind === 'state_resource_ids' ? { stdout: JSON.stringify([KEPT]) } : undefined
  }
}
const imports = () => world.sidecar.of('import').map(({ body }) => [body.address, body.resource_id])

describe('a full import round', () => {
  it.each([
    ['tells nothing', planOf()],
    ['creates the resources', planOf(...PAIRS.map(([address]) => change(address, ['create'], { after: {} })))],
  ])('imports what is unmanaged, one after the other, where the plan %s', async (_, plan) => {
    account(B, A, KEPT, A)
    const told = world.sidecar.script
    world.sidecar.script = (one) =>
      one.kind === 'show'
        ? { stdout: JSON.stringify(world.sidecar.of('import').length > 0 ? planOf() : plan) }
        : told(one)
    const session = await world.first('import', { q: 'Import all the infrastructure' })
    expect(lastMessage(session)).toBe('IMPORT')
    expect(imports()).toEqual(PAIRS)
    expect(world.sidecar.kinds().slice(0, 3)).toEqual(['init', 'state_resource_ids', 'scope_resource_ids'])
    expect(world.sidecar.kinds().filter((kind) => kind === 'init')).toHaveLength(1)
    for (const { body } of world.sidecar.of('import'))
      expect(body).toMatchObject({ scope_id: '123456789012', engine_provider: 'aws' })
    expect(world.model.of('requests_filter')).toEqual([])
    expect(world.model.decomposed('sole')).toEqual([])
    expect(course(session.rounds[0])).toEqual([
      'started',
      'filtering',
      'generating',
      'validating',
      'report',
      'completed',
    ])
    const report = await document(session.rounds[0]?.reports[0])
    expect(Object.keys(report).sort()).toEqual(KEYS)
    expect(report).toMatchObject({
      status: 'Succeeded',
      summary: { selected: 2, imported: 2, failed: 0 },
      imported_resources: PAIRS.map(([resource_address, resource_id]) => ({
        resource_address,
        resource_id,
        status: 'imported',
        error_message: null,
      })),
    })
    expect(session).toMatchObject({
      is_blocked: false,
      rounds: [{ compliance_checks: [], reports: [{ type: 'import' }] }],
    })
  })
})
