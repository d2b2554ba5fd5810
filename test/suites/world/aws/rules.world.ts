import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Plan, parsePlan } from '../../../../src/plan/plan.ts'
import { evaluateRules } from '../../../../src/rules/evaluate.ts'
import { RULES } from '../../../../src/rules/index.ts'
import { awsEnvironment, createEngine, type Engine, HANGS_MS, mirror, PROVIDER_BLOCK, versionsOf } from './engine.ts'
import { type Moto, startMoto } from './moto.ts'
import { PROVIDER } from './provider.ts'
import { RULE_CASES, RULE_CODE } from './rule-cases.ts'

vi.setConfig({ testTimeout: HANGS_MS })

let home: string
let moto: Moto
let engine: Engine

beforeAll(async () => {
  if (mirror === '') return
  home = await mkdtemp(join(tmpdir(), 'world-rules-'))
  moto = await startMoto(process.env.WORLD_MOTO ?? '', home)
  engine = await createEngine(join(home, 'root'), awsEnvironment(moto.url))
  await engine.write('versions.tf', versionsOf(PROVIDER) + PROVIDER_BLOCK)
  await engine.must('init', '-input=false')
}, HANGS_MS)
afterAll(async () => {
  await moto?.service.stop()
  if (home) await rm(home, { recursive: true, force: true })
})

/** A plan of one change, with the data sources that it reads. */
const only = (plan: Plan, change: Plan['resource_changes'][number]): Plan => ({
  ...plan,
  resource_changes: plan.resource_changes.filter((each) => each === change || each.mode === 'data'),
})

async function planned(code: string): Promise<Plan> {
  await engine.write('main.tf', code)
  await engine.must('plan', '-input=false', '-out=rules.plan')
  return parsePlan(await engine.must('show', '-json', 'rules.plan'))
}

/** Ids of the rules that found something in a plan of the code, by address. */
async function findings(code: string): Promise<Map<string, string[]>> {
  const plan = await planned(code)
  const found = new Map<string, string[]>()
  // One resource at a time, so that a rule which is told once a plan names it.
  for (const change of plan.resource_changes) {
    const { findings } = evaluateRules(only(plan, change), { targets: [], grades: {} })
    const own = findings.filter(({ resource }) => resource === change.address).map(({ rule_id }) => rule_id)
    found.set(change.address, [...(found.get(change.address) ?? []), ...own])
  }
  return found
}

/** Rules that look at what goes away, so that something has to be there first. */
const OF_DELETIONS = [
  'aws.storage.public-access-block-removed',
  'aws.stateful.no-final-snapshot',
  'aws.evidence.removed',
  'aws.evidence.shortened',
]

/** A rule that one resource breaks because another is missing in the plan. */
const OF_SEVERAL = 'aws.evidence.not-started'

const RECORDER = `resource "aws_config_configuration_recorder" "x" {
  name     = "x"
  role_arn = "arn:aws:iam::123456789012:role/config"
}
`

const STATUS = `resource "aws_config_delivery_channel" "x" {
  name           = "x"
  s3_bucket_name = "records"
  depends_on     = [aws_config_configuration_recorder.x]
}

resource "aws_config_configuration_recorder_status" "x" {
  name       = aws_config_configuration_recorder.x.name
  is_enabled = true
  depends_on = [aws_config_delivery_channel.x]
}
`

const REMOVED = `resource "aws_cloudwatch_log_group" "cut" {
  name              = "cut"
  retention_in_days = 365
}

resource "aws_vpc" "x" {
  cidr_block = "10.0.0.0/16"
}

resource "aws_flow_log" "bad" {
  vpc_id               = aws_vpc.x.id
  traffic_type         = "ALL"
  log_destination_type = "s3"
  log_destination      = "arn:aws:s3:::world-rules"
}

resource "aws_s3_bucket" "x" {
  bucket = "world-rules"
}

resource "aws_s3_bucket_public_access_block" "bad" {
  bucket            = aws_s3_bucket.x.id
  block_public_acls = true
}

resource "aws_rds_cluster" "bad" {
  cluster_identifier          = "bad"
  engine                      = "aurora-postgresql"
  master_username             = "world"
  manage_master_user_password = true
  skip_final_snapshot         = true
}

resource "aws_rds_cluster" "fine" {
  cluster_identifier          = "fine"
  engine                      = "aurora-postgresql"
  master_username             = "world"
  manage_master_user_password = true
  skip_final_snapshot         = false
  final_snapshot_identifier   = "last"
}
`

describe.skipIf(mirror === '')('the rules of AWS on plans of the provider itself', () => {
  it('are all here', () => {
    const own = RULES.map(({ id }) => id).filter((id) => id.startsWith('aws.'))
    const covered = new Set([...RULE_CASES.map(({ rule }) => rule), ...OF_DELETIONS, OF_SEVERAL])
    expect(own.filter((id) => !covered.has(id))).toEqual([])
  })

  it('find what breaks them and nothing where it does not', async () => {
    const found = await findings(RULE_CODE)
    const wrong = RULE_CASES.flatMap(({ rule, type }, index) => {
      const has = (name: string) => (found.get(`${type}.${name}_${index}`) ?? []).includes(rule)
      return [
        ...(has('bad') ? [] : [`${rule} misses ${type}.bad_${index}: ${found.get(`${type}.bad_${index}`)}`]),
        ...(has('fine') ? [`${rule} finds ${type}.fine_${index}`] : []),
      ]
    })
    expect(wrong).toEqual([])
  })

  it('find what lacks another resource in the same plan', async () => {
    const foundIn = async (code: string) =>
      evaluateRules(await planned(code), { targets: [], grades: {} })
        .findings.filter(({ rule_id }) => rule_id === OF_SEVERAL)
        .map(({ resource }) => resource)
    expect(await foundIn(RECORDER)).toEqual(['aws_config_configuration_recorder.x'])
    expect(await foundIn(RECORDER + STATUS)).toEqual([])
  })

  it('find what is deleted', async () => {
    await engine.write('main.tf', REMOVED)
    await engine.must('apply', '-input=false', '-auto-approve')
    const found = await findings(
      'resource "aws_cloudwatch_log_group" "cut" {\n  name = "cut"\n  retention_in_days = 1\n}\n',
    )
    expect(found.get('aws_s3_bucket_public_access_block.bad')).toContain(OF_DELETIONS[0])
    expect(found.get('aws_rds_cluster.bad')).toContain(OF_DELETIONS[1])
    expect(found.get('aws_flow_log.bad')).toContain('aws.evidence.removed')
    expect(found.get('aws_flow_log.bad')).toHaveLength(1)
    expect(found.get('aws_cloudwatch_log_group.cut')).toContain('aws.evidence.shortened')
    expect(found.get('aws_rds_cluster.fine') ?? []).not.toContain(OF_DELETIONS[1])
  })
})
