import type { Rule } from '../rule.ts'
import { type FaultClass, tableRules } from '../table.ts'
import {
  BACKUPS_OFF,
  ENCRYPTION,
  EVIDENCE_INCOMPLETE,
  EVIDENCE_STOPPED,
  KEY_ROTATION,
  LOGGING,
  NO_PROTECTION,
  NO_SIGN_IN,
  OLD_TLS,
  OPEN_CLUSTER,
  PRIVILEGED,
  PUBLIC_ENDPOINT,
  PUBLIC_MACHINE,
  TRANSIT,
} from './classes.ts'

const DOCS = 'https://docs.aws.amazon.com'
const RDS = `${DOCS}/AmazonRDS/latest`
const EC2 = `${DOCS}/AWSEC2/latest/APIReference`

/** A copy inherits the encryption of its source. S3, DynamoDB, FSx, MSK and others always encrypt. */
const encryption = `
${RDS}/UserGuide/Overview.Encryption.html
aws_db_instance storage_encrypted false|unset if engine!=aurora* !replicate_source_db !snapshot_identifier
${RDS}/AuroraUserGuide/Overview.Encryption.html
aws_rds_cluster storage_encrypted false if engine_mode!=serverless !replication_source_identifier !snapshot_identifier !global_cluster_identifier
aws_rds_global_cluster,aws_docdb_global_cluster storage_encrypted false|unset if !source_db_cluster_identifier
${DOCS}/documentdb/latest/developerguide/encryption-at-rest.html
aws_docdb_cluster storage_encrypted false|unset if !snapshot_identifier !global_cluster_identifier
${DOCS}/neptune/latest/userguide/encrypt.html
aws_neptune_cluster storage_encrypted false|unset if !replication_source_identifier !snapshot_identifier !global_cluster_identifier
${DOCS}/redshift/latest/mgmt/working-with-db-encryption.html
aws_redshift_cluster encrypted false if !snapshot_identifier
${EC2}/API_CreateVolume.html
aws_ebs_volume encrypted false|unset if !snapshot_id
aws_instance,aws_launch_configuration,aws_spot_instance_request root_block_device.encrypted false|unset-inside
aws_instance,aws_launch_configuration,aws_spot_instance_request ebs_block_device[snapshot_id!=snap-*].encrypted false|unset-inside
aws_launch_template block_device_mappings.ebs.encrypted false
aws_ami ebs_block_device[snapshot_id!=snap-*].encrypted false|unset-inside
aws_ami_copy encrypted false|unset
aws_ebs_snapshot_copy encrypted false
aws_imagebuilder_image_recipe block_device_mapping.ebs.encrypted false
aws_dlm_lifecycle_policy policy_details.action.cross_region_copy.encryption_configuration.encrypted false|unset-inside
aws_dlm_lifecycle_policy policy_details.schedule.cross_region_copy_rule.encrypted false
aws_ebs_encryption_by_default enabled false
${DOCS}/efs/latest/ug/encryption-at-rest.html
aws_efs_file_system encrypted false|unset
${DOCS}/AmazonElastiCache/latest/dg/at-rest-encryption.html
aws_elasticache_replication_group at_rest_encryption_enabled false|unset if engine!=valkey !global_replication_group_id
${DOCS}/opensearch-service/latest/developerguide/encryption-at-rest.html
aws_opensearch_domain,aws_elasticsearch_domain encrypt_at_rest.enabled false|unset
${DOCS}/amazondynamodb/latest/developerguide/DAXEncryptionAtRest.html
aws_dax_cluster server_side_encryption.enabled false|unset
${DOCS}/streams/latest/dev/what-is-sse.html
aws_kinesis_stream encryption_type NONE|unset
${DOCS}/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-server-side-encryption.html
aws_sqs_queue sqs_managed_sse_enabled false if !kms_master_key_id
${DOCS}/workspaces/latest/adminguide/encrypt-workspaces.html
aws_workspaces_workspace root_volume_encryption_enabled false|unset
aws_workspaces_workspace user_volume_encryption_enabled false|unset
${DOCS}/appsync/latest/devguide/enabling-caching.html
aws_appsync_api_cache at_rest_encryption_enabled false|unset
${DOCS}/codebuild/latest/APIReference/API_ProjectArtifacts.html
aws_codebuild_project artifacts.encryption_disabled true if artifacts.type!=NO_ARTIFACTS
aws_codebuild_project secondary_artifacts.encryption_disabled true
aws_codebuild_project logs_config.s3_logs.encryption_disabled true
${DOCS}/glue/latest/dg/encrypt-glue-data-catalog.html
aws_glue_data_catalog_encryption_settings data_catalog_encryption_settings.encryption_at_rest.catalog_encryption_mode DISABLED
aws_glue_data_catalog_encryption_settings data_catalog_encryption_settings.connection_password_encryption.return_connection_password_encrypted false
aws_glue_security_configuration encryption_configuration.cloudwatch_encryption.cloudwatch_encryption_mode DISABLED|unset
aws_glue_security_configuration encryption_configuration.job_bookmarks_encryption.job_bookmarks_encryption_mode DISABLED|unset
aws_glue_security_configuration encryption_configuration.s3_encryption.s3_encryption_mode DISABLED|unset
${DOCS}/firehose/latest/dev/encryption.html
aws_kinesis_firehose_delivery_stream server_side_encryption.enabled false|unset if !kinesis_source_configuration !msk_source_configuration
${DOCS}/apigateway/latest/developerguide/api-gateway-caching.html
aws_api_gateway_method_settings settings.cache_data_encrypted false|unset if settings.caching_enabled=true
${DOCS}/emr/latest/ManagementGuide/emr-create-security-configuration.html
aws_emr_security_configuration configuration.EncryptionConfiguration.EnableAtRestEncryption false|unset-inside
aws_emr_security_configuration configuration.EncryptionConfiguration.AtRestEncryptionConfiguration.LocalDiskEncryptionConfiguration.EncryptionKeyProviderType unset if configuration.EncryptionConfiguration.EnableAtRestEncryption=true
`

/** Redis and Valkey of a global datastore take it from the primary group. A search domain of one node has no traffic between nodes. */
const transit = `
${DOCS}/AmazonElastiCache/latest/dg/in-transit-encryption.html
aws_elasticache_replication_group transit_encryption_enabled false|unset if engine!=valkey !global_replication_group_id
aws_elasticache_replication_group transit_encryption_mode preferred
${DOCS}/memorydb/latest/devguide/in-transit-encryption.html
aws_memorydb_cluster tls_enabled false
${DOCS}/amazondynamodb/latest/developerguide/DAXEncryptionInTransit.html
aws_dax_cluster cluster_endpoint_encryption_type NONE|unset
${DOCS}/opensearch-service/latest/APIReference/API_DomainEndpointOptions.html
aws_opensearch_domain,aws_elasticsearch_domain domain_endpoint_options.enforce_https false|unset-outside
${DOCS}/opensearch-service/latest/developerguide/ntn.html
aws_opensearch_domain,aws_elasticsearch_domain node_to_node_encryption.enabled false|unset if cluster_config.instance_count cluster_config.instance_count!=1
${DOCS}/msk/latest/developerguide/msk-encryption.html
aws_msk_cluster encryption_info.encryption_in_transit.client_broker PLAINTEXT,TLS_PLAINTEXT
aws_msk_cluster encryption_info.encryption_in_transit.in_cluster false
${DOCS}/dms/latest/userguide/CHAP_Security.SSL.html
aws_dms_endpoint ssl_mode none|unset if engine_name!=s3,kinesis,dynamodb,opensearch,elasticsearch,kafka,neptune,dynamodb,redshift-serverless,timestream,babelfish
${DOCS}/redshift/latest/mgmt/connecting-ssl-support.html
aws_redshift_parameter_group parameter[name=require_ssl].value false,0|unset if family!=redshift-2.0
${RDS}/UserGuide/PostgreSQL.Concepts.General.SSL.html
aws_db_parameter_group,aws_rds_cluster_parameter_group parameter[name=rds.force_ssl].value 0
aws_db_parameter_group parameter[name=rds.force_ssl].value unset if family=postgres9*,postgres10,postgres11,postgres12,postgres13,postgres14,sqlserver*
aws_db_parameter_group,aws_rds_cluster_parameter_group parameter[name=require_secure_transport].value OFF,0
aws_db_parameter_group parameter[name=require_secure_transport].value unset if family=mysql5.7,mysql8.0,mariadb10*
${DOCS}/documentdb/latest/developerguide/security.encryption.ssl.html
aws_docdb_cluster_parameter_group parameter[name=tls].value disabled
aws_neptune_cluster_parameter_group parameter[name=neptune_enforce_ssl].value 0
${DOCS}/AmazonECS/latest/APIReference/API_EFSVolumeConfiguration.html
aws_ecs_task_definition volume.efs_volume_configuration.transit_encryption DISABLED|unset-inside
${DOCS}/AmazonCloudFront/latest/DeveloperGuide/using-https.html
aws_cloudfront_distribution default_cache_behavior.viewer_protocol_policy allow-all
aws_cloudfront_distribution ordered_cache_behavior.viewer_protocol_policy allow-all
aws_cloudfront_distribution origin[domain_name!=*s3-website*].custom_origin_config.origin_protocol_policy http-only
${DOCS}/elasticloadbalancing/latest/classic/elb-listener-config.html
aws_elb listener.lb_protocol http
${DOCS}/sns/latest/dg/sns-create-subscribe-endpoint-to-topic.html
aws_sns_topic_subscription protocol http
${DOCS}/transfer/latest/userguide/create-server-ftp.html
aws_transfer_server protocols FTP
${DOCS}/cloudsearch/latest/developerguide/configuring-domain-endpoint-options.html
aws_cloudsearch_domain endpoint_options.enforce_https false|unset
${DOCS}/appsync/latest/devguide/enabling-caching.html
aws_appsync_api_cache transit_encryption_enabled false|unset
${DOCS}/emr/latest/ManagementGuide/emr-create-security-configuration.html
aws_emr_security_configuration configuration.EncryptionConfiguration.EnableInTransitEncryption false|unset-inside
${DOCS}/sagemaker/latest/dg/train-encrypt.html
aws_sagemaker_data_quality_job_definition network_config.enable_inter_container_traffic_encryption false|unset
`

const oldTls = `
${DOCS}/elasticloadbalancing/latest/application/describe-ssl-policies.html
aws_lb_listener,aws_alb_listener ssl_policy ELBSecurityPolicy-2015*,ELBSecurityPolicy-2016*,ELBSecurityPolicy-TLS-1-0*,ELBSecurityPolicy-TLS-1-1*,ELBSecurityPolicy-FS-2018*,ELBSecurityPolicy-FS-1-1*,ELBSecurityPolicy-TLS13-1-0*,ELBSecurityPolicy-TLS13-1-1*|unset if protocol=HTTPS,TLS
${DOCS}/elasticloadbalancing/latest/classic/elb-security-policy-table.html
aws_load_balancer_policy policy_attribute[name=Protocol-TLSv1,Protocol-TLSv1.1,Protocol-SSLv3].value true
aws_load_balancer_policy policy_attribute[name=Reference-Security-Policy].value ELBSecurityPolicy-201*,ELBSecurityPolicy-TLS-1-0*,ELBSecurityPolicy-TLS-1-1*,ELBSecurityPolicy-Default
${DOCS}/AmazonCloudFront/latest/DeveloperGuide/secure-connections-supported-viewer-protocols-ciphers.html
aws_cloudfront_distribution viewer_certificate.minimum_protocol_version SSLv3,TLSv1,TLSv1_2016,TLSv1.1_2016|unset
aws_cloudfront_distribution origin.custom_origin_config.origin_ssl_protocols SSLv3,TLSv1,TLSv1.1
${DOCS}/apigateway/latest/developerguide/apigateway-custom-domain-tls-version.html
aws_api_gateway_domain_name security_policy TLS_1_0
${DOCS}/opensearch-service/latest/APIReference/API_DomainEndpointOptions.html
aws_opensearch_domain,aws_elasticsearch_domain domain_endpoint_options.tls_security_policy Policy-Min-TLS-1-0-2019-07|unset
${DOCS}/cloudsearch/latest/developerguide/configuring-domain-endpoint-options.html
aws_cloudsearch_domain endpoint_options.tls_security_policy Policy-Min-TLS-1-0-2019-07|unset
${DOCS}/transfer/latest/userguide/security-policies.html
aws_transfer_server security_policy_name TransferSecurityPolicy-2018-11,TransferSecurityPolicy-2020-06,TransferSecurityPolicy-FIPS-2020-06|unset
`

const logging = `
${DOCS}/elasticloadbalancing/latest/application/load-balancer-access-logs.html
aws_lb,aws_alb access_logs.enabled false|unset if load_balancer_type!=gateway
aws_elb access_logs.bucket unset
aws_elb access_logs.enabled false
${DOCS}/AmazonCloudFront/latest/DeveloperGuide/AccessLogs.html
aws_cloudfront_distribution logging_config.bucket unset
${DOCS}/apigateway/latest/developerguide/set-up-logging.html
aws_api_gateway_stage,aws_apigatewayv2_stage access_log_settings.destination_arn unset
aws_api_gateway_method_settings settings.logging_level OFF|unset
${DOCS}/eks/latest/userguide/control-plane-logs.html
aws_eks_cluster enabled_cluster_log_types unset
${RDS}/UserGuide/USER_LogAccess.html
aws_db_instance enabled_cloudwatch_logs_exports unset if engine!=aurora*
aws_rds_cluster,aws_docdb_cluster enabled_cloudwatch_logs_exports unset
${DOCS}/neptune/latest/userguide/auditing.html
aws_neptune_cluster enable_cloudwatch_logs_exports unset
${DOCS}/documentdb/latest/developerguide/event-auditing.html
aws_docdb_cluster_parameter_group parameter[name=audit_logs].value disabled|unset
${DOCS}/redshift/latest/mgmt/db-auditing.html
aws_redshift_cluster logging.enable false
${DOCS}/amazon-mq/latest/developer-guide/security-logging-monitoring.html
aws_mq_broker logs.general false|unset
aws_mq_broker logs.audit false|unset if engine_type=ActiveMQ
${DOCS}/msk/latest/developerguide/msk-logging.html
aws_msk_cluster logging_info.broker_logs unset
${DOCS}/opensearch-service/latest/developerguide/createdomain-configure-slow-logs.html
aws_opensearch_domain,aws_elasticsearch_domain log_publishing_options.enabled false|unset-outside
aws_opensearch_domain,aws_elasticsearch_domain log_publishing_options[log_type=AUDIT_LOGS].enabled unset-outside
${DOCS}/global-accelerator/latest/dg/monitoring-global-accelerator.flow-logs.html
aws_globalaccelerator_accelerator attributes.flow_logs_enabled false|unset
${DOCS}/AmazonECS/latest/developerguide/ecs-exec.html
aws_ecs_cluster configuration.execute_command_configuration.logging NONE
${DOCS}/step-functions/latest/dg/cw-logs.html
aws_sfn_state_machine logging_configuration.level OFF|unset
${DOCS}/appsync/latest/devguide/monitoring.html
aws_appsync_graphql_api log_config.cloudwatch_logs_role_arn unset
aws_appsync_graphql_api log_config.field_log_level NONE
${DOCS}/mwaa/latest/userguide/monitoring-airflow.html
aws_mwaa_environment logging_configuration.scheduler_logs.enabled false|unset
aws_mwaa_environment logging_configuration.worker_logs.enabled false|unset
aws_mwaa_environment logging_configuration.webserver_logs.enabled false|unset
${DOCS}/waf/latest/developerguide/classic-logging.html
aws_waf_web_acl,aws_wafregional_web_acl logging_configuration.log_destination unset
${DOCS}/codebuild/latest/APIReference/API_LogsConfig.html
aws_codebuild_project logs_config.cloudwatch_logs.status DISABLED if logs_config.s3_logs.status!=ENABLED
${DOCS}/emr/latest/ManagementGuide/emr-plan-debugging.html
aws_emr_cluster log_uri unset
${DOCS}/awscloudtrail/latest/userguide/send-cloudtrail-events-to-cloudwatch-logs.html
aws_cloudtrail cloud_watch_logs_group_arn unset
`

const stopped = `
${DOCS}/awscloudtrail/latest/userguide/cloudtrail-turning-off-logging.html
aws_cloudtrail enable_logging false
aws_cloudtrail_event_data_store suspend true
${DOCS}/guardduty/latest/ug/guardduty_suspend-disable.html
aws_guardduty_detector enable false
${DOCS}/config/latest/developerguide/stop-start-recorder.html
aws_config_configuration_recorder_status is_enabled false
${DOCS}/macie/latest/user/suspend-macie.html
aws_macie2_account status PAUSED
${DOCS}/AmazonCloudWatch/latest/monitoring/alarm-actions.html
aws_cloudwatch_metric_alarm actions_enabled false
`

const incomplete = `
${DOCS}/awscloudtrail/latest/userguide/receive-cloudtrail-log-files-from-multiple-regions.html
aws_cloudtrail is_multi_region_trail false|unset
aws_cloudtrail include_global_service_events false
${DOCS}/awscloudtrail/latest/userguide/cloudtrail-log-file-validation-intro.html
aws_cloudtrail enable_log_file_validation false|unset
${DOCS}/config/latest/developerguide/select-resources.html
aws_config_configuration_recorder recording_group.all_supported false if !recording_group.exclusion_by_resource_types
aws_config_configuration_recorder recording_group.include_global_resource_types false|unset if recording_group.all_supported!=false
aws_config_configuration_aggregator account_aggregation_source.all_regions false|unset-inside
aws_config_configuration_aggregator organization_aggregation_source.all_regions false|unset-inside
${DOCS}/guardduty/latest/ug/guardduty_organizations.html
aws_guardduty_organization_configuration auto_enable_organization_members NONE
aws_guardduty_organization_configuration auto_enable false
`

const publicMachine = `
${DOCS}/vpc/latest/userguide/vpc-ip-addressing.html
aws_instance,aws_spot_instance_request,aws_launch_configuration associate_public_ip_address true
aws_launch_template network_interfaces.associate_public_ip_address true
aws_subnet,aws_default_subnet map_public_ip_on_launch true
aws_ecs_service network_configuration.assign_public_ip true
`

const publicEndpoint = `
${DOCS}/transfer/latest/userguide/create-server-in-vpc.html
aws_transfer_server endpoint_type PUBLIC|unset
${DOCS}/mwaa/latest/userguide/configuring-networking.html
aws_mwaa_environment webserver_access_mode PUBLIC_ONLY
${DOCS}/sagemaker/latest/dg/appendix-notebook-and-internet-access.html
aws_sagemaker_notebook_instance direct_internet_access Enabled|unset
${DOCS}/vpc/latest/privatelink/create-endpoint-service.html
aws_vpc_endpoint_service acceptance_required false
${DOCS}/vpc/latest/tgw/tgw-transit-gateways.html
aws_ec2_transit_gateway auto_accept_shared_attachments enable
${DOCS}/emr/latest/ManagementGuide/emr-block-public-access.html
aws_emr_block_public_access_configuration block_public_security_group_rules false
${DOCS}/opensearch-service/latest/developerguide/vpc.html
aws_opensearch_domain,aws_elasticsearch_domain vpc_options.subnet_ids unset
`

const clusterEndpoint = `
${DOCS}/eks/latest/userguide/cluster-endpoint.html
aws_eks_cluster vpc_config.public_access_cidrs open|unset if vpc_config.endpoint_public_access!=false
`

const NODE_SSH: FaultClass = {
  name: 'network.open-node-ssh',
  title: 'SSH of cluster nodes open to the internet',
  reason: 'With a key and without security groups the service opens port 22 of every node to all addresses.',
  fix: 'Name source_security_group_ids, or leave the key out.',
  severity: 'error',
  says: 'is not set, and port 22 is open to all addresses',
}
const nodeSsh = `
${DOCS}/eks/latest/APIReference/API_RemoteAccessConfig.html
aws_eks_node_group remote_access.source_security_group_ids unset-inside if remote_access.ec2_ssh_key
`

const noSignIn = `
${DOCS}/apigateway/latest/developerguide/apigateway-control-access-to-api.html
aws_api_gateway_method authorization NONE if http_method!=OPTIONS api_key_required!=true
aws_apigatewayv2_route authorization_type NONE|unset if route_key=*/*,$connect,$default route_key!=OPTIONS* api_key_required!=true
${DOCS}/cognito/latest/developerguide/identity-pools.html
aws_cognito_identity_pool allow_unauthenticated_identities true
${DOCS}/msk/latest/developerguide/security.html
aws_msk_cluster client_authentication.unauthenticated true
`

const PUBLIC_BLOCK: FaultClass = {
  name: 'storage.public-access-allowed',
  title: 'Block of public access switched off',
  reason: 'The block is what stops a public policy or access list that slips in later.',
  fix: 'Set all four switches to true.',
  severity: 'warning',
  says: 'is not true',
}
const BLOCKED = 'aws_s3_bucket_public_access_block,aws_s3_account_public_access_block'
const publicBlock = `
${DOCS}/AmazonS3/latest/API/API_PublicAccessBlockConfiguration.html
${BLOCKED} block_public_acls false|unset
${BLOCKED} block_public_policy false|unset
${BLOCKED} ignore_public_acls false|unset
${BLOCKED} restrict_public_buckets false|unset
aws_s3_access_point public_access_block_configuration.block_public_acls false
aws_s3_access_point public_access_block_configuration.block_public_policy false
aws_s3_access_point public_access_block_configuration.ignore_public_acls false
aws_s3_access_point public_access_block_configuration.restrict_public_buckets false
`

const SHARED: FaultClass = {
  name: 'storage.public-snapshot',
  title: 'Snapshot or image shared with everyone',
  reason: 'Every AWS account can copy the data in it.',
  fix: 'Share with named accounts only.',
  severity: 'error',
  says: 'shares it with every account',
}
const shared = `
${RDS}/UserGuide/USER_ShareSnapshot.html
aws_db_snapshot,aws_db_cluster_snapshot shared_accounts all
${EC2}/API_ModifyImageAttribute.html
aws_ami_launch_permission group all
${DOCS}/systems-manager/latest/userguide/documents-ssm-sharing.html
aws_ssm_document permissions.account_ids all
`

const METADATA: FaultClass = {
  name: 'compute.metadata-without-token',
  title: 'Metadata service without a token',
  reason: 'A flaw in any program of the machine that fetches addresses gives away the credentials of its role.',
  fix: 'Set http_tokens to required.',
  severity: 'warning',
  says: 'admits requests without a token',
}
const metadata = `
${DOCS}/AWSEC2/latest/UserGuide/configuring-instance-metadata-options.html
aws_instance,aws_spot_instance_request,aws_launch_template,aws_launch_configuration metadata_options.http_tokens optional|unset if metadata_options.http_endpoint!=disabled
${DOCS}/sagemaker/latest/dg/nbi-imds.html
aws_sagemaker_notebook_instance instance_metadata_service_configuration.minimum_instance_metadata_service_version 1|unset
`

const privileged = `
${DOCS}/AmazonECS/latest/developerguide/task_definition_parameters.html
aws_ecs_task_definition container_definitions.privileged true
aws_ecs_task_definition pid_mode host
${DOCS}/batch/latest/APIReference/API_ContainerProperties.html
aws_batch_job_definition container_properties.privileged true
`

const unprotected = `
${RDS}/UserGuide/USER_DeleteInstance.html
aws_db_instance deletion_protection false|unset if engine!=aurora* !replicate_source_db
aws_rds_cluster,aws_docdb_cluster,aws_neptune_cluster deletion_protection false|unset
${DOCS}/qldb/latest/developerguide/ledger-management.html
aws_qldb_ledger deletion_protection false
${DOCS}/elasticloadbalancing/latest/application/application-load-balancers.html
aws_lb,aws_alb enable_deletion_protection false|unset
${DOCS}/network-firewall/latest/APIReference/API_Firewall.html
aws_networkfirewall_firewall delete_protection false|unset
${DOCS}/amazondynamodb/latest/APIReference/API_CreateTable.html
aws_dynamodb_table deletion_protection_enabled false|unset
`

/** Clusters keep the backups of their members, and a replica is made from its source. */
const backups = `
${RDS}/UserGuide/USER_WorkingWithAutomatedBackups.html
aws_db_instance backup_retention_period 0 if engine!=aurora* !replicate_source_db
aws_rds_cluster backup_retention_period 0 if !replication_source_identifier
${DOCS}/redshift/latest/mgmt/working-with-snapshots.html
aws_redshift_cluster automated_snapshot_retention_period 0
${DOCS}/AmazonElastiCache/latest/dg/backups-automatic.html
aws_elasticache_replication_group snapshot_retention_limit 0|unset
aws_elasticache_cluster snapshot_retention_limit 0|unset if engine!=memcached !replication_group_id
${DOCS}/amazondynamodb/latest/developerguide/PointInTimeRecovery.html
aws_dynamodb_table point_in_time_recovery.enabled false|unset
${DOCS}/AmazonS3/latest/userguide/Versioning.html
aws_s3_bucket_versioning versioning_configuration.status Suspended,Disabled
`

const rotation = `
${DOCS}/kms/latest/developerguide/rotate-keys.html
aws_kms_key enable_key_rotation false|unset if customer_master_key_spec!=RSA*,ECC*,HMAC*,SM2,ML* key_usage!=SIGN_VERIFY,GENERATE_VERIFY_MAC,KEY_AGREEMENT !custom_key_store_id
`

export const awsTables: Rule[] = [
  ...tableRules('aws', ENCRYPTION, encryption),
  ...tableRules('aws', KEY_ROTATION, rotation),
  ...tableRules('aws', TRANSIT, transit),
  ...tableRules('aws', OLD_TLS, oldTls),
  ...tableRules('aws', LOGGING, logging),
  ...tableRules('aws', EVIDENCE_STOPPED, stopped),
  ...tableRules('aws', EVIDENCE_INCOMPLETE, incomplete),
  ...tableRules('aws', PUBLIC_MACHINE, publicMachine),
  ...tableRules('aws', PUBLIC_ENDPOINT, publicEndpoint),
  ...tableRules('aws', OPEN_CLUSTER, clusterEndpoint),
  ...tableRules('aws', NODE_SSH, nodeSsh),
  ...tableRules('aws', NO_SIGN_IN, noSignIn),
  ...tableRules('aws', PUBLIC_BLOCK, publicBlock),
  ...tableRules('aws', SHARED, shared),
  ...tableRules('aws', METADATA, metadata),
  ...tableRules('aws', PRIVILEGED, privileged),
  ...tableRules('aws', NO_PROTECTION, unprotected),
  ...tableRules('aws', BACKUPS_OFF, backups),
]
