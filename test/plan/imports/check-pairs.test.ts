import { describe, expect, it } from 'vitest'
import type { Cloud } from '../../../src/base/vocabulary.ts'
import { checkPairs } from '../../../src/plan/imports/check-pairs.ts'
import { compareImported, importBlocks, kubernetesImportId } from '../../../src/plan/imports/compare-imported.ts'
import { kindFit, matchLiterally, typesFor } from '../../../src/plan/imports/identity.ts'
import { changesByAddress } from '../../../src/plan/planned-changes.ts'
import { planOf } from '../fixtures.ts'

const arn = (service: string, resource: string) => `arn:aws:${service}:eu-central-1:123456789012:${resource}`
const INCOMING = arn('sqs', 'incoming')
const DEAD = arn('sqs', 'dead-letter')
const TABLE = arn('dynamodb', 'table/incoming')

type Block = [address: string, after: Record<string, unknown>]
const planFor = (...blocks: Block[]) =>
  planOf(
    blocks.map(([address, after]) => ({ address, type: address.split('.')[0] ?? '', actions: ['create'], after })),
    { configuration: {} },
  )
const check = (blocks: Block[], pairs: [address: string, id: string][], pending: string[], cloud: Cloud = 'aws') =>
  checkPairs(
    pairs.map(([address, resource_id]) => ({ address, resource_id })),
    { cloud, pending, plan: planFor(...blocks) },
  )
const errorsOf = ({ refused }: ReturnType<typeof check>) =>
  refused.map(({ resource_id, error }) => [resource_id, error])

describe('a pair is refused before an import', () => {
  it('for another name, as when one block is claimed for two queues', () => {
    const checked = check(
      [['aws_sqs_queue.incoming', { name: 'incoming' }]],
      [
        ['aws_sqs_queue.incoming', DEAD],
        ['aws_sqs_queue.incoming', INCOMING],
      ],
      [DEAD, INCOMING],
    )
    expect(checked.pairs).toEqual([{ address: 'aws_sqs_queue.incoming', resource_id: INCOMING }])
    expect(errorsOf(checked)).toEqual([[DEAD, 'the block has name "incoming", the identifier names "dead-letter"']])
  })

  it('for another kind', () => {
    const checked = check([['aws_sqs_queue.a', {}]], [['aws_sqs_queue.a', TABLE]], [TABLE])
    expect(errorsOf(checked)).toEqual([
      [TABLE, 'the identifier is one of dynamodb:table, the block describes aws_sqs_queue'],
    ])
  })

  it('for a name that is known to be of another identifier, where identifiers have numbers', () => {
    const blocks: Block[] = [['terraform_data.a', { input: { name: 'incoming' } }]]
    const checked = check(blocks, [['terraform_data.a', DEAD]], [DEAD, INCOMING])
    expect(errorsOf(checked)).toEqual([
      [DEAD, 'the block has input.name "incoming", the identifier names "dead-letter"'],
    ])
    expect(check(blocks, [['terraform_data.a', DEAD]], [DEAD]).pairs).toHaveLength(1)
  })

  it.each<[Cloud, string, string, Record<string, unknown>]>([
    ['aws', 'aws_instance', arn('ec2', 'instance/i-0123'), { tags: { Name: 'web' } }],
    ['aws', 'aws_iam_role', 'arn:aws:iam::123456789012:role/service/deploy', { name: 'deploy' }],
    ['aws', 'aws_ssm_parameter', arn('ssm', 'parameter/shop/key'), { name: '/shop/key' }],
    ['aws', 'aws_cloudwatch_log_group', arn('logs', 'log-group:/aws/lambda/x:*'), { name: '/aws/lambda/x' }],
    ['aws', 'aws_rds_cluster_instance', arn('rds', 'db:one'), { cluster_identifier: 'all' }],
    ['azure', 'azurerm_subnet', '/subscriptions/1/resourceGroups/r/providers/M.N/vnets/v/subnets/Web', { name: 'web' }],
    ['gcp', 'google_pubsub_topic', 'projects/p/topics/t', { name: 'projects/p/topics/t' }],
    ['oci', 'oci_core_vcn', 'ocid1.vcn.oc1..a', { display_name: 'net' }],
    [
      'kubernetes',
      'kubernetes_service_v1',
      'apiVersion=v1,kind=Service,namespace=n,name=web',
      { metadata: [{ name: 'web', namespace: 'n' }] },
    ],
  ])('and not for what an identifier does not tell: %s %s', (cloud, type, id, after) => {
    expect(check([[`${type}.a`, after]], [[`${type}.a`, id]], [id], cloud)).toEqual({
      pairs: [{ address: `${type}.a`, resource_id: id }],
      refused: [],
      foreign: [],
    })
  })
})

describe('code matches alone', () => {
  const match = (blocks: Block[], ids: string[]) =>
    matchLiterally('aws', ids, [...changesByAddress(planFor(...blocks)).values()]).map(({ address, resource_id }) => [
      address,
      resource_id,
    ])

  it('by name, and the last pair by kind', () => {
    const blocks: Block[] = [
      ['aws_sqs_queue.a', { name: 'dead-letter' }],
      ['aws_sqs_queue.b', {}],
    ]
    expect(match(blocks, [INCOMING, DEAD])).toEqual([
      ['aws_sqs_queue.a', DEAD],
      ['aws_sqs_queue.b', INCOMING],
    ])
    // Two of one name are told apart by their kinds.
    const both: Block[] = [
      ['aws_sqs_queue.a', { name: 'incoming' }],
      ['aws_dynamodb_table.a', { name: 'incoming' }],
    ]
    expect(match(both, [INCOMING, TABLE])).toEqual([
      ['aws_sqs_queue.a', INCOMING],
      ['aws_dynamodb_table.a', TABLE],
    ])
  })

  it('nothing that has two counterparts, another kind or another name', () => {
    const two: Block[] = [
      ['aws_sqs_queue.a', { name: 'incoming' }],
      ['aws_sqs_queue.b', { name: 'incoming' }],
    ]
    expect(match(two, [INCOMING])).toEqual([])
    expect(match([['aws_sqs_queue.a', {}]], [INCOMING, DEAD])).toEqual([])
    expect(match([['aws_sqs_queue.a', { name: 'incoming' }]], [DEAD])).toEqual([])
    expect(match([['aws_dynamodb_table.a', {}]], [DEAD])).toEqual([])
    expect(match([['terraform_data.a', {}]], [DEAD])).toEqual([])
  })

  it.each<[Cloud, string, string, string]>([
    ['kubernetes', 'kubernetes_config_map_v1', 'apiVersion=v1,kind=ConfigMap,namespace=n,name=a', 'same'],
    [
      'kubernetes',
      'kubernetes_default_service_account',
      'apiVersion=v1,kind=ServiceAccount,namespace=n,name=a',
      'same',
    ],
    ['kubernetes', 'kubernetes_secret', 'apiVersion=v1,kind=ConfigMap,namespace=n,name=a', 'other'],
    ['kubernetes', 'kubernetes_manifest', 'apiVersion=v1,kind=ConfigMap,namespace=n,name=a', 'unknown'],
    ['oci', 'oci_core_internet_gateway', 'ocid1.internetgateway.oc1..a', 'same'],
    ['aws', 'aws_sqs_queue_policy', INCOMING, 'unknown'],
    ['aws', 'aws_sqs_queue', 'queue-1', 'unknown'],
  ])('kinds of %s: %s and %s', (cloud, type, id, fit) => expect(kindFit(cloud, type, id)).toBe(fit))
})

it.each<[Cloud, string[], string[], string[]]>([
  [
    'aws',
    [INCOMING, DEAD, TABLE],
    ['aws_sns_topic', 'aws_dynamodb_table', 'aws_sqs_queue'],
    ['aws_sqs_queue', 'aws_dynamodb_table'],
  ],
  [
    'azure',
    ['/subscriptions/1/resourceGroups/r/providers/Microsoft.Storage/storageAccounts/a'],
    ['azurerm_subnet', 'azurerm_storage_account'],
    ['azurerm_storage_account'],
  ],
  [
    'kubernetes',
    ['apiVersion=v1,kind=ConfigMap,namespace=n,name=a'],
    ['kubernetes_config_map', 'kubernetes_config_map_v1', 'kubernetes_secret'],
    ['kubernetes_config_map_v1', 'kubernetes_config_map'],
  ],
])('types to write for %s: %j', (cloud, ids, existing, types) => expect(typesFor(cloud, ids, existing)).toEqual(types))

describe('what the engine reads is compared with the block', () => {
  const pair = { address: 'aws_sqs_queue.a', resource_id: DEAD }
  const read = (change: Record<string, unknown> & { actions: string[] }) =>
    compareImported(planOf([{ address: pair.address, type: 'aws_sqs_queue', ...change }]), [pair])

  it.each([
    [{ actions: ['no-op'], before: { name: 'a' }, after: { name: 'a' } }, null],
    [{ actions: ['update'], before: { name: 'a', delay: 1 }, after: { name: 'a', delay: 2 } }, null],
    [{ actions: ['update'], before: { tags: null }, after: { tags: { Name: 'new' } } }, null],
    [
      { actions: ['update'], before: { tags: { Name: 'a' } }, after: { tags: { Name: 'b' } } },
      'the object has tags.Name "a", the block has "b"',
    ],
    [
      { actions: ['delete', 'create'], before: { name: 'a' }, after: { name: 'b' }, replace_paths: [['name']] },
      'the object has name "a", the block has "b"',
    ],
    [
      {
        actions: ['create', 'delete'],
        before: { rule: [{ port: 1 }] },
        after: { rule: [{ port: 2 }] },
        replace_paths: [['rule', 0, 'port']],
      },
      'the plan would replace the object: the object has rule.0.port 1, the block has 2',
    ],
    [
      {
        actions: ['delete', 'create'],
        ...{ before: { key: 'one' }, before_sensitive: { key: true } },
        ...{ after: {}, after_unknown: { key: true }, replace_paths: [['key']] },
      },
      'the plan would replace the object: the object has key a sensitive value, the block has a value that is known after the apply',
    ],
  ])('%j', (change, error) => {
    const { seen, failures } = read(change)
    expect(seen).toEqual([pair])
    expect(failures).toEqual(error === null ? [] : [{ ...pair, error }])
  })

  it('sees nothing where the plan only creates', () => {
    expect(read({ actions: ['create'], before: null, after: { name: 'b' } })).toEqual({ seen: [], failures: [] })
  })

  it('gives the engine no text to evaluate', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: what the engine must not evaluate
    expect(importBlocks([{ address: 'a.b["c"]', resource_id: 'x${file("/etc/passwd")}%{ if true }' }])).toBe(
      '{"import":[{"to":"a.b[\\"c\\"]","id":"x$${file(\\"/etc/passwd\\")}%%{ if true }"}]}',
    )
  })

  it('names objects of Kubernetes as the type does', () => {
    const resource_id = 'apiVersion=apps/v1,kind=Deployment,namespace=shop,name=web'
    const idOf = (type: string) => kubernetesImportId({ address: `${type}.a`, resource_id })
    expect(['kubernetes_deployment_v1', 'kubernetes_manifest', 'kubectl_manifest'].map(idOf)).toEqual([
      'shop/web',
      resource_id,
      null,
    ])
  })
})
