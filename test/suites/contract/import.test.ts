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
/** An account with these resources, of which the state has one. */
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
    expect(
      world.sidecar
        .of('import')
        .every(({ body }) => body.scope_id === '123456789012' && body.engine_provider === 'aws'),
    ).toBe(true)
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

  it('whose imports always fail tries as often as configured and reports it', async () => {
    account(A)
    const told = world.sidecar.script
    world.sidecar.script = (one) =>
      one.kind === 'import' ? { exit_code: 1, stderr: 'Error: cannot import' } : told(one)
    const session = await world.first('import')
    expect(lastMessage(session)).toBe('IMPORT')
    expect(imports()).toEqual([PAIRS[0], PAIRS[0]])
    expect(await document(session.rounds[0]?.reports[0])).toMatchObject({
      status: 'Failed',
      summary: { selected: 1, imported: 0, failed: 1 },
      imported_resources: [{ resource_id: A, status: 'failed', error_message: 'Error: cannot import' }],
    })
    const asked = world.model.of('task_complete').filter(({ messages }) => messages.at(-1)?.role === 'user')
    expect(asked.at(-1)?.messages.at(-1)?.content).toContain('cannot import')
  })

  it('makes the code follow what was imported', async () => {
    account(A)
    const told = world.sidecar.script
    const drifted = planOf(change(PAIRS[0][0], ['update'], { before: { tags: { a: '1' } }, after: {} }))
    world.sidecar.script = (one) => {
      if (one.kind !== 'show') return told(one)
      const imported = world.sidecar.kinds().lastIndexOf('import')
      const plans_since = world.sidecar
        .kinds()
        .slice(imported)
        .filter((kind) => kind === 'plan').length
      return { stdout: JSON.stringify(imported >= 0 && plans_since === 1 ? drifted : planOf()) }
    }
    const session = await world.first('import')
    expect(lastMessage(session)).toBe('IMPORT')
    const kinds = world.sidecar.kinds()
    expect(kinds.slice(kinds.indexOf('import'))).toEqual([
      'import',
      'validate',
      'plan',
      'show',
      'validate',
      'plan',
      'show',
    ])
    expect(world.model.decomposed('splitter')).toHaveLength(1)
    expect(session.rounds[0]?.statuses.map(({ message }) => message)).toContain(
      'No drift found; the targeted infrastructure is synchronized.',
    )
    expect(session.history).toHaveLength(1)
  })

  it('repeats only what is not imported yet', async () => {
    account(A, B)
    const told = world.sidecar.script
    world.sidecar.script = (one) =>
      one.kind === 'import' && one.number === 2 ? { exit_code: 1, stderr: 'Error: later' } : told(one)
    const session = await world.first('import')
    expect(lastMessage(session)).toBe('IMPORT')
    expect(imports()).toEqual([...PAIRS, PAIRS[1]])
  })

  it('whose plan always fails ends with the text of the contract', async () => {
    account(A)
    const told = world.sidecar.script
    world.sidecar.script = (one) => (one.kind === 'plan' ? { exit_code: 1, stderr: 'Error: broken block' } : told(one))
    const session = await world.first('import')
    expect(lastMessage(session)).toBe('runner failed: Validation loop exceeded.')
    expect(world.sidecar.of('plan')).toHaveLength(2)
  })

  it.each([
    ['an empty scope', [], 'The scope 123456789012 holds no importable resource.'],
    ['a managed scope', [KEPT], 'Every resource in the scope 123456789012 is already managed.'],
  ])('of %s ends with an empty report', async (_, ids, words) => {
    account(...ids)
    const session = await world.first('import', { q: 'everything' })
    expect(lastMessage(session)).toBe('IMPORT')
    expect(session.history).toEqual([{ user: 'everything', assistant: words }])
    expect(await document(session.rounds[0]?.reports[0])).toMatchObject({
      summary: { selected: 0, imported: 0, failed: 0 },
    })
    expect(world.sidecar.kinds()).toEqual(['init', 'state_resource_ids', 'scope_resource_ids'])
  })

  it('of a scope that cannot be listed fails with what to set, before a model was asked', async () => {
    world.sidecar.script = ({ kind }) =>
      kind === 'scope_resource_ids' ? { exit_code: 1, stderr: 'AWS_REGION is not set' } : undefined
    const session = await world.first('import', { q: 'everything' })
    const words =
      'The scope 123456789012 could not be listed: AWS_REGION is not set. ' +
      'Set AWS_REGION or AWS_DEFAULT_REGION for the iac service.'
    expect(session.current_status).toBe('failed')
    expect(lastMessage(session)).toBe(`runner failed: ${words}`)
    expect(session.history).toEqual([{ user: 'everything', assistant: words }])
    expect(course(session.rounds[0])).toEqual(['started', 'filtering', 'failed'])
    expect(session.rounds[0]?.reports).toEqual([])
    expect(world.model.calls.every(({ tools }) => tools.length === 0)).toBe(true)
  })

  it('of a state that cannot be listed fails', async () => {
    world.sidecar.script = ({ kind }) =>
      kind === 'state_resource_ids' ? { exit_code: 1, stderr: 'no backend' } : undefined
    const session = await world.first('import')
    expect(session.current_status).toBe('failed')
    expect(lastMessage(session)).toMatch(/^runner failed: .*no backend/)
  })

  it('pins nothing', async () => {
    account(KEPT)
    const { uuid } = await world.first('import')
    expect(lastMessage(await world.run('apply', { session_id: uuid }))).toMatch(
      /^runner failed: No reviewed plan is pinned/,
    )
  })
})

describe('a partial import round', () => {
  it('imports what the filter selects of the unmanaged', async () => {
    account(A, B, KEPT)
    world.model.on.report_decomposed_task_operations = ({ tools }) =>
      tools.length === 1 ? { operations: [B, 'arn:aws:s3:::invented'], explanation: 'two' } : undefined
    const session = await world.first('import', { is_partial: true, q: 'Only the second bucket' })
    expect(lastMessage(session)).toBe('IMPORT')
    expect(world.model.of('requests_filter')).toHaveLength(1)
    expect(imports()).toEqual([PAIRS[1]])
    expect(await document(session.rounds[0]?.reports[0])).toMatchObject({
      summary: { selected: 1, imported: 1, failed: 0 },
      excluded_resources: [{ resource_id: A }],
    })
  })

  it.each([
    [
      'declined',
      { requests_filter: () => ({ status: false, explanation: 'No import.' }) },
      'uncompleted',
      'No import.',
    ],
    [
      'that matches nothing',
      { report_decomposed_task_operations: () => ({ operations: [], explanation: '' }) },
      'completed',
      'No unmanaged resource matched the request.',
    ],
  ])('%s ends with words for the user', async (_, on, status, words) => {
    account(A)
    world.model.on = on
    const session = await world.first('import', { is_partial: true, q: 'Something' })
    expect(session.current_status).toBe(status)
    expect(session.history).toEqual([{ user: 'Something', assistant: words }])
    expect(imports()).toEqual([])
  })
})
