import { describe, expect, it } from 'vitest'
import { criticalChanges, criticalityOf, higherImpact, impactFloor } from '../../src/plan/impact.ts'
import { parsePlan } from '../../src/plan/plan.ts'
import { changesJson, planOf } from './fixtures.ts'

describe('criticalityOf', () => {
  it.each([
    ['aws_s3_bucket', 'data'],
    ['aws_db_instance', 'data'],
    ['aws_rds_cluster', 'data'],
    ['aws_dynamodb_table', 'data'],
    ['aws_ebs_volume', 'data'],
    ['aws_iam_role_policy_attachment', 'access'],
    ['aws_kms_key', 'access'],
    ['aws_security_group_rule', 'access'],
    ['azurerm_storage_account', 'data'],
    ['azurerm_managed_disk', 'data'],
    ['azurerm_postgresql_flexible_server', 'data'],
    ['azurerm_key_vault_secret', 'access'],
    ['azurerm_role_assignment', 'access'],
    ['azuread_application', 'access'],
    ['google_storage_bucket', 'data'],
    ['google_sql_database_instance', 'data'],
    ['google_bigquery_dataset', 'data'],
    ['google_project_iam_member', 'access'],
    ['google_storage_bucket_iam_binding', 'access'],
    ['google_service_account_key', 'access'],
    ['oci_objectstorage_bucket', 'data'],
    ['oci_database_autonomous_database', 'data'],
    ['oci_identity_policy', 'access'],
    ['kubernetes_persistent_volume_claim_v1', 'data'],
    ['kubernetes_secret', 'access'],
    ['kubernetes_cluster_role_binding_v1', 'access'],
    ['tls_private_key', 'access'],
    ['terraform_data', null],
    ['null_resource', null],
    ['aws_subnet', null],
    ['aws_iam', 'unknown'],
    ['aws_quicksight_data_set', 'unknown'],
    ['aws_vpc_data', 'unknown'],
    ['my_aws_s3_bucket', 'unknown'],
    ['snowflake_table', 'unknown'],
    ['kubernetes_manifest', 'unknown'],
    ['helm_release', 'unknown'],
    ['azurerm_subnet', null],
    ['google_compute_network', null],
    ['kubernetes_deployment_v1', null],
    ['', 'unknown'],
  ])('%s holds %s', (type, expected) => {
    expect(criticalityOf(type)).toBe(expected)
  })
})

describe('impactFloor', () => {
  it.each([
    [['delete'], 'high'],
    [['delete', 'create'], 'high'],
    [['create', 'delete'], 'high'],
    [['update'], 'low'],
    [['create'], 'low'],
    [['no-op'], 'low'],
    [['forget'], 'medium'],
  ])('a bucket with %j is at least %s', (actions, expected) => {
    expect(impactFloor(planOf([{ type: 'aws_s3_bucket', actions }]))).toBe(expected)
  })

  it.each(['delete', 'replace'])('is medium for a type of which nothing is known: %s', (action) => {
    const actions = action === 'delete' ? ['delete'] : ['delete', 'create']
    const lost = { address: 'acme_data_set.x', type: 'acme_data_set', actions }
    expect(impactFloor(planOf([lost]))).toBe('medium')
    expect(impactFloor(planOf([lost, { type: 'aws_s3_bucket', actions }]))).toBe('high')
    expect(impactFloor(planOf([{ ...lost, actions: ['update'] }]))).toBe('low')
    expect(criticalChanges(planOf([lost]))).toMatchObject([{ address: 'acme_data_set.x', criticality: 'unknown' }])
  })

  it('is low when a plain resource leaves the state', () => {
    expect(impactFloor(planOf([{ type: 'aws_route_table', actions: ['forget'] }]))).toBe('low')
  })

  it('is medium for the destruction of plain resources', () => {
    expect(impactFloor(parsePlan(changesJson))).toBe('medium')
  })

  it('names the objects and what they hold', () => {
    const plan = planOf([
      { address: 'terraform_data.x', actions: ['delete'] },
      { address: 'module.db.aws_db_instance.main[0]', type: 'aws_db_instance', actions: ['delete', 'create'] },
      { address: 'aws_iam_role.ci', type: 'aws_iam_role', actions: ['delete'] },
    ])
    expect(criticalChanges(plan)).toEqual([
      {
        address: 'module.db.aws_db_instance.main[0]',
        type: 'aws_db_instance',
        action: 'replace',
        criticality: 'data',
      },
      { address: 'aws_iam_role.ci', type: 'aws_iam_role', action: 'delete', criticality: 'access' },
    ])
  })
})

it.each([
  ['low', 'high', 'high'],
  ['medium', 'high', 'high'],
  ['high', 'low', 'high'],
  ['medium', 'low', 'medium'],
  ['low', 'low', 'low'],
] as const)('%s with floor %s becomes %s', (level, floor, expected) => {
  expect(higherImpact(level, floor)).toBe(expected)
})
