import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'

const DOCS = 'https://docs.aws.amazon.com'
const RDS = `${DOCS}/AmazonRDS/latest`
const EC2 = `${DOCS}/AWSEC2/latest/APIReference`

export const awsDataTable: Rule[] = tableRules(
  'aws',
  `
[ENCRYPTION]
# A copy inherits the encryption of its source. S3, DynamoDB, FSx, MSK and others always encrypt.
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

[KEY_ROTATION]
${DOCS}/kms/latest/developerguide/rotate-keys.html
aws_kms_key enable_key_rotation false|unset if customer_master_key_spec!=RSA*,ECC*,HMAC*,SM2,ML* key_usage!=SIGN_VERIFY,GENERATE_VERIFY_MAC,KEY_AGREEMENT !custom_key_store_id

[TRANSIT]
# Redis and Valkey of a global datastore take it from the primary group. A search domain of one node has no traffic between nodes.
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
${DOCS}/transfer/latest/userguide/create-server-ftp.html
aws_transfer_server protocols FTP
${DOCS}/sagemaker/latest/dg/train-encrypt.html
aws_sagemaker_data_quality_job_definition network_config.enable_inter_container_traffic_encryption false|unset

[PLAIN_LISTENER]
${DOCS}/elasticloadbalancing/latest/application/load-balancer-listeners.html
aws_lb_listener,aws_alb_listener default_action.type forward,authenticate-cognito,authenticate-oidc if protocol=HTTP

[OLD_TLS]
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

[NO_PROTECTION]
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

[FORCE_DESTROY]
https://registry.terraform.io/providers/hashicorp/aws/latest/docs
aws_s3_bucket,aws_backup_vault,aws_route53_zone,aws_s3_directory_bucket force_destroy true
aws_ecr_repository force_delete true

[BACKUPS_OFF]
# Clusters keep the backups of their members, and a replica is made from its source.
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
`,
  {
    PLAIN_LISTENER: {
      name: 'network.plain-http-listener',
      title: 'Listener without encryption',
      reason: 'Passwords, cookies and data pass the network in clear text, and anyone on the way can change them.',
      fix: 'Listen with HTTPS and a certificate, and let port 80 only redirect.',
      severity: 'error',
      says: 'serves plain HTTP instead of redirecting',
    },

    FORCE_DESTROY: {
      name: 'storage.force-destroy',
      title: 'Deletion does not ask whether it is empty',
      reason: 'A later deletion takes everything inside with it, without a question.',
      fix: 'Leave force_destroy (force_delete) off where data matters.',
      severity: 'warning',
      says: 'is true',
    },
  },
)
