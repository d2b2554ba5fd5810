import type { Rule } from '../rule.ts'
import { tableRules } from '../table.ts'
import { ENCRYPTION } from './classes.ts'

const RDS = 'https://docs.aws.amazon.com/AmazonRDS/latest'
const EC2 = 'https://docs.aws.amazon.com/AWSEC2/latest/APIReference'

/** A copy inherits the encryption of its source. S3, DynamoDB, FSx, MSK and others always encrypt. */
const encryption = `
${RDS}/UserGuide/Overview.Encryption.html
aws_db_instance storage_encrypted false|unset if engine!=aurora* !replicate_source_db !snapshot_identifier
${RDS}/AuroraUserGuide/Overview.Encryption.html
aws_rds_cluster storage_encrypted false if engine_mode!=serverless !replication_source_identifier !snapshot_identifier !global_cluster_identifier
aws_rds_global_cluster storage_encrypted false
https://docs.aws.amazon.com/documentdb/latest/developerguide/encryption-at-rest.html
aws_docdb_cluster storage_encrypted false|unset if !snapshot_identifier !global_cluster_identifier
https://docs.aws.amazon.com/neptune/latest/userguide/encrypt.html
aws_neptune_cluster storage_encrypted false|unset if !replication_source_identifier !snapshot_identifier !global_cluster_identifier
https://docs.aws.amazon.com/redshift/latest/mgmt/working-with-db-encryption.html
aws_redshift_cluster encrypted false if !snapshot_identifier
${EC2}/API_CreateVolume.html
aws_ebs_volume encrypted false|unset if !snapshot_id
aws_instance,aws_launch_configuration root_block_device.encrypted false
aws_instance,aws_launch_configuration ebs_block_device.encrypted false
aws_launch_template block_device_mappings.ebs.encrypted false
aws_ami_copy,aws_ebs_snapshot_copy encrypted false
aws_ebs_encryption_by_default enabled false
https://docs.aws.amazon.com/efs/latest/ug/encryption-at-rest.html
aws_efs_file_system encrypted false|unset
https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/at-rest-encryption.html
aws_elasticache_replication_group at_rest_encryption_enabled false|unset if engine!=valkey !global_replication_group_id
https://docs.aws.amazon.com/opensearch-service/latest/developerguide/encryption-at-rest.html
aws_opensearch_domain,aws_elasticsearch_domain encrypt_at_rest.enabled false|unset
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/DAXEncryptionAtRest.html
aws_dax_cluster server_side_encryption.enabled false|unset
https://docs.aws.amazon.com/streams/latest/dev/what-is-sse.html
aws_kinesis_stream encryption_type NONE|unset
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-server-side-encryption.html
aws_sqs_queue sqs_managed_sse_enabled false if !kms_master_key_id
https://docs.aws.amazon.com/workspaces/latest/adminguide/encrypt-workspaces.html
aws_workspaces_workspace root_volume_encryption_enabled false|unset
aws_workspaces_workspace user_volume_encryption_enabled false|unset
`

export const awsTables: Rule[] = [...tableRules('aws', ENCRYPTION, encryption)]
