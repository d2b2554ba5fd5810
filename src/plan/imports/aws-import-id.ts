/** The parts of an ARN `arn:<partition>:<service>:<region>:<account>:<resource>`. */
interface Arn {
  partition: string
  region: string
  account: string
  resource: string
}

/** Makes the identifier that the engine's AWS provider expects from the parts of an ARN. */
type Form = (arn: Arn) => string

const lastSegment: Form = ({ resource }) =>
  resource.slice(Math.max(resource.lastIndexOf('/'), resource.lastIndexOf(':')) + 1)
const wholeResource: Form = ({ resource }) => resource
/** Everything behind the first separator, since a name may contain further ones: `table/a/b` becomes `a/b`. */
const afterFirstSeparator: Form = ({ resource }) => resource.replace(/^[a-z-]+[:/]/i, '')
/**
 * Appends the region, because the same name may exist in every region. Version 6 of the provider understands
 * `name@region`; an earlier one finds nothing under it.
 */
const withRegion =
  (form: Form): Form =>
  (arn) =>
    `${form(arn)}@${arn.region}`

const BY_LAST_SEGMENT = [
  'aws_instance',
  'aws_vpc',
  'aws_subnet',
  'aws_security_group',
  'aws_internet_gateway',
  'aws_egress_only_internet_gateway',
  'aws_nat_gateway',
  'aws_route_table',
  'aws_network_acl',
  'aws_network_interface',
  'aws_ebs_volume',
  'aws_ebs_snapshot',
  'aws_ami',
  'aws_eip',
  'aws_vpc_endpoint',
  'aws_vpc_peering_connection',
  'aws_vpc_dhcp_options',
  'aws_flow_log',
  'aws_launch_template',
  'aws_customer_gateway',
  'aws_vpn_gateway',
  'aws_vpn_connection',
  'aws_ec2_transit_gateway',
  'aws_ec2_managed_prefix_list',
  'aws_efs_file_system',
  'aws_efs_access_point',
  'aws_kms_key',
  'aws_cloudfront_distribution',
  'aws_route53_zone',
  'aws_iam_role',
  'aws_iam_user',
  'aws_iam_group',
  'aws_iam_instance_profile',
]
const BY_WHOLE_RESOURCE = [
  'aws_s3_bucket',
  'aws_s3_bucket_versioning',
  'aws_s3_bucket_server_side_encryption_configuration',
  'aws_s3_bucket_policy',
  'aws_s3_bucket_public_access_block',
  'aws_s3_bucket_lifecycle_configuration',
  'aws_s3_bucket_ownership_controls',
  'aws_s3_bucket_logging',
  'aws_s3_bucket_acl',
  'aws_s3_bucket_cors_configuration',
  'aws_s3_bucket_notification',
]
const BY_NAME_AND_REGION = [
  'aws_lambda_function',
  'aws_dynamodb_table',
  'aws_db_instance',
  'aws_rds_cluster',
  'aws_db_subnet_group',
  'aws_db_parameter_group',
  'aws_eks_cluster',
  'aws_ecs_cluster',
  'aws_ecr_repository',
  'aws_redshift_cluster',
  'aws_kinesis_stream',
  'aws_elasticache_cluster',
  'aws_elasticache_replication_group',
  'aws_elasticache_subnet_group',
  'aws_cloudwatch_metric_alarm',
]

/** The form for each type of resource block. Types that are imported by their ARN are not listed. */
const FORMS: Record<string, Form> = {
  ...toEach(BY_LAST_SEGMENT, lastSegment),
  ...toEach(BY_WHOLE_RESOURCE, wholeResource),
  ...toEach(BY_NAME_AND_REGION, withRegion(afterFirstSeparator)),
  aws_cloudwatch_log_group: withRegion((arn) => afterFirstSeparator(arn).replace(/:\*$/, '')),
  aws_kms_alias: withRegion(wholeResource),
  aws_sqs_queue: ({ partition, region, account, resource }) =>
    `https://sqs.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}/${account}/${resource}`,
}

/**
 * The identifier by which the engine's AWS provider imports a resource that an inventory lists by its ARN; null when
 * the provider expects the ARN itself, or when it is not known what it expects.
 * @param address address of the resource block
 * @param resourceId ARN of the resource
 */
export function awsImportId(address: string, resourceId: string): string | null {
  const type = address.replace(INDEXES, '').split('.').at(-2) ?? ''
  const form = Object.hasOwn(FORMS, type) ? FORMS[type] : undefined
  const arn = /^arn:(aws[a-z-]*):[a-z0-9-]+:([a-z0-9-]*):(\d*):(.+)$/.exec(resourceId)
  if (!form || !arn) return null
  const [, partition = '', region = '', account = '', resource = ''] = arn
  const id = form({ partition, region, account, resource })
  return id.startsWith('@') || id.endsWith('@') || id === resourceId ? null : id
}

const INDEXES = /\[(?:"(?:\\.|[^"\\])*"|\d+)\]/g

function toEach(types: readonly string[], form: Form): Record<string, Form> {
  return Object.fromEntries(types.map((type) => [type, form]))
}
