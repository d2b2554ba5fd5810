import { wordsOf } from '../base/text.ts'
import { mainAction, type PlannedChange } from './actions.ts'
import type { Plan } from './plan.ts'
import { addressOf, plannedChanges } from './planned-changes.ts'

const IMPACT_LEVELS = ['low', 'medium', 'high'] as const
export type ImpactLevel = (typeof IMPACT_LEVELS)[number]

export interface CriticalChange extends PlannedChange {
  action: 'delete' | 'replace'
  criticality: Criticality
}

/** Returns destroyed or replaced objects that hold data, grant access or may do so, in the plan's order. */
export function criticalChanges(plan: Plan): CriticalChange[] {
  return plannedChanges(plan).flatMap((change) => {
    if (change.action !== 'delete' && change.action !== 'replace') return []
    const criticality = criticalityOf(change.type)
    return criticality ? [{ ...change, action: change.action, criticality }] : []
  })
}

/** A change that raises the impact of a plan, whatever a model says of it. */
interface ImpactReason {
  level: 'medium' | 'high'
  address: string
  action: 'delete' | 'replace' | 'forget'
  /** Null for an object that is known to hold neither data nor access. */
  criticality: Criticality | null
}

/**
 * Returns what raises the impact, in the plan's order: `high` is the destruction of what holds data or grants access,
 * `medium` any other, and the end of managing what holds data, grants access or may do so.
 */
export function impactReasons(plan: Plan): ImpactReason[] {
  return plan.resource_changes.flatMap((resource): ImpactReason[] => {
    const action = mainAction(resource)
    const criticality = criticalityOf(resource.type)
    const address = addressOf(resource)
    if (action === 'forget') return criticality ? [{ level: 'medium', address, action, criticality }] : []
    if (action !== 'delete' && action !== 'replace') return []
    const isHigh = criticality === 'data' || criticality === 'access'
    return [{ level: isHigh ? 'high' : 'medium', address, action, criticality }]
  })
}

/** Returns the lowest fitting impact level. */
export const impactFloor = (plan: Plan): ImpactLevel =>
  impactReasons(plan).reduce<ImpactLevel>((floor, { level }) => higherImpact(floor, level), 'low')

/** Returns the higher of two impact levels. */
export const higherImpact = (level: ImpactLevel, floor: ImpactLevel): ImpactLevel =>
  IMPACT_LEVELS.indexOf(floor) > IMPACT_LEVELS.indexOf(level) ? floor : level

/**
 * The harm of losing an object: it holds data, or access to other things depends on it. `unknown` for every type that
 * is not in the table, because neither its name nor its schema tells.
 */
export type Criticality = 'data' | 'access' | 'unknown'

/** Says of an object that is lost why that matters. */
export const CRITICALITY_IN_WORDS: Record<Criticality, string> = {
  data: 'holds data',
  access: 'grants access',
  unknown: 'it cannot be told whether it holds data',
}

/**
 * Types by provider prefix: each word is the whole rest of a type, with `*` for any characters. `plain` types hold
 * neither data nor access: code makes them again as they were.
 */
const TABLE: Record<string, { data: string; access: string; plain: string }> = {
  aws_: {
    data: `
      s3_bucket s3_directory_bucket s3tables_table* s3_object s3_bucket_object db_instance db_cluster db_snapshot
      rds_cluster dynamodb_table dynamodb_table_item dynamodb_global_table docdb_* docdbelastic_cluster neptune_* neptunegraph_graph
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
    plain: `
      vpc default_vpc subnet default_subnet route route_table default_route_table route_table_association
      main_route_table_association internet_gateway internet_gateway_attachment egress_only_internet_gateway nat_gateway
      eip eip_association network_interface network_interface_attachment network_interface_sg_attachment
      vpc_dhcp_options vpc_dhcp_options_association vpc_endpoint vpc_endpoint_* vpc_peering_connection*
      vpc_ipv4_cidr_block_association vpc_ipv6_cidr_block_association flow_log ec2_transit_gateway*
      ec2_managed_prefix_list* ec2_tag placement_group launch_template launch_configuration autoscaling_policy
      autoscaling_schedule autoscaling_attachment autoscaling_notification autoscaling_lifecycle_hook appautoscaling_*
      lb lb_* alb alb_* elb elb_attachment lambda_function lambda_alias lambda_event_source_mapping
      lambda_layer_version lambda_provisioned_concurrency_config cloudwatch_metric_alarm cloudwatch_composite_alarm
      cloudwatch_dashboard cloudwatch_event_rule cloudwatch_event_target cloudwatch_log_metric_filter
      cloudwatch_log_subscription_filter scheduler_schedule scheduler_schedule_group sns_topic sns_topic_subscription
      ecs_cluster ecs_cluster_capacity_providers ecs_capacity_provider ecs_service ecs_task_definition eks_node_group
      eks_fargate_profile eks_addon api_gateway_rest_api api_gateway_resource api_gateway_method*
      api_gateway_integration* api_gateway_deployment api_gateway_stage apigatewayv2_api apigatewayv2_integration
      apigatewayv2_route apigatewayv2_stage apigatewayv2_deployment cloudfront_distribution cloudfront_cache_policy
      cloudfront_function cloudfront_origin_request_policy cloudfront_response_headers_policy route53_record
      route53_health_check route53_zone_association db_subnet_group db_parameter_group db_option_group
      rds_cluster_parameter_group elasticache_subnet_group elasticache_parameter_group redshift_subnet_group
      redshift_parameter_group s3_bucket_versioning s3_bucket_lifecycle_configuration s3_bucket_logging
      s3_bucket_server_side_encryption_configuration s3_bucket_notification s3_bucket_cors_configuration
      s3_bucket_website_configuration s3_bucket_ownership_controls s3_bucket_metric sfn_state_machine codebuild_project
      volume_attachment acm_certificate_validation service_discovery_service budgets_budget resourcegroups_group`,
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
    plain: `
      virtual_network virtual_network_peering subnet subnet_route_table_association subnet_nat_gateway_association route
      route_table public_ip public_ip_prefix network_interface network_interface_*_association nat_gateway
      nat_gateway_*_association lb lb_* application_gateway traffic_manager_* private_endpoint dns_*_record
      private_dns_*_record private_dns_zone_virtual_network_link availability_set proximity_placement_group service_plan
      monitor_action_group monitor_metric_alert monitor_diagnostic_setting monitor_autoscale_setting
      storage_management_policy kubernetes_cluster_node_pool consumption_budget_*`,
  },
  azuread_: { data: '', access: '*', plain: '' },
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
    plain: `
      compute_network compute_subnetwork compute_network_peering compute_route compute_router compute_router_*
      compute_address compute_global_address compute_forwarding_rule compute_global_forwarding_rule compute_target_*
      compute_url_map compute_region_url_map compute_backend_service compute_region_backend_service
      compute_*health_check compute_instance_template compute_region_instance_template compute_autoscaler
      compute_region_autoscaler compute_resource_policy dns_record_set container_node_pool cloud_run_service
      cloud_run_v2_service cloud_run_v2_job cloudfunctions_function cloudfunctions2_function cloud_scheduler_job
      monitoring_alert_policy monitoring_dashboard monitoring_notification_channel monitoring_uptime_check_config
      logging_metric logging_project_sink project_service eventarc_trigger cloudbuild_trigger
      service_networking_connection vpc_access_connector billing_budget`,
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
    plain: `
      core_vcn core_subnet core_route_table* core_default_route_table core_internet_gateway core_nat_gateway
      core_service_gateway core_drg* core_dhcp_options core_default_dhcp_options core_local_peering_gateway
      core_public_ip core_vnic_attachment load_balancer_* network_load_balancer_* monitoring_alarm
      ons_notification_topic ons_subscription events_rule dns_rrset dns_record containerengine_node_pool
      functions_application functions_function`,
  },
  kubernetes_: {
    data: `
      persistent_volume persistent_volume_v1 persistent_volume_claim persistent_volume_claim_v1 stateful_set
      stateful_set_v1 config_map config_map_v1 namespace namespace_v1 storage_class*`,
    access: `
      secret secret_v1 role role_v1 role_binding role_binding_v1 cluster_role cluster_role_v1 cluster_role_binding
      cluster_role_binding_v1 service_account service_account_v1 default_service_account* network_policy
      network_policy_v1 token_request_v1 certificate_signing_request* pod_security_policy* *webhook_configuration*`,
    plain: `
      deployment deployment_v1 daemonset daemon_set_v1 service service_v1 ingress ingress_v1 ingress_class
      ingress_class_v1 job job_v1 cron_job cron_job_v1 pod pod_v1 replication_controller replication_controller_v1
      horizontal_pod_autoscaler* pod_disruption_budget* limit_range limit_range_v1 resource_quota resource_quota_v1
      endpoints endpoints_v1 endpoint_slice_v1 priority_class priority_class_v1 labels annotations`,
  },
  vault_: { data: '', access: '*', plain: '' },
  tls_: { data: '', access: 'private_key self_signed_cert locally_signed_cert', plain: 'cert_request' },
  random_: { data: '', access: 'password', plain: 'id integer pet shuffle uuid' },
  terraform_: { data: '', access: '', plain: 'data' },
  null_: { data: '', access: '', plain: 'resource' },
  time_: { data: '', access: '', plain: '*' },
}

const toPatterns = (words: string) => wordsOf(words).map((word) => new RegExp(`^${word.replaceAll('*', '.*')}$`))
const PATTERNS = Object.entries(TABLE).map(([prefix, words]) => ({
  prefix,
  access: toPatterns(words.access),
  data: toPatterns(words.data),
  plain: toPatterns(words.plain),
}))

/** Returns why the loss of an object of this type is or may be critical; null when it is known not to be. */
export function criticalityOf(type: string): Criticality | null {
  for (const { prefix, access, data, plain } of PATTERNS) {
    if (!type.startsWith(prefix)) continue
    const rest = type.slice(prefix.length)
    if (access.some((pattern) => pattern.test(rest))) return 'access'
    if (data.some((pattern) => pattern.test(rest))) return 'data'
    if (plain.some((pattern) => pattern.test(rest))) return null
  }
  return 'unknown'
}
