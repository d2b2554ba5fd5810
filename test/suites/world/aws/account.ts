import { ACCOUNT, REGION } from './call.ts'

/** Names of resources in the form of Resource Explorer, from the attributes that the provider has of them. */
type ArnOf = (attributes: Record<string, string>) => string

interface Block {
  /** Arguments of the block. */
  body: string
  /** The ARN where the provider has no attribute `arn` or has another one there. */
  arn?: ArnOf
}

const arn = (service: string, resource: string) => `arn:aws:${service}:${REGION}:${ACCOUNT}:${resource}`
const ec2 =
  (kind: string): ArnOf =>
  ({ id }) =>
    arn('ec2', `${kind}/${id}`)
const ofBucket: ArnOf = () => 'arn:aws:s3:::world-reports'
const trust = (service: string) =>
  `jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "${service}" } }] })`

const bucket = 'bucket = aws_s3_bucket.x.id'
const vpc = 'vpc_id = aws_vpc.x.id'
const tags = 'tags = { Name = "world" }'

/** The resources of the network, by type. */
const NETWORK: Record<string, Block> = {
  aws_vpc: { body: `cidr_block = "10.20.0.0/16"\n${tags}` },
  aws_subnet: { body: `${vpc}\ncidr_block = "10.20.1.0/24"\navailability_zone = "${REGION}a"` },
  aws_security_group: { body: `${vpc}\nname = "world"\ndescription = "world"\nrevoke_rules_on_delete = true` },
  aws_vpc_security_group_ingress_rule: {
    body: 'security_group_id = aws_security_group.x.id\ncidr_ipv4 = "10.0.0.0/8"\nip_protocol = "tcp"\nfrom_port = 443\nto_port = 443',
  },
  aws_internet_gateway: { body: vpc },
  aws_egress_only_internet_gateway: { body: vpc, arn: ec2('egress-only-internet-gateway') },
  aws_eip: { body: 'domain = "vpc"', arn: ec2('elastic-ip') },
  aws_nat_gateway: { body: 'allocation_id = aws_eip.x.id\nsubnet_id = aws_subnet.x.id', arn: ec2('natgateway') },
  aws_route_table: { body: vpc },
  aws_network_acl: { body: vpc },
  aws_network_interface: { body: 'subnet_id = aws_subnet.x.id' },
  aws_vpc_dhcp_options: { body: 'domain_name = "world.internal"' },
  aws_vpc_endpoint: { body: `${vpc}\nservice_name = "com.amazonaws.${REGION}.s3"` },
  aws_ec2_managed_prefix_list: { body: 'name = "world"\naddress_family = "IPv4"\nmax_entries = 2' },
  aws_customer_gateway: { body: 'bgp_asn = 65000\nip_address = "192.0.2.1"\ntype = "ipsec.1"' },
  aws_vpn_gateway: { body: vpc },
  aws_launch_template: { body: 'name = "world"\ninstance_type = "t3.micro"' },
  aws_ebs_volume: { body: `availability_zone = "${REGION}a"\nsize = 1\nfinal_snapshot = true` },
  aws_ebs_snapshot: { body: 'volume_id = aws_ebs_volume.x.id', arn: ec2('snapshot') },
}

/** Storage, messages, data, compute and keys. */
const SERVICES: Record<string, Block> = {
  aws_s3_bucket: { body: 'bucket = "world-reports"\nforce_destroy = true' },
  aws_s3_bucket_versioning: { body: `${bucket}\nversioning_configuration {\n  status = "Enabled"\n}`, arn: ofBucket },
  aws_s3_bucket_server_side_encryption_configuration: {
    body: `${bucket}\nrule {\n  apply_server_side_encryption_by_default {\n    sse_algorithm = "AES256"\n  }\n}`,
    arn: ofBucket,
  },
  aws_s3_bucket_public_access_block: { body: `${bucket}\nblock_public_acls = true`, arn: ofBucket },
  aws_s3_bucket_ownership_controls: {
    body: `${bucket}\nrule {\n  object_ownership = "BucketOwnerEnforced"\n}`,
    arn: ofBucket,
  },
  aws_s3_bucket_cors_configuration: {
    body: `${bucket}\ncors_rule {\n  allowed_methods = ["GET"]\n  allowed_origins = ["https://example.com"]\n}`,
    arn: ofBucket,
  },
  aws_s3_bucket_policy: {
    body: `${bucket}\npolicy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Deny", Principal = "*", Action = "s3:*", Resource = "arn:aws:s3:::world-reports/*" }] })`,
    arn: ofBucket,
  },
  aws_sqs_queue: { body: 'name = "world"' },
  aws_sns_topic: { body: 'name = "world"' },
  aws_dynamodb_table: {
    body: 'name = "world"\nbilling_mode = "PAY_PER_REQUEST"\nhash_key = "id"\nattribute {\n  name = "id"\n  type = "S"\n}',
  },
  aws_kinesis_stream: { body: 'name = "world"\nshard_count = 1\nenforce_consumer_deletion = true' },
  aws_iam_role: { body: `name = "world"\nassume_role_policy = ${trust('lambda.amazonaws.com')}` },
  aws_iam_user: { body: 'name = "world"\nforce_destroy = true' },
  aws_iam_group: { body: 'name = "world"' },
  aws_iam_instance_profile: { body: 'name = "world"\nrole = aws_iam_role.x.name' },
  aws_iam_policy: {
    body: 'name = "world"\npolicy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "s3:GetObject", Resource = "*" }] })',
  },
  aws_kms_key: { body: 'description = "world"\ndeletion_window_in_days = 7' },
  aws_kms_alias: { body: 'name = "alias/world"\ntarget_key_id = aws_kms_key.x.key_id' },
  aws_cloudwatch_metric_alarm: {
    body: 'alarm_name = "world"\ncomparison_operator = "GreaterThanThreshold"\nevaluation_periods = 1\nmetric_name = "CPUUtilization"\nnamespace = "AWS/EC2"\nperiod = 60\nstatistic = "Average"\nthreshold = 80',
  },
  aws_cloudwatch_log_group: { body: 'name = "/world/app"', arn: ({ arn: own }) => `${own}:*` },
  aws_cloudwatch_event_rule: { body: 'name = "world"\nschedule_expression = "rate(1 hour)"' },
  aws_ssm_parameter: { body: 'name = "/world/url"\ntype = "String"\nvalue = "https://example.com"' },
  aws_secretsmanager_secret: { body: 'name = "world"' },
  aws_lambda_function: {
    body: 'function_name = "world"\nrole = aws_iam_role.x.arn\nfilename = "code.zip"\nhandler = "index.handler"\nruntime = "nodejs20.x"',
  },
  aws_ecr_repository: { body: 'name = "world/app"\nforce_delete = true' },
  aws_ecs_cluster: { body: 'name = "world"' },
  aws_efs_file_system: { body: 'creation_token = "world"' },
  aws_db_subnet_group: { body: 'name = "world"\nsubnet_ids = [aws_subnet.x.id, aws_subnet.second.id]' },
  aws_db_parameter_group: { body: 'name = "world"\nfamily = "postgres16"' },
  aws_db_instance: {
    body: 'identifier = "world"\nengine = "postgres"\nengine_version = "16.3"\ninstance_class = "db.t3.micro"\nallocated_storage = 20\nusername = "world"\npassword = "correct-horse"\nskip_final_snapshot = true\nfinal_snapshot_identifier = "world"',
  },
  aws_rds_cluster: {
    body: 'cluster_identifier = "world-cluster"\nengine = "aurora-postgresql"\nmaster_username = "world"\nmaster_password = "correct-horse"\nskip_final_snapshot = true',
  },
  aws_elasticache_subnet_group: { body: 'name = "world"\nsubnet_ids = [aws_subnet.x.id]' },
  aws_route53_zone: { body: 'name = "world.example.com"\nforce_destroy = true' },
}

export const BLOCKS: Record<string, Block> = { ...NETWORK, ...SERVICES }

const SECOND_SUBNET = `resource "aws_subnet" "second" {
  vpc_id            = aws_vpc.x.id
  cidr_block        = "10.20.2.0/24"
  availability_zone = "${REGION}b"
}
`

/** The whole account as code; the block of each type is called `x`. */
export const ACCOUNT_CODE: string = [
  ...Object.entries(BLOCKS).map(([type, { body }]) => `resource "${type}" "x" {\n${body}\n}\n`),
  SECOND_SUBNET,
].join('\n')

/** The ARN by which Resource Explorer lists what is at `<type>.x`. */
export function listedArn(type: string, attributes: Record<string, string>): string {
  const { arn: own } = BLOCKS[type] ?? {}
  const found = own ? own(attributes) : attributes.arn
  if (!found?.startsWith('arn:')) throw new Error(`${type} has no ARN`)
  return found
}
