import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { said, scriptedLlm } from '../../../pipeline/steps/scripted-llm.ts'
import { applyRound } from '../../modes/apply-world.ts'
import { decompose, driftReport, driftScripts, IN_SYNC, replace } from '../../modes/drift-world.ts'
import { addresses, importReport, importRound, withScope } from '../../modes/import-world.ts'
import { done, goodRound, operations, SPLIT, targets, write } from '../../modes/scripts.ts'
import { firstRound, type Stack, startStack } from '../../modes/stack.ts'
import { ACCOUNT, callsOf, REGION } from './call.ts'
import { awsEnvironment, HANGS_MS, mirror, PROVIDER_BLOCK, versionsOf } from './engine.ts'
import { type Moto, startMoto } from './moto.ts'
import { PROVIDER } from './provider.ts'

const VERSIONS = versionsOf(PROVIDER) + PROVIDER_BLOCK
const ORDERS = `resource "aws_sqs_queue" "orders" {
  name                       = "orders"
  visibility_timeout_seconds = 30
}

resource "aws_dynamodb_table" "orders" {
  name         = "orders"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"

  attribute {
    name = "id"
    type = "S"
  }
}

resource "aws_s3_bucket" "orders" {
  bucket = "acme-orders"
}

resource "aws_s3_bucket_versioning" "orders" {
  bucket = aws_s3_bucket.orders.id

  versioning_configuration {
    status = "Enabled"
  }
}
`
const ADDRESSES = ['aws_sqs_queue.orders', 'aws_dynamodb_table.orders', 'aws_s3_bucket_versioning.orders']

vi.setConfig({ testTimeout: HANGS_MS })

let home: string
let moto: Moto
let stack: Stack

beforeAll(async () => {
  if (mirror === '') return
  home = await mkdtemp(join(tmpdir(), 'world-modes-'))
  moto = await startMoto(process.env.WORLD_MOTO ?? '', home)
  stack = await startStack({
    sidecar: {
      ...awsEnvironment(moto.url),
      IAC_PROVIDER_MIRROR: mirror,
      IAC_OFFLINE: 'true',
      IAC_OFFLINE_HOSTS: new URL(moto.url).hostname,
      IAC_EGRESS_ALLOW: new URL(moto.url).host,
    },
  })
}, HANGS_MS)
afterAll(async () => {
  await stack?.close()
  await moto?.service.stop()
  if (home) await rm(home, { recursive: true, force: true })
})

const attributesOf = async (queue: string) =>
  (
    await callsOf(moto.url).json(
      'sqs',
      'AmazonSQS.GetQueueAttributes',
      { QueueUrl: `${moto.url}/${ACCOUNT}/${queue}`, AttributeNames: ['All'] },
      '1.0',
    )
  ).Attributes as Record<string, string>

/** Merges the branch of a session, as a reviewer does. */
const merge = (repo_uri: string, branch: string) => stack.git(repo_uri, 'update-ref', 'refs/heads/main', branch)

describe.skipIf(mirror === '')('rounds on AWS with the real provider', () => {
  let repo_uri: string

  it('generate, review, apply: what was written exists', async () => {
    repo_uri = await stack.repository({ 'main.tf': VERSIONS })
    const TOLD = {
      summary: { total_resources: 4, created: 4, updated: 0, destroyed: 0, failed: 0 },
      status: 'Success',
      execution_summary: 'All there.',
      resource_changes: [],
      recommendations: [],
    }
    const llm = scriptedLlm(
      goodRound({
        task_complete: [write('orders.tf', ORDERS), done('Wrote the storage of the orders.')],
        generate_engine_targets: targets(...ADDRESSES),
        report_decomposed_task_operations: decompose(undefined, () => ({ args: { operations: [], explanation: '' } })),
        generate_engine_apply_report: { args: TOLD },
      }),
    )
    const context = stack.context(llm)
    const session = await firstRound(stack, context, { repo_uri, query: 'Storage for orders' })
    expect([session.statuses.at(-1), session.messages.at(-1), session.failures]).toEqual(['completed', 'GENERATE', []])
    const applied = await applyRound(stack, context, session.uuid)
    expect([applied.statuses.at(-1), applied.failures]).toEqual(['completed', []])
    expect((await attributesOf('orders')).VisibilityTimeout).toBe('30')
    expect(await callsOf(moto.url).rest('s3', 'GET', '/acme-orders?versioning')).toContain('<Status>Enabled</Status>')
    await merge(repo_uri, session.branch)
  })

  it('full drift: what was changed by hand comes into the code, and the plan is empty', async () => {
    const by_hand = { QueueUrl: `${moto.url}/${ACCOUNT}/orders`, Attributes: { VisibilityTimeout: '77' } }
    await callsOf(moto.url).json('sqs', 'AmazonSQS.SetQueueAttributes', by_hand, '1.0')
    const llm = scriptedLlm(
      driftScripts({
        task_complete: [
          replace('visibility_timeout_seconds = 30', 'visibility_timeout_seconds = 77', 'orders.tf'),
          done('Took over the timeout.'),
        ],
        generate_engine_drift_report: driftReport(),
      }),
    )
    const session = await firstRound(stack, stack.context(llm), { repo_uri, mode: 'drift', query: 'Mend all drift' })
    expect([session.statuses.at(-1), session.failures]).toEqual(['completed', []])
    expect(session.messages).toContain(IN_SYNC)
    expect(await stack.git(repo_uri, 'show', `${session.branch}:orders.tf`)).toContain('_seconds = 77')
    await merge(repo_uri, session.branch)
  })

  it('partial drift: what the request names is mended, the rest stays', async () => {
    const calls = callsOf(moto.url)
    const by_hand = { QueueUrl: `${moto.url}/${ACCOUNT}/orders`, Attributes: { VisibilityTimeout: '99' } }
    await calls.json('sqs', 'AmazonSQS.SetQueueAttributes', by_hand, '1.0')
    const suspended =
      '<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Status>Suspended</Status></VersioningConfiguration>'
    await calls.rest('s3', 'PUT', '/acme-orders?versioning', suspended)
    const llm = scriptedLlm(
      driftScripts({
        generate_engine_targets: targets('aws_sqs_queue.orders'),
        task_complete: [
          replace('visibility_timeout_seconds = 77', 'visibility_timeout_seconds = 99', 'orders.tf'),
          done('Took over the timeout.'),
        ],
        generate_engine_drift_report: driftReport(),
      }),
    )
    const request = { repo_uri, mode: 'drift', query: 'Mend the queue', is_partial: true } as const
    const session = await firstRound(stack, stack.context(llm), request)
    expect([session.statuses.at(-1), session.failures]).toEqual(['completed', []])
    const code = await stack.git(repo_uri, 'show', `${session.branch}:orders.tf`)
    expect(code).toContain('_seconds = 99')
    expect(code).toContain('status = "Enabled"')
  })

  it('full import: what exists without code is taken in, and the plan is empty', async () => {
    const calls = callsOf(moto.url)
    // The size that AWS gives by itself today is more than this provider takes.
    const queue = { QueueName: 'invoices', Attributes: { MaximumMessageSize: '262144' } }
    await calls.json('sqs', 'AmazonSQS.CreateQueue', queue, '1.0')
    await calls.query('sns', '2010-03-31', 'CreateTopic', { Name: 'invoices' })
    await calls.json(
      'dynamodb',
      'DynamoDB_20120810.CreateTable',
      {
        TableName: 'invoices',
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      },
      '1.0',
    )
    const arn = (service: string, name: string) => `arn:aws:${service}:${REGION}:${ACCOUNT}:${name}`
    const found: [string, string][] = [
      ['aws_sqs_queue.invoices', arn('sqs', 'invoices')],
      ['aws_sns_topic.invoices', arn('sns', 'invoices')],
      ['aws_dynamodb_table.invoices', arn('dynamodb', 'table/invoices')],
    ]
    const code = `resource "aws_sqs_queue" "invoices" {\n  name = "invoices"\n}

resource "aws_sns_topic" "invoices" {\n  name = "invoices"\n}

resource "aws_dynamodb_table" "invoices" {
  name         = "invoices"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"

  attribute {
    name = "id"
    type = "S"
  }
}\n`
    const other = await stack.repository({ 'main.tf': VERSIONS })
    const llm = scriptedLlm(
      importRound({
        task_complete: [write('invoices.tf', code), done('Wrote three blocks.')],
        generate_engine_targets: targets(...found.map(([address]) => address)),
        import_addresses: addresses(...found),
        report_decomposed_task_operations: decompose(),
      }),
    )
    // Moto has no Resource Explorer, so the list of the scope is given here.
    const iac = withScope(
      stack,
      found.map(([, id]) => id),
    )
    const session = await firstRound(stack, stack.context(llm, { iac }), {
      repo_uri: other,
      mode: 'import',
      query: 'Import all the infrastructure',
    })
    expect(llm.of('report_decomposed_task_operations').map(said)).toEqual([])
    expect([session.statuses.at(-1), session.failures]).toEqual(['completed', []])
    expect(await importReport(stack, session.uuid)).toMatchObject({
      summary: { selected: 3, imported: 3, failed: 0 },
      status: 'Succeeded',
    })
    expect(session.messages).toContain(IN_SYNC)
  })

  it('partial import: what the request names is taken in, the rest stays outside', async () => {
    const calls = callsOf(moto.url)
    for (const Name of ['returns', 'refunds']) await calls.query('sns', '2010-03-31', 'CreateTopic', { Name })
    const topic = (name: string) => `arn:aws:sns:${REGION}:${ACCOUNT}:${name}`
    const other = await stack.repository({ 'main.tf': VERSIONS })
    const code = 'resource "aws_sns_topic" "returns" {\n  name = "returns"\n}\n'
    const llm = scriptedLlm(
      importRound({
        [SPLIT]: operations([topic('returns')]),
        task_complete: [write('returns.tf', code), done('Wrote the block.')],
        generate_engine_targets: targets('aws_sns_topic.returns'),
        import_addresses: addresses(['aws_sns_topic.returns', topic('returns')]),
      }),
    )
    const iac = withScope(stack, [topic('returns'), topic('refunds')])
    const request = { repo_uri: other, mode: 'import', query: 'Import the topic of returns', is_partial: true } as const
    const session = await firstRound(stack, stack.context(llm, { iac }), request)
    expect([session.statuses.at(-1), session.failures]).toEqual(['completed', []])
    expect(iac.imports()).toEqual([['aws_sns_topic.returns', topic('returns')]])
    expect(await importReport(stack, session.uuid)).toMatchObject({
      summary: { selected: 1, imported: 1, failed: 0 },
      status: 'Succeeded',
      excluded_resources: [{ resource_id: topic('refunds'), details: 'Not selected by the request.' }],
      state_alignment: 'Aligned: a plan after the import changes none of the imported resources (1).',
    })
  })
})
