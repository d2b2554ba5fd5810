import { describe, expect, it } from 'vitest'
import { modes } from '../../../pipeline/modes/index.ts'
import { PlatformError } from '../../../src/base/errors.ts'
import { MASK } from '../../../src/base/masking.ts'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { createSteps } from '../../pipeline/steps/support.ts'
import { entryOf, play, prepare, reportOf } from './import-engine.ts'
import { addresses, lost, toldReport } from './import-world.ts'
import { done, targets, write } from './scripts.ts'

const steps = startOnce(createSteps)

const SCOPE = ['id-a', 'id-b']
const imports = ({ jobs }: { jobs: { kind: string; body: Record<string, unknown> }[] }) =>
  jobs.filter(({ kind }) => kind === 'import').map(({ body }) => `${body.address} ${body.resource_id}`)

describe('addresses that a model names', () => {
  it.each([
    ['-state=elsewhere.tfstate', 'this is no address of a resource'],
    ['terraform_data.a; rm -rf /', 'this is no address of a resource'],
    ['data.aws_ami.a', 'this is no address of a resource'],
    ['module.a', 'this is no address of a resource'],
    ['terraform_data.a\n-lock=false', 'this is no address of a resource'],
    ['terraform_data.elsewhere', 'the plan has no such resource'],
    ['terraform_data.kept', 'the plan does not create this resource'],
    ['terraform_data.block', 'the resource has an `import` block, which has to be removed: the platform imports'],
  ])('never reach the engine unless the plan creates them: %j', async (address, error) => {
    const changes = [
      entryOf('terraform_data.kept', { actions: ['update'] }),
      entryOf('terraform_data.block', { actions: ['no-op'], importing: { id: 'id-z' } }),
    ]
    const { world, report } = await play(steps, {
      scope: SCOPE,
      changes,
      orchestration: { max_import_iteration: 2 },
      scripts: { import_addresses: addresses([address, 'id-a'], ['terraform_data.b', 'id-b']) },
    })
    expect(imports(world)).toEqual(['terraform_data.b id-b'])
    expect(report).toMatchObject({ status: 'Partial', summary: { selected: 2, imported: 1, failed: 1 } })
    expect(report.imported_resources[1]).toMatchObject({ resource_id: 'id-a', status: 'failed', error_message: error })
    // An invented address is no fault of the code, so the finding is only that a block is missing.
    const heard = error === 'the plan has no such resource' ? 'No resource block of the plan was found' : error
    expect(said(world.llm.of('task_complete')[2])).toContain(heard)
  })

  it('are refused when two identifiers have one, or one identifier has two, and no text decides', async () => {
    const { world, report } = await play(steps, {
      scope: [...SCOPE, 'id-c', 'id-d'],
      code: ['terraform_data.a', 'terraform_data.b', 'terraform_data.c', 'terraform_data.d'],
      orchestration: { max_import_iteration: 2 },
      scripts: {
        import_addresses: addresses(
          ['terraform_data.d', 'id-invented'],
          ['terraform_data.a', 'id-a'],
          ['terraform_data.a', 'id-b'],
          ['terraform_data.b', 'id-c'],
          ['terraform_data.c', 'id-c'],
          ['`terraform_data.d`', ' id-d '],
          ['terraform_data.d', 'id-d'],
        ),
      },
    })
    expect(imports(world)).toEqual(['terraform_data.d id-d'])
    const shared = 'the block describes one object, and was matched with id-a, id-b'
    const errors = report.imported_resources.map((one: Record<string, unknown>) => [one.resource_id, one.error_message])
    expect(errors).toEqual([
      ['id-d', null],
      ['id-a', shared],
      ['id-b', shared],
      ['id-c', 'it was matched with several blocks: terraform_data.b, terraform_data.c'],
    ])
    expect(report.excluded_resources).toEqual([
      { resource_id: 'id-invented', details: 'Named by a model, and not among the identifiers that it was given.' },
    ])
    const heard = said(world.llm.of('task_complete')[2])
    expect(heard).toContain(shared)
    expect(heard).toContain('Nothing was imported to these blocks:\\n- terraform_data.a\\n- terraform_data.b')
    expect(heard).toContain('Not among the identifiers to import, so that nothing was done with them:\\n- id-invented')
    expect(heard).not.toContain('The validation did not accept the code')
  })

  it('that are missing are asked for again, and told as such in the end', async () => {
    const { world, report } = await play(steps, {
      scope: SCOPE,
      orchestration: { max_import_iteration: 2 },
      scripts: { import_addresses: addresses(['terraform_data.a', 'id-a']) },
    })
    expect(said(world.llm.of('task_complete')[2])).toContain(
      'No resource block of the plan was found for these identifiers:\\n- id-b',
    )
    expect(report.imported_resources[1]).toEqual({
      resource_address: '',
      resource_id: 'id-b',
      status: 'failed',
      details: '',
      error_message: 'No resource block was written for it.',
    })
  })

  it('are not asked for when the plan creates nothing', async () => {
    const { world, report } = await play(steps, { scope: SCOPE, code: [], orchestration: { max_import_iteration: 3 } })
    expect(world.llm.of('import_addresses')).toEqual([])
    expect(world.jobs.filter(({ kind }) => kind === 'plan')).toHaveLength(3)
    expect(report).toMatchObject({ status: 'Failed', summary: { selected: 2, imported: 0, failed: 2 } })
    expect(report.state_alignment).toBe('Nothing was imported; the state is unchanged.')
  })
})

it('an attempt that undoes an import is sent back before anything more is imported', async () => {
  const gone = entryOf('terraform_data.a', { actions: ['delete'] })
  const changes: Record<string, unknown>[] = []
  const { world } = await prepare(steps, {
    scope: SCOPE,
    changes,
    orchestration: { max_import_iteration: 3 },
    scripts: {
      import_addresses: [addresses(['terraform_data.a', 'id-a']), addresses(['terraform_data.b', 'id-b'])],
      generate_engine_targets: (_, call) => {
        changes.splice(0, 1, ...(call === 1 ? [gone] : []))
        return { args: { targets: ['terraform_data.b'], explanation: '' } }
      },
    },
  })
  await modes.import.handle(world.run)
  const sent = world.llm.of('task_complete').map((request) => said(request))
  expect(sent.filter((text) => text.includes('their block is gone'))).toHaveLength(1)
  expect(world.llm.of('import_addresses')).toHaveLength(2)
  expect(reportOf(world)).toMatchObject({ status: 'Succeeded', summary: { imported: 2 } })
})

describe('the budget', () => {
  const failing = {
    answer: (kind: string) => (kind === 'plan' ? { exit_code: 1, stderr: 'Error: bad code' } : undefined),
  }
  it('that ends with a failed plan fails the round', async () => {
    const { world } = await prepare(steps, { scope: SCOPE, ...failing, orchestration: { max_import_iteration: 3 } })
    await expect(modes.import.handle(world.run)).rejects.toThrow(
      'Nothing was planned: the engine does not accept the code',
    )
    expect(world.jobs.filter(({ kind }) => kind === 'plan')).toHaveLength(2)
    expect(imports(world)).toEqual([])
    expect(reportOf(world)).toBeNull()
  })

  it('that ends with a failed plan after an import leaves word of it', async () => {
    const { world } = await prepare(steps, {
      scope: SCOPE,
      orchestration: { max_import_iteration: 2 },
      answer: (kind, _, number) =>
        kind === 'plan' && number > 1 ? { exit_code: 1, stderr: 'Error: bad code' } : undefined,
      scripts: { import_addresses: addresses(['terraform_data.a', 'id-a']) },
    })
    await expect(modes.import.handle(world.run)).rejects.toThrow('Validation loop exceeded.')
    expect(world.run.conversation.at(-1)?.assistant).toBe('Imported 1 of 2 resources.\n- terraform_data.a (id-a)')
  })
})

describe('an engine in trouble', () => {
  it('that loses an import is asked what it manages; what is not there is imported again', async () => {
    const { world, report } = await play(steps, {
      scope: SCOPE,
      answer: (kind, _, number) => {
        if (kind === 'import' && number === 1) throw lost()
        return undefined
      },
    })
    expect(imports(world)).toEqual(['terraform_data.a id-a', 'terraform_data.b id-b', 'terraform_data.a id-a'])
    const kinds = world.jobs.map(({ kind }) => kind)
    expect(kinds[kinds.indexOf('import') + 1]).toBe('state_resource_ids')
    expect(report.status).toBe('Succeeded')
  })

  it('that cannot tell either fails the round', async () => {
    const { world } = await prepare(steps, {
      scope: SCOPE,
      answer: (kind, _, number) => {
        if (kind === 'import') throw lost()
        if (kind === 'state_resource_ids' && number > 1)
          throw new PlatformError('BadGateway', 502, 'iac service unreachable: refused')
        return undefined
      },
    })
    await expect(modes.import.handle(world.run)).rejects.toThrow('iac service unreachable: refused')
    expect(imports(world)).toHaveLength(1)
  })

  it('that imports and then fails has imported', async () => {
    const { world } = await prepare(steps, {
      scope: SCOPE,
      state: [],
      answer: (kind, _, number) => {
        if (kind === 'import') return { exit_code: 1, stderr: 'Error: Error releasing the state lock' }
        return kind === 'state_resource_ids' && number > 1 ? { stdout: '["id-a","id-b"]' } : undefined
      },
    })
    await modes.import.handle(world.run)
    expect(imports(world)).toHaveLength(2)
    // The plan of this double does not know them, which is reported.
    expect(reportOf(world)).toMatchObject({ status: 'Succeeded', summary: { imported: 2 } })
    expect(reportOf(world).state_alignment).toContain('terraform_data.a (not in the state)')
  })

  it('waits while another run holds the lock of the state', async () => {
    const held = { exit_code: 1, stderr: 'Error: Error acquiring the state lock\n\nLock Info:\n  ID: 1' }
    const { world, report } = await play(steps, {
      scope: SCOPE,
      answer: (kind, _, number) => (kind === 'import' && number === 1 ? held : undefined),
    })
    expect(imports(world)).toEqual(['terraform_data.a id-a', 'terraform_data.a id-a', 'terraform_data.b id-b'])
    expect(world.llm.of('import_addresses')).toHaveLength(1)
    expect(report.status).toBe('Succeeded')
  })

  it('that cannot plan after the import fails the round with the words of the small model', async () => {
    const { world } = await prepare(steps, {
      scope: SCOPE,
      answer: (kind, _, number) =>
        kind === 'plan' && number > 1 ? { exit_code: 1, stderr: 'Error: throttled' } : undefined,
    })
    const chains: string[] = []
    const nothing = { end: () => {}, fail: () => {} }
    const chain = (name: string, query: string) => {
      if (query.includes('Error: throttled')) chains.push(name)
      return { ...nothing, model: () => nothing, tool: () => nothing }
    }
    const run = { ...world.run, trace: { masked: () => ({ chain, engine: () => nothing }) } }
    await expect(modes.import.handle(run)).rejects.toMatchObject({
      code: 'ImportNotConverged',
      message: 'One sentence.',
    })
    expect(chains).toEqual(['STATUS_UPDATE'])
    expect(said(world.llm.of('status').at(-1))).toContain('Error: throttled')
  })
})

it('what somebody else imports meanwhile is left to them', async () => {
  const { world } = await prepare(steps, {
    scope: SCOPE,
    answer: (kind) => {
      if (kind !== 'show') return undefined
      const resources = [{ address: 'terraform_data.theirs', mode: 'managed', values: { arn: 'id-a', id: 'other' } }]
      const plan = {
        format_version: '1.2',
        resource_changes: [entryOf('terraform_data.b', { actions: ['create'] })],
        prior_state: { values: { root_module: { child_modules: [{ resources }] } } },
      }
      return { stdout: JSON.stringify(plan) }
    },
  })
  await modes.import.handle(world.run)
  expect(imports(world)).toEqual(['terraform_data.b id-b'])
  expect(reportOf(world)).toMatchObject({
    summary: { selected: 1, imported: 1, failed: 0 },
    excluded_resources: [
      { resource_id: 'id-a', details: 'Managed as terraform_data.theirs by the time of the import.' },
    ],
  })
})

it('secrets stay out of status, report and conversation', async () => {
  const secret = 'hunter2-hunter2'
  const [value, marks] = [{ password: secret }, { password: true }]
  const sensitive = { before: value, before_sensitive: marks, after: value, after_sensitive: marks }
  const { world, report } = await play(steps, {
    scope: SCOPE,
    changes: [entryOf('terraform_data.s', { actions: ['no-op'], ...sensitive })],
    orchestration: { max_import_iteration: 1 },
    answer: (kind) => (kind === 'import' ? { exit_code: 1, stderr: `Error: wrong password ${secret}` } : undefined),
    scripts: {
      task_complete: [done(`It is ${secret}`)],
      generate_engine_import_report: { args: { ...toldReport.args, execution_summary: `Failed with ${secret}` } },
    },
  })
  expect(report).toMatchObject({ status: 'Failed', execution_summary: `Failed with ${MASK}` })
  expect(report.imported_resources[0].error_message).toBe(`Error: wrong password ${MASK}`)
  const shown = JSON.stringify([await world.statuses(), world.run.conversation, [...world.objects.values()]])
  expect(shown).not.toContain(secret)
})

it('targets that a model forgets do not keep what is imported out of the plan', async () => {
  const { world } = await play(steps, {
    scope: SCOPE,
    scripts: {
      generate_engine_targets: [targets('terraform_data.a'), targets('terraform_data.b')],
      import_addresses: [addresses(['terraform_data.a', 'id-a']), addresses(['terraform_data.b', 'id-b'])],
    },
  })
  const planned = world.jobs.filter(({ kind }) => kind === 'plan').map(({ body }) => body.targets)
  const both = ['terraform_data.b', 'terraform_data.a']
  expect(planned).toEqual([['terraform_data.a'], both, both])
})

const ADDRESS = 'aws_dynamodb_table.orders'
const TABLE = 'arn:aws:dynamodb:eu-central-1:123456789012:table/orders'
/** The error of provider version 5 for an ARN or a name with a region. */
const REFUSED = 'Error: Cannot import non-existent remote object'

const importTable = (region: Record<string, unknown> | null, accepted: string) =>
  play(steps, {
    code: [ADDRESS],
    scope: [TABLE],
    configuration: {
      provider_config: { aws: { name: 'aws', expressions: region ? { region } : {} } },
      root_module: { resources: [{ address: ADDRESS, mode: 'managed', provider_config_key: 'aws' }] },
    },
    answer: (kind, body) =>
      kind === 'import' && body.resource_id !== accepted ? { exit_code: 1, stdout: '', stderr: REFUSED } : undefined,
    scripts: {
      task_complete: [write('orders.tf', 'resource "aws_dynamodb_table" "orders" {\n}\n'), done('Wrote a block.')],
      generate_engine_targets: targets(ADDRESS),
      import_addresses: addresses([ADDRESS, TABLE]),
    },
    orchestration: { max_validation_iteration: 1 },
  })

it.each([
  [
    'takes the plain name, as every version of the provider does, where its region is that of the ARN',
    'eu-central-1',
    'orders',
  ],
  ['never takes the plain name where the provider works in another region', 'eu-west-1', 'orders@eu-central-1'],
])('%s', async (_, constant_value, accepted) => {
  const { world, engine, report } = await importTable({ constant_value }, accepted)
  expect(imports(world)).toEqual([`${ADDRESS} ${TABLE}`, `${ADDRESS} ${accepted}`])
  expect(engine.imported.get(ADDRESS)).toBe(accepted)
  expect(report.summary).toMatchObject({ imported: 1, failed: 0 })
})

it('says what to set in the code when the region of the provider is not known and the name is refused', async () => {
  const { world, report } = await importTable(null, 'none')
  expect(imports(world).slice(0, 2)).toEqual([`${ADDRESS} ${TABLE}`, `${ADDRESS} orders@eu-central-1`])
  expect(report.imported_resources[0].error_message).toContain('set its `region` in the code')
  expect(said(world.llm.of('generate_engine_import_report')[0])).toContain('version 6 of the provider')
})

it('an object that a plan after the import shows to be another one is to be taken out, and its block stays', async () => {
  const address = 'aws_instance.web'
  const id = 'arn:aws:ec2:eu-central-1:123456789012:instance/i-0123'
  const { world, report } = await play(steps, {
    code: [address],
    scope: [id],
    values: { [address]: { tags: { Name: 'web' } } },
    objects: { [address]: { tags: { Name: 'database' } } },
    scripts: {
      task_complete: [write('web.tf', 'resource "aws_instance" "web" {\n}\n'), done('Wrote a block.')],
      generate_engine_targets: targets(address),
      import_addresses: addresses([address, id]),
    },
  })
  // One block and one identifier of its kind need no model.
  expect(world.llm.of('import_addresses')).toEqual([])
  expect(imports(world)).toEqual([`${address} ${id}`])
  expect(report.recommendations[0]).toBe(
    `${id} was imported as ${address}, and is another object: the object has tags.Name "database", the block has ` +
      `"web". Take it out of the state before the code is applied: terraform state rm '${address}'`,
  )
  expect(report.state_alignment).toContain(`Not aligned: a plan after the import still changes 1 of 1`)
  expect(world.llm.of('report_decomposed_task_operations')).toEqual([])
  expect(world.llm.of('task_complete')).toHaveLength(2)
})
