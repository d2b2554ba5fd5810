import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { awsImportId } from '../../../../src/plan/imports/aws-import-id.ts'
import { providerRegion } from '../../../../src/plan/imports/provider-region.ts'
import { parsePlan } from '../../../../src/plan/plan.ts'
import { ACCOUNT_CODE, BLOCKS, listedArn } from './account.ts'
import { REGION } from './call.ts'
import { awsEnvironment, createEngine, type Engine, mirror, PROVIDER_BLOCK, versionsOf } from './engine.ts'
import { type Moto, startMoto } from './moto.ts'
import { PROVIDER } from './provider.ts'
import { zipOf } from './zip.ts'

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
}, 600_000)
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
  }, 1_500_000)
})
