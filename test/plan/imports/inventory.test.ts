import { describe, expect, it } from 'vitest'
import { createMasker } from '../../../src/base/masking.ts'
import type { Cloud } from '../../../src/base/vocabulary.ts'
import { resourceKind, takeInventory } from '../../../src/plan/imports/inventory.ts'

describe('the kind of a resource', () => {
  it.each<[Cloud, string, string | null]>([
    ['aws', 'arn:aws:ec2:eu-central-1:123456789012:instance/i-1', 'ec2:instance'],
    ['aws', 'arn:aws:rds:eu-central-1:123456789012:db:orders', 'rds:db'],
    ['aws', 'arn:aws:s3:::logs', 's3'],
    ['aws', 'arn:aws-cn:sqs:cn-north-1:123456789012:orders', 'sqs'],
    ['aws', 'arn:aws:apigateway:eu-central-1::/restapis/a1', 'apigateway'],
    ['aws', 'i-1', null],
    ['azure', '/subscriptions/s', 'Microsoft.Resources/subscriptions'],
    ['azure', '/subscriptions/s/resourceGroups/g', 'Microsoft.Resources/resourceGroups'],
    [
      'azure',
      '/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/a',
      'Microsoft.Network/virtualNetworks/subnets',
    ],
    [
      'azure',
      '/subscriptions/s/resourceGroups/g/providers/Microsoft.Web/sites/w/providers/Microsoft.Insights/diagnosticSettings/d',
      'Microsoft.Insights/diagnosticSettings',
    ],
    ['azure', 'elsewhere', null],
    ['gcp', 'projects/acme/zones/europe-west1-b/instances/web', 'instances'],
    ['gcp', 'acme roles/viewer user:ada@example.org', 'IAM binding'],
    ['gcp', 'logs', null],
    ['oci', 'ocid1.instance.oc1.eu-frankfurt-1.abc', 'instance'],
    ['oci', 'x', null],
    ['kubernetes', 'apiVersion=apps/v1,kind=Deployment,namespace=shop,name=web', 'apps/v1/Deployment'],
    ['kubernetes', 'shop/web', null],
  ])('at %s: %s', (provider, id, kind) => {
    expect(resourceKind(provider, id)).toBe(kind)
  })
})

describe('an inventory', () => {
  const arn = (rest: string) => `arn:aws:${rest}`
  const secret = 'planted-secret-5150'
  const masker = createMasker([secret])

  it('lists each resource once, by kind and identifier, and hides secrets', () => {
    const withheld = [{ resource_id: arn('s3:::audit'), details: 'On the import exception list.' }]
    const inventory = takeInventory(
      { provider: 'aws', scope_id: '1', request: `Mind ${secret}` },
      {
        scope: [arn('sqs:eu:1:b'), arn('s3:::audit'), 'odd', arn('s3:::logs'), arn('s3:::logs'), ' ', 'x'],
        ids: ['odd', arn('sqs:eu:1:b'), arn('s3:::a'), `name-${secret}`],
        withheld,
      },
      masker,
    )
    expect(inventory).toEqual({
      version: 1,
      provider: 'aws',
      scope_id: '1',
      request: 'Mind (sensitive value)',
      counts: { managed: 2, unmanaged: 3, left_out: 2 },
      managed: [
        { kind: 's3', resource_id: arn('s3:::logs') },
        { kind: null, resource_id: 'x' },
      ],
      unmanaged: [
        { kind: 's3', resource_id: arn('s3:::a') },
        { kind: 'sqs', resource_id: arn('sqs:eu:1:b') },
        { kind: null, resource_id: 'odd' },
      ],
      left_out: [
        { kind: 's3', resource_id: arn('s3:::audit'), reason: 'On the import exception list.' },
        { kind: null, resource_id: 'name-(sensitive value)', reason: expect.stringContaining('cannot be chosen') },
      ],
    })
  })

  it('takes spellings of one identifier for one resource', () => {
    const id = '/subscriptions/s/resourceGroups/g'
    const found = { scope: [id, id.toUpperCase()], ids: [], withheld: [] }
    const { counts, managed } = takeInventory({ provider: 'azure', scope_id: 's', request: '' }, found, masker)
    expect([counts, managed]).toEqual([
      { managed: 1, unmanaged: 0, left_out: 0 },
      [{ kind: 'Microsoft.Resources/resourceGroups', resource_id: id }],
    ])
  })
})
