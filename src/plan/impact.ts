import { wordsOf } from '../base/text.ts'
import type { PlannedChange } from './actions.ts'
import type { Plan } from './plan.ts'
import { plannedChanges } from './planned-changes.ts'

const IMPACT_LEVELS = ['low', 'medium', 'high'] as const
export type ImpactLevel = (typeof IMPACT_LEVELS)[number]

export interface CriticalChange extends PlannedChange {
  action: 'delete' | 'replace'
  criticality: Criticality
}

/** Returns destroyed or replaced objects that hold data or grant access, in the plan's order. */
export function criticalChanges(plan: Plan): CriticalChange[] {
  return plannedChanges(plan).flatMap((change) => {
    if (change.action !== 'delete' && change.action !== 'replace') return []
    const criticality = criticalityOf(change.type)
    return criticality ? [{ ...change, action: change.action, criticality }] : []
  })
}

/** Returns the lowest fitting impact level: `high` if a critical object is destroyed or replaced. */
export const impactFloor = (plan: Plan): ImpactLevel => (criticalChanges(plan).length > 0 ? 'high' : 'low')

/** Returns the higher of two impact levels. */
export const higherImpact = (level: ImpactLevel, floor: ImpactLevel): ImpactLevel =>
  IMPACT_LEVELS.indexOf(floor) > IMPACT_LEVELS.indexOf(level) ? floor : level

/** The harm of losing an object: it holds data, or access to other things depends on it. */
type Criticality = 'data' | 'access'

/** Critical types by provider prefix: each word is the whole rest of a type, with `*` for any characters. */
const TABLE: Record<string, Record<Criticality, string>> = {
  aws_: {
    data: `
      s3_bucket s3_directory_bucket s3tables_table* s3_object s3_bucket_object db_instance db_cluster db_snapshot
      rds_cluster dynamodb_table dynamodb_global_table docdb_* docdbelastic_cluster neptune_* neptunegraph_graph
      redshift_cluster redshiftserverless_namespace elasticache_*cluster elasticache_replication_group
      elasticache_serverless_cache memorydb_cluster ebs_volume ebs_snapshot* efs_file_system fsx_* glacier_vault*
      backup_vault* opensearch_domain opensearchserverless_collection elasticsearch_domain kinesis_stream sqs_queue
      msk_cluster msk_serverless_cluster keyspaces_* qldb_ledger timestream* ecr_repository ecrpublic_repository
      cloudwatch_log_group instance lightsail_database lightsail_bucket lightsail_disk athena_database glue_catalog_*
      route53_zone codecommit_repository dsql_cluster eks_cluster`,
    access: `
      iam_* kms_* secretsmanager_* ssm_parameter key_pair cognito_* ssoadmin_* identitystore_* security_group*
      default_security_group vpc_security_group_* network_acl* s3_bucket_policy s3_bucket_public_access_block
      s3_bucket_acl s3_access_point ecr_repository_policy sqs_queue_policy sns_topic_policy lambda_permission
      acm_certificate acmpca_* eks_access_* eks_pod_identity_association organizations_* lakeformation_permissions
      rolesanywhere_* transfer_user transfer_ssh_key vpn_*`,
  },
  azurerm_: {
    data: `
      storage_account storage_container storage_blob storage_share* storage_table* storage_queue storage_data_lake_*
      managed_disk snapshot mssql_* sql_* mysql_* mariadb_* postgresql_* cosmosdb_* redis_cache redis_enterprise_*
      managed_redis* kusto_* synapse_* databricks_workspace data_factory netapp_* recovery_services_vault backup_*
      data_protection_backup_* container_registry log_analytics_workspace eventhub eventhub_namespace
      servicebus_namespace servicebus_queue servicebus_topic search_service resource_group virtual_machine
      linux_virtual_machine windows_virtual_machine virtual_machine_data_disk_attachment dns_zone private_dns_zone
      kubernetes_cluster app_configuration* hpc_cache cognitive_account purview_account`,
    access: `
      key_vault* role_assignment role_definition user_assigned_identity federated_identity_credential network_security_*
      policy_* *_policy_assignment *_policy_exemption pim_* management_lock ssh_public_key disk_encryption_set firewall*
      storage_account_network_rules storage_encryption_scope application_security_group
      subnet_network_security_group_association active_directory_domain_service*`,
  },
  azuread_: { data: '', access: '*' },
  google_: {
    data: `
      storage_bucket storage_bucket_object storage_managed_folder sql_* bigquery_dataset bigquery_table bigquery_routine
      bigtable_* spanner_* alloydb_* firestore_* datastore_* firebase_database_instance redis_* memcache_instance
      memorystore_* compute_disk compute_region_disk compute_snapshot compute_image compute_instance filestore_*
      netapp_* backup_dr_* pubsub_topic pubsub_subscription artifact_registry_repository container_registry
      container_cluster dns_managed_zone project logging_project_bucket_config dataproc_metastore_service
      vertex_ai_featurestore* vertex_ai_index healthcare_* lustre_instance managed_kafka_cluster workbench_instance
      notebooks_instance`,
    access: `
      *_iam_member *_iam_binding *_iam_policy *_iam_custom_role service_account* kms_* secret_manager_* iam_*
      compute_firewall* compute_network_firewall_* compute_region_network_firewall_* compute_security_policy
      org_policy_* organization_policy project_organization_policy folder_organization_policy access_context_manager_*
      storage_*_acl storage_hmac_key storage_*access_control apikeys_key privateca_* certificate_manager_*
      identity_platform_* iap_* os_login_ssh_public_key privileged_access_manager_* compute_ssl_certificate
      bigquery_dataset_access`,
  },
  oci_: {
    data: `
      objectstorage_* core_volume* core_boot_volume* core_instance core_image database_* mysql_* psql_* nosql_* redis_*
      file_storage_* streaming_stream* queue_queue artifacts_* dns_zone containerengine_cluster identity_compartment
      logging_log* opensearch_* goldengate_* recovery_protected_database`,
    access: `
      identity_policy identity_group identity_user* identity_dynamic_group identity_domain* identity_api_key
      identity_auth_token identity_customer_secret_key identity_tag_default kms_* vault_secret core_security_list
      core_default_security_list core_network_security_group* bastion_* certificates_management_* network_firewall_*
      waf_*`,
  },
  kubernetes_: {
    data: `
      persistent_volume persistent_volume_v1 persistent_volume_claim persistent_volume_claim_v1 stateful_set
      stateful_set_v1 config_map config_map_v1 namespace namespace_v1 storage_class*`,
    access: `
      secret secret_v1 role role_v1 role_binding role_binding_v1 cluster_role cluster_role_v1 cluster_role_binding
      cluster_role_binding_v1 service_account service_account_v1 default_service_account* network_policy
      network_policy_v1 token_request_v1 certificate_signing_request* pod_security_policy* *webhook_configuration*`,
  },
  vault_: { data: '', access: '*' },
  tls_: { data: '', access: 'private_key self_signed_cert locally_signed_cert' },
  random_: { data: '', access: 'password' },
}

const toPatterns = (words: string) => wordsOf(words).map((word) => new RegExp(`^${word.replaceAll('*', '.*')}$`))
const PATTERNS = Object.entries(TABLE).map(([prefix, words]) => ({
  prefix,
  access: toPatterns(words.access),
  data: toPatterns(words.data),
}))

/** Returns why an object of this type is critical; null when it is not or its provider is unknown. */
export function criticalityOf(type: string): Criticality | null {
  for (const { prefix, access, data } of PATTERNS) {
    if (!type.startsWith(prefix)) continue
    const rest = type.slice(prefix.length)
    if (access.some((pattern) => pattern.test(rest))) return 'access'
    if (data.some((pattern) => pattern.test(rest))) return 'data'
  }
  return null
}
