import type { Cloud, PlanContext, Rule, Subject } from './rule.ts'
import { blocksAt, flagOf, isAbsent, isUnknown, splitPath, textOf } from './view.ts'

/** The attribute of a resource type that controls encryption at rest. */
interface EncryptionSwitch {
  type: string
  /** Path of the attribute, for example `root_block_device.encrypted`; all steps but the last are blocks. */
  path: string
  /** The text that switches encryption off, in capitals; absent for booleans. */
  off?: string
  /** True where encryption is off unless the code sets the attribute. */
  offByDefault?: true
  /** Condition on the resource; `lacks` reports whether an argument has no value. */
  when?: (subject: Subject, lacks: Lacks) => boolean
}

/** True if an argument has no value. */
type Lacks = (key: string) => boolean

/** Creates a cloud's encryption rules: one for encryption switched off, one for encryption not switched on. */
function rulesOf(cloud: Cloud, switches: readonly EncryptionSwitch[]): Rule[] {
  const switchesOf = (subject: Subject, context: PlanContext) => {
    const lacks = lacksOf(subject, context)
    return switches.filter(({ type, when }) => type === subject.type && (when?.(subject, lacks) ?? true))
  }
  const optional = switches.filter((each) => each.offByDefault)
  const missing: Rule = {
    id: `${cloud}.encryption.missing`,
    title: 'Encryption at rest not switched on',
    reason:
      'The default of this resource is to store data without encryption, ' +
      'and most cannot be changed later without replacement.',
    fix: 'Switch encryption on, with a key of your own where the data asks for it.',
    severity: 'warning',
    types: [...new Set(optional.map(({ type }) => type))],
    check: (subject, context) =>
      switchesOf(subject, context)
        .filter((each) => each.offByDefault)
        .filter(
          (each) =>
            isMissing(subject, each.path, context) ||
            (isOffAt(subject, each) && isDefault(subject, each.path, context)),
        )
        .map(({ path }) => `${path} is not set and defaults to no encryption.`),
  }
  const disabled: Rule = {
    id: `${cloud}.encryption.disabled`,
    title: 'Encryption at rest switched off',
    reason: 'Whoever gets at the disks, the backups or the snapshots reads the data.',
    fix: 'Switch encryption on; with the key of the provider it costs nothing.',
    severity: 'error',
    types: [...new Set(switches.map(({ type }) => type))],
    check: (subject, context) =>
      switchesOf(subject, context)
        .filter((each) => isOffAt(subject, each) && !isDefault(subject, each.path, context))
        .map(({ path }) => `${path} switches encryption off.`),
  }
  return optional.length === 0 ? [disabled] : [disabled, missing]
}

function isOffAt(subject: Subject, each: EncryptionSwitch): boolean {
  const { blocks, key } = splitPath(each.path)
  return blocksAt(subject, blocks).some((holder) =>
    each.off === undefined ? flagOf(holder, key) === false : textOf(holder, key)?.toUpperCase() === each.off,
  )
}

/** Reports whether an attribute is off only as the provider's default: some plan `false` for unset arguments. */
function isDefault({ address }: Subject, path: string, { expressionsOf }: PlanContext): boolean {
  const expressions = expressionsOf(address)
  return !path.includes('.') && Object.keys(expressions).length > 0 && !Object.hasOwn(expressions, path)
}

/** Reports whether the code leaves an argument unset; providers may plan such an argument as unknown. */
const lacksOf =
  (subject: Subject, { expressionsOf }: PlanContext): Lacks =>
  (key) => {
    if (isAbsent(subject, key)) return true
    const expressions = expressionsOf(subject.address)
    return isUnknown(subject, key) && Object.keys(expressions).length > 0 && !Object.hasOwn(expressions, key)
  }

function isMissing(subject: Subject, path: string, context: PlanContext): boolean {
  const { blocks, key } = splitPath(path)
  if (blocks === '') return lacksOf(subject, context)(key)
  const [first = ''] = blocks.split('.')
  const blockViews = blocksAt(subject, blocks)
  return blockViews.length === 0 ? isAbsent(subject, first) : blockViews.some((holder) => isAbsent(holder, key))
}

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
const AWS: EncryptionSwitch[] = [
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
]

/** Azure always encrypts storage at rest; the switch of a managed disk controls additional Azure Disk Encryption. */
const AZURE: EncryptionSwitch[] = [
  { type: 'azurerm_mssql_database', path: 'transparent_data_encryption_enabled' },
  { type: 'azurerm_synapse_sql_pool', path: 'data_encrypted', offByDefault: true },
  { type: 'azurerm_managed_disk', path: 'encryption_settings.enabled' },
  { type: 'azurerm_data_lake_store', path: 'encryption_state', off: 'DISABLED' },
  { type: 'azurerm_automation_variable_string', path: 'encrypted', offByDefault: true },
]

/** The volume's storage encrypts it; only storage class parameters can switch that off. */
const KUBERNETES: EncryptionSwitch[] = [
  { type: 'kubernetes_storage_class', path: 'parameters.encrypted' },
  { type: 'kubernetes_storage_class_v1', path: 'parameters.encrypted' },
]

export const encryptionRules: Rule[] = [
  ...rulesOf('aws', AWS),
  ...rulesOf('azure', AZURE),
  ...rulesOf('kubernetes', KUBERNETES),
]
