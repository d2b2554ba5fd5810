import { encryptionRules, type Lacks } from './encryption.ts'
import type { Rule, Subject } from './rule.ts'
import { textOf } from './view.ts'

// The attributes of each cloud's resource types that control encryption at rest.

/** Reports whether a database is not a replica or restored snapshot, which inherits its source's encryption. */
const isOriginal = (_subject: Subject, lacks: Lacks) =>
  [
    'replicate_source_db',
    'replication_source_identifier',
    'snapshot_identifier',
    'global_cluster_identifier',
    'global_replication_group_id',
  ].every(lacks)
/** Reports whether a volume is not a copy of a snapshot, whose encryption it would inherit. */
const isNotFromSnapshot = (_subject: Subject, lacks: Lacks) => lacks('snapshot_id')
/** Reports whether a queue has no key of its own, which would replace encryption with the service's key. */
const hasNoKey = (_subject: Subject, lacks: Lacks) => lacks('kms_master_key_id')
/** Reports whether an instance is not in an Aurora cluster, whose switch would decide. */
const isNoAuroraMember = (subject: Subject, lacks: Lacks) =>
  !textOf(subject, 'engine')?.startsWith('aurora') && isOriginal(subject, lacks)
/** Reports whether a cache is not Valkey, which encrypts by default, unlike Redis. */
const isNoValkey = (subject: Subject, lacks: Lacks) =>
  textOf(subject, 'engine') !== 'valkey' && isOriginal(subject, lacks)

/** S3, DynamoDB, FSx, MSK and others always encrypt, so they have no switch. */
export const awsEncryptionRules: Rule[] = encryptionRules('aws', [
  { type: 'aws_db_instance', path: 'storage_encrypted', offByDefault: true, when: isNoAuroraMember },
  { type: 'aws_rds_cluster', path: 'storage_encrypted', when: isOriginal },
  { type: 'aws_rds_global_cluster', path: 'storage_encrypted' },
  { type: 'aws_docdb_cluster', path: 'storage_encrypted', offByDefault: true, when: isOriginal },
  { type: 'aws_neptune_cluster', path: 'storage_encrypted', offByDefault: true, when: isOriginal },
  { type: 'aws_redshift_cluster', path: 'encrypted', when: isOriginal },
  { type: 'aws_ebs_volume', path: 'encrypted', offByDefault: true, when: isNotFromSnapshot },
  { type: 'aws_efs_file_system', path: 'encrypted', offByDefault: true },
  { type: 'aws_instance', path: 'root_block_device.encrypted' },
  { type: 'aws_instance', path: 'ebs_block_device.encrypted' },
  { type: 'aws_launch_template', path: 'block_device_mappings.ebs.encrypted' },
  { type: 'aws_launch_configuration', path: 'root_block_device.encrypted' },
  { type: 'aws_launch_configuration', path: 'ebs_block_device.encrypted' },
  { type: 'aws_ami_copy', path: 'encrypted' },
  { type: 'aws_ebs_snapshot_copy', path: 'encrypted' },
  {
    type: 'aws_elasticache_replication_group',
    path: 'at_rest_encryption_enabled',
    offByDefault: true,
    when: isNoValkey,
  },
  { type: 'aws_opensearch_domain', path: 'encrypt_at_rest.enabled', offByDefault: true },
  { type: 'aws_elasticsearch_domain', path: 'encrypt_at_rest.enabled', offByDefault: true },
  { type: 'aws_dax_cluster', path: 'server_side_encryption.enabled', offByDefault: true },
  { type: 'aws_kinesis_stream', path: 'encryption_type', off: 'NONE', offByDefault: true },
  { type: 'aws_sqs_queue', path: 'sqs_managed_sse_enabled', when: hasNoKey },
  { type: 'aws_workspaces_workspace', path: 'root_volume_encryption_enabled', offByDefault: true },
  { type: 'aws_workspaces_workspace', path: 'user_volume_encryption_enabled', offByDefault: true },
  { type: 'aws_ebs_encryption_by_default', path: 'enabled' },
])

/** Azure always encrypts storage at rest; the switch of a managed disk controls additional Azure Disk Encryption. */
export const azureEncryptionRules: Rule[] = encryptionRules('azure', [
  { type: 'azurerm_mssql_database', path: 'transparent_data_encryption_enabled' },
  { type: 'azurerm_synapse_sql_pool', path: 'data_encrypted', offByDefault: true },
  { type: 'azurerm_managed_disk', path: 'encryption_settings.enabled' },
  { type: 'azurerm_data_lake_store', path: 'encryption_state', off: 'DISABLED' },
  { type: 'azurerm_automation_variable_string', path: 'encrypted', offByDefault: true },
])

/** The volume's storage encrypts it; only storage class parameters can switch that off. */
export const kubernetesEncryptionRules: Rule[] = encryptionRules('kubernetes', [
  { type: 'kubernetes_storage_class', path: 'parameters.encrypted' },
  { type: 'kubernetes_storage_class_v1', path: 'parameters.encrypted' },
])
