import { expect, it } from 'vitest'
import { startOnce } from '../../helpers/start-once.ts'
import { said } from '../../pipeline/steps/scripted-llm.ts'
import { createSteps } from '../../pipeline/steps/support.ts'
import { play } from './import-engine.ts'
import { addresses } from './import-world.ts'
import { done, targets, write } from './scripts.ts'

const steps = startOnce(createSteps)

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

it('imports by the plain name, which every version of the provider takes, where its region is that of the ARN', async () => {
  const { world, engine, report } = await importTable({ constant_value: 'eu-central-1' }, 'orders')
  const imports = world.jobs.filter(({ kind }) => kind === 'import').map(({ body }) => body.resource_id)
  expect(imports).toEqual([TABLE, 'orders'])
  expect(engine.imported.get(ADDRESS)).toBe('orders')
  expect(report.summary).toMatchObject({ imported: 1, failed: 0 })
})

it('never takes the plain name where the provider works in another region', async () => {
  const { world } = await importTable({ constant_value: 'eu-west-1' }, 'orders@eu-central-1')
  const imports = world.jobs.filter(({ kind }) => kind === 'import').map(({ body }) => body.resource_id)
  expect(imports).toEqual([TABLE, 'orders@eu-central-1'])
})

it('says what to set in the code when the region of the provider is not known and the name is refused', async () => {
  const { world, report } = await importTable(null, 'none')
  const imports = world.jobs.filter(({ kind }) => kind === 'import').map(({ body }) => body.resource_id)
  expect(imports.slice(0, 2)).toEqual([TABLE, 'orders@eu-central-1'])
  expect(report.imported_resources[0].error_message).toContain('set its `region` in the code')
  expect(said(world.llm.of('generate_engine_import_report')[0])).toContain('version 6 of the provider')
})
