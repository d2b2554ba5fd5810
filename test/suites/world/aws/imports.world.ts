import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { isEqualJson, type JsonObject } from '../../../../src/base/json.ts'
import { awsImportId, providerRegion } from '../../../../src/plan/imports/aws-import-forms.ts'
import { parsePlan, type ResourceChange } from '../../../../src/plan/plan.ts'
import { changesStateAlone, withoutStateArguments } from '../../../../src/plan/state-arguments.ts'
import { ACCOUNT_CODE, BLOCKS, listedArn } from './account.ts'
import { REGION } from './call.ts'
import { awsEnvironment, createEngine, type Engine, HANGS_MS, mirror, PROVIDER_BLOCK, versionsOf } from './engine.ts'
import { type Moto, startMoto } from './moto.ts'
import { PROVIDER } from './provider.ts'
import { zipOf } from './zip.ts'

vi.setConfig({ testTimeout: HANGS_MS })

const TYPES = Object.keys(BLOCKS)

let home: string
let moto: Moto
let made: Engine
let taken: Engine

const engineIn = async (name: string): Promise<Engine> => {
  const engine = await createEngine(join(home, name), {
    ...awsEnvironment(moto.url),
    TF_PLUGIN_CACHE_DIR: '',
    TF_DATA_DIR: join(home, 'shared'),
  })
  await engine.write('versions.tf', versionsOf(PROVIDER) + PROVIDER_BLOCK)
  await engine.write('account.tf', ACCOUNT_CODE)
  await engine.write('code.zip', zipOf('index.js', 'exports.handler = async () => "hello"\n'))
  return engine
}

beforeAll(async () => {
  if (mirror === '') return
  home = await mkdtemp(join(tmpdir(), 'world-imports-'))
  moto = await startMoto(process.env.WORLD_MOTO ?? '', home)
  made = await engineIn('made')
  await made.must('init', '-input=false')
  await made.must('apply', '-input=false', '-auto-approve', '-parallelism=4')
  taken = await engineIn('taken')
  await taken.must('init', '-input=false')
}, HANGS_MS)
afterAll(async () => {
  await moto?.service.stop()
  if (home) await rm(home, { recursive: true, force: true })
})

interface StateResource {
  type: string
  name: string
  values: Record<string, string>
}

async function attributesOf(engine: Engine): Promise<Map<string, Record<string, string>>> {
  const state = JSON.parse(await engine.must('show', '-json'))
  const resources: StateResource[] = state.values.root_module.resources
  return new Map(resources.filter(({ name }) => name === 'x').map(({ type, values }) => [type, values]))
}

/** The ARN where there is one, since the address of a queue has the host by which it was asked for. */
const nameOf = (attributes: Record<string, string> | undefined) => attributes?.arn ?? attributes?.id

const typesOf = (changes: ResourceChange[]) => changes.map(({ type }) => type).sort()
/** The arguments in which the code differs from what was imported. */
function differing(resource: ResourceChange | undefined): string[] {
  if (!resource) return []
  const { before, after } = withoutStateArguments(resource) as { before: JsonObject; after: JsonObject }
  return Object.keys(after).filter((name) => !isEqualJson(before[name] ?? null, after[name] ?? null))
}

describe.skipIf(mirror === '')('identifiers that the inventory lists', () => {
  it(`are those of at least 40 types: ${TYPES.length}`, () => {
    expect(TYPES.length).toBeGreaterThanOrEqual(40)
  })

  it('lead the provider to the resource, as they are or in the form that we make of them', async () => {
    const attributes = await attributesOf(made)
    await taken.must('plan', '-input=false', '-out=all.plan')
    const plan = parsePlan(await taken.must('show', '-json', 'all.plan'))
    const refused: string[] = []
    const forms: Record<string, string> = {}
    for (const type of TYPES) {
      const own = attributes.get(type)
      if (!own) throw new Error(`no ${type} was made`)
      const arn = listedArn(type, own)
      const address = `${type}.x`
      expect(providerRegion(plan, address)).toBe(REGION)
      const first = await taken.run('import', '-input=false', address, arn)
      const other = awsImportId(address, arn, REGION)
      const second =
        first.code === 0 || other === null ? first : await taken.run('import', '-input=false', address, other)
      forms[type] = first.code === 0 ? 'ARN' : (other ?? 'ARN')
      if (second.code !== 0) refused.push(`${type} by ${arn} and ${other}: ${second.stderr.slice(0, 600)}`)
    }
    console.log(
      Object.entries(forms)
        .map(([type, form]) => `${type}: ${form}`)
        .join('\n'),
    )
    expect(refused).toEqual([])
    const imported = await attributesOf(taken)
    for (const type of TYPES) expect([type, nameOf(imported.get(type))]).toEqual([type, nameOf(attributes.get(type))])
  })

  it('leave nothing to change but what only the state keeps', async () => {
    await taken.must('plan', '-input=false', '-out=after.plan')
    const plan = parsePlan(await taken.must('show', '-json', 'after.plan'))
    const updates = plan.resource_changes.filter(({ type, name }) => name === 'x' && TYPES.includes(type))
    const planned = updates.filter(({ change }) => !change.actions.includes('no-op'))
    const [alone, rest] = [planned.filter(changesStateAlone), planned.filter((update) => !changesStateAlone(update))]
    expect(typesOf(alone)).toEqual([
      'aws_ebs_volume',
      'aws_ecr_repository',
      'aws_iam_user',
      'aws_kinesis_stream',
      'aws_kms_key',
      'aws_route53_zone',
      'aws_s3_bucket',
      'aws_secretsmanager_secret',
      'aws_security_group',
    ])
    // A password and an archive cannot be read, and the second subnet is not imported here. The cluster has a password
    // too.
    expect(typesOf(rest)).toEqual(['aws_db_instance', 'aws_db_subnet_group', 'aws_lambda_function', 'aws_rds_cluster'])
    expect(differing(rest.find(({ type }) => type === 'aws_db_instance'))).toEqual(['password'])
  })
})
