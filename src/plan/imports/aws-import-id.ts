/** The parts of an ARN; `resource` is everything behind the account. */
interface Arn {
  partition: string
  region: string
  account: string
  resource: string
}

/** What the engine's provider takes instead of the ARN. */
type Form = (arn: Arn) => string

const last: Form = ({ resource }) => resource.slice(Math.max(resource.lastIndexOf('/'), resource.lastIndexOf(':')) + 1)
const whole: Form = ({ resource }) => resource
/** Everything behind the first separator: names may hold further ones. */
const named: Form = ({ resource }) => resource.replace(/^[a-z-]+[:/]/i, '')
/** A name means something else in every region, so the region goes along (provider 6; an earlier one finds nothing). */
const regional =
  (form: Form): Form =>
  (arn) =>
    `${form(arn)}@${arn.region}`

/** By the type of the resource block. Types that are imported by their ARN are not here. */
const FORMS: Record<string, Form> = {
  ...forEach(
    [
      ...[
        'aws_instance',
        'aws_vpc',
        'aws_subnet',
        'aws_security_group',
        'aws_internet_gateway',
        'aws_egress_only_internet_gateway',
      ],
      ...[
        'aws_nat_gateway',
        'aws_route_table',
        'aws_network_acl',
        'aws_network_interface',
        'aws_ebs_volume',
        'aws_ebs_snapshot',
        'aws_ami',
      ],
      ...[
        'aws_eip',
        'aws_vpc_endpoint',
        'aws_vpc_peering_connection',
        'aws_vpc_dhcp_options',
        'aws_flow_log',
        'aws_launch_template',
      ],
      ...[
        'aws_customer_gateway',
        'aws_vpn_gateway',
        'aws_vpn_connection',
        'aws_ec2_transit_gateway',
        'aws_ec2_managed_prefix_list',
      ],
      ...[
        'aws_efs_file_system',
        'aws_efs_access_point',
        'aws_kms_key',
        'aws_cloudfront_distribution',
        'aws_route53_zone',
      ],
      ...['aws_iam_role', 'aws_iam_user', 'aws_iam_group', 'aws_iam_instance_profile'],
    ],
    last,
  ),
  ...forEach(
    [
      ...[
        'aws_s3_bucket',
        'aws_s3_bucket_versioning',
        'aws_s3_bucket_server_side_encryption_configuration',
        'aws_s3_bucket_policy',
      ],
      ...[
        'aws_s3_bucket_public_access_block',
        'aws_s3_bucket_lifecycle_configuration',
        'aws_s3_bucket_ownership_controls',
      ],
      ...[
        'aws_s3_bucket_logging',
        'aws_s3_bucket_acl',
        'aws_s3_bucket_cors_configuration',
        'aws_s3_bucket_notification',
      ],
    ],
    whole,
  ),
  ...forEach(
    [
      ...[
        'aws_lambda_function',
        'aws_dynamodb_table',
        'aws_db_instance',
        'aws_rds_cluster',
        'aws_db_subnet_group',
        'aws_db_parameter_group',
      ],
      ...['aws_eks_cluster', 'aws_ecs_cluster', 'aws_ecr_repository', 'aws_redshift_cluster', 'aws_kinesis_stream'],
      ...[
        'aws_elasticache_cluster',
        'aws_elasticache_replication_group',
        'aws_elasticache_subnet_group',
        'aws_cloudwatch_metric_alarm',
      ],
    ],
    regional(named),
  ),
  aws_cloudwatch_log_group: regional((arn) => named(arn).replace(/:\*$/, '')),
  aws_kms_alias: regional(whole),
  aws_sqs_queue: ({ partition, region, account, resource }) =>
    `https://sqs.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}/${account}/${resource}`,
}

/**
 * The identifier by which the engine's AWS provider imports a resource that an inventory names by its ARN;
 * null when it takes the ARN, or when it is not known what it takes.
 * @param address of the resource block
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

function forEach(types: readonly string[], form: Form): Record<string, Form> {
  return Object.fromEntries(types.map((type) => [type, form]))
}
