import { audiencesOf, EVERY_PORT, isOpen, networkRules, type Opening, protocolOf } from '../network.ts'
import type { Rule, Subject, View } from '../rule.ts'
import { blocksAt, blocksOf, flagOf, flagsAre, hasValue, isUnknown, numberOf, textOf, textsOf } from '../view.ts'

const PUBLIC_ACLS = ['public-read', 'public-read-write', 'authenticated-read']
const EVERYONE = /\/groups\/global\/(AllUsers|AuthenticatedUsers)$/

/** Types of security groups, whose inline blocks are rules. */
const GROUPS = ['aws_security_group', 'aws_default_security_group']
/** Types with openings: security groups, both resource types of their rules, and Lightsail. */
const OPENING_TYPES = [
  ...GROUPS,
  'aws_security_group_rule',
  'aws_vpc_security_group_ingress_rule',
  'aws_lightsail_instance_public_ports',
]

export const awsExposureRules: Rule[] = [
  ...networkRules('aws', OPENING_TYPES, openings),
  {
    id: 'aws.storage.public-bucket-acl',
    title: 'Public access list of a bucket',
    reason: 'Anyone on the internet, or with any AWS account, can read or even write the objects.',
    fix: 'Use the private access list and name readers in a bucket policy.',
    severity: 'error',
    types: ['aws_s3_bucket', 'aws_s3_bucket_acl', 'aws_s3_object', 'aws_s3_bucket_object'],
    check: (subject) => {
      const acl = PUBLIC_ACLS.find((name) => textOf(subject, 'acl') === name)
      const grants = [...blocksAt(subject, 'access_control_policy.grant.grantee'), ...blocksOf(subject, 'grant')].some(
        (grantee) => EVERYONE.test(textOf(grantee, 'uri') ?? ''),
      )
      return [...(acl ? [`The access list is ${acl}.`] : []), ...(grants ? ['A grant names everyone.'] : [])]
    },
  },
  {
    id: 'aws.storage.public-access-allowed',
    title: 'Block of public access switched off',
    reason: 'The block is what stops a public policy or access list that slips in later.',
    fix: 'Set all four switches to true.',
    severity: 'warning',
    types: ['aws_s3_bucket_public_access_block', 'aws_s3_account_public_access_block'],
    check: flagsAre(false, 'block_public_acls', 'block_public_policy', 'ignore_public_acls', 'restrict_public_buckets'),
  },
  {
    id: 'aws.storage.public-access-block-removed',
    title: 'Block of public access removed',
    reason: 'Without it a public policy or access list takes effect.',
    fix: 'Keep the block while the bucket exists.',
    severity: 'warning',
    types: ['aws_s3_bucket_public_access_block', 'aws_s3_account_public_access_block'],
    looksAt: 'change',
    message: 'The block of public access is deleted.',
    isBrokenBy: ({ action }) => action === 'delete',
  },
  {
    id: 'aws.database.public-instance',
    title: 'Database with a public address',
    reason: 'The database can be reached from the internet as soon as its security group allows it.',
    fix: 'Set publicly_accessible to false and reach it from inside the network.',
    severity: 'error',
    types: [
      'aws_db_instance',
      'aws_rds_cluster_instance',
      'aws_docdb_cluster_instance',
      'aws_neptune_cluster_instance',
      'aws_redshift_cluster',
      'aws_redshiftserverless_workgroup',
      'aws_dms_replication_instance',
      'aws_mq_broker',
    ],
    check: flagsAre(true, 'publicly_accessible'),
  },
  {
    id: 'aws.database.public-brokers',
    title: 'Kafka brokers with public addresses',
    reason: 'Brokers with public addresses are reachable from the internet.',
    fix: 'Leave public access disabled and connect from inside the network.',
    severity: 'error',
    types: ['aws_msk_cluster'],
    message: 'The brokers get public addresses.',
    isBrokenBy: (subject) =>
      hasValue(subject, 'broker_node_group_info.connectivity_info.public_access.type', 'SERVICE_PROVIDED_EIPS'),
  },
  {
    id: 'aws.storage.public-snapshot',
    title: 'Snapshot or image shared with everyone',
    reason: 'Every AWS account can copy the data in it.',
    fix: 'Share with named accounts only.',
    severity: 'error',
    types: ['aws_db_snapshot', 'aws_db_cluster_snapshot', 'aws_ami_launch_permission'],
    message: 'It is shared with every account.',
    isBrokenBy: (subject) => textsOf(subject, 'shared_accounts').includes('all') || textOf(subject, 'group') === 'all',
  },
  {
    id: 'aws.network.public-cluster-endpoint',
    title: 'Kubernetes API open to the internet',
    reason: 'Anyone can reach the API of the cluster; only its authentication is left between.',
    fix: 'Name the networks in public_access_cidrs, or use the private endpoint only.',
    severity: 'warning',
    types: ['aws_eks_cluster'],
    message: 'The public endpoint of the cluster admits every address.',
    isBrokenBy: (subject) =>
      blocksOf(subject, 'vpc_config').some(
        (config) => flagOf(config, 'endpoint_public_access') !== false && isOpen(config, 'public_access_cidrs'),
      ),
  },
  {
    id: 'aws.storage.force-destroy',
    title: 'Deletion does not ask whether it is empty',
    reason: 'A later deletion takes everything inside with it, without a question.',
    fix: 'Leave force_destroy (force_delete) off where data matters.',
    severity: 'warning',
    types: ['aws_s3_bucket', 'aws_ecr_repository', 'aws_backup_vault', 'aws_route53_zone', 'aws_s3_directory_bucket'],
    check: flagsAre(true, 'force_destroy', 'force_delete'),
  },
]

function openings(subject: Subject): Opening[] {
  if (GROUPS.includes(subject.type)) return blocksOf(subject, 'ingress').flatMap((rule) => openingsOf(rule, 'protocol'))
  if (subject.type === 'aws_security_group_rule')
    return textOf(subject, 'type') === 'ingress' ? openingsOf(subject, 'protocol') : []
  if (subject.type === 'aws_vpc_security_group_ingress_rule') return openingsOf(subject, 'ip_protocol')
  return blocksOf(subject, 'port_info').flatMap((rule) => openingsOf(rule, 'protocol'))
}

const SOURCES = ['cidr_blocks', 'ipv6_cidr_blocks', 'cidr_ipv4', 'cidr_ipv6', 'cidrs', 'ipv6_cidrs']

function openingsOf(rule: View, protocolKey: string): Opening[] {
  const protocol = protocolOf(textOf(rule, protocolKey))
  const ports = portsOf(rule, protocol === 'all')
  if (ports === null) return []
  return audiencesOf(SOURCES.flatMap((key) => textsOf(rule, key))).map((audience) => ({ audience, protocol, ...ports }))
}

/** Returns the ports of a rule; null when they are unknown before the apply or not set. */
function portsOf(rule: View, all: boolean): { from: number; to: number } | null {
  if (all) return EVERY_PORT
  if (isUnknown(rule, 'from_port') || isUnknown(rule, 'to_port')) return null
  const from = numberOf(rule, 'from_port')
  const to = numberOf(rule, 'to_port') ?? from
  return from === null || to === null ? null : { from, to }
}
