/** A block of code that breaks a rule, and one that does not. Both have the same name: `bad` and `fine` stand for it. */
export interface RuleCase {
  rule: string
  type: string
  bad: string
  fine: string
}

const policy = (statement: string) => `jsonencode({ Version = "2012-10-17", Statement = [{ ${statement} }] })`
const allow = (action: string, resource: string) =>
  policy(`Effect = "Allow", Action = ${JSON.stringify(action)}, Resource = ${JSON.stringify(resource)}`)
const anyone = (condition = '') =>
  policy(`Effect = "Allow", Principal = "*", Action = "sns:Publish", Resource = "*"${condition}`)
const ofAccount = ', Condition = { StringEquals = { "aws:SourceAccount" = "123456789012" } }'
const ofOffice = ', Condition = { IpAddress = { "aws:SourceIp" = "198.51.100.7" } }'
const managed = (name: string) => `role       = "deploy"\npolicy_arn = "arn:aws:iam::aws:policy/${name}"`
const opening = (cidr: string, from: number, to = from, protocol = 'tcp') =>
  `ingress {\n  from_port = ${from}\n  to_port = ${to}\n  protocol = "${protocol}"\n  cidr_blocks = ["${cidr}"]\n}`
const trust = (principal: string) =>
  `assume_role_policy = ${policy(`Effect = "Allow", Action = "sts:AssumeRole", Principal = ${principal}`)}`
const tokenTrust = (subject: string) =>
  `assume_role_policy = ${policy(
    'Effect = "Allow", Action = "sts:AssumeRoleWithWebIdentity", ' +
      'Principal = { Federated = "arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com" }, ' +
      `Condition = { StringLike = { "token.actions.githubusercontent.com:sub" = "${subject}" } }`,
  )}`
const brokers = (access: string) => `cluster_name = "NAME"
kafka_version = "3.6.0"
number_of_broker_nodes = 3
broker_node_group_info {
  instance_type = "kafka.m5.large"
  client_subnets = ["subnet-1", "subnet-2", "subnet-3"]
  security_groups = ["sg-1"]
  connectivity_info {
    public_access {
      type = "${access}"
    }
  }
}`
const cluster = (access: string) => `name = "NAME"
role_arn = "arn:aws:iam::123456789012:role/eks"
vpc_config {
  subnet_ids = ["subnet-1", "subnet-2"]
  ${access}
}`
const database = (more: string) =>
  `engine = "postgres"\ninstance_class = "db.t3.micro"\nallocated_storage = 20\nusername = "u"\nmanage_master_user_password = true\n${more}`
const task = (more: string) =>
  `family = "NAME"\ncontainer_definitions = jsonencode([{ name = "x", image = "x", memory = 64, ${more} }])`
const trail = (more: string) => `name = "NAME"\ns3_bucket_name = "trail"\n${more}`
const entry = (cidr: string) =>
  `network_acl_id = "acl-1"\nrule_number = 100\nrule_action = "allow"\nprotocol = "tcp"\ncidr_block = "${cidr}"\nfrom_port = 22\nto_port = 22`
const nodes = (more: string) => `cluster_name = "c"
node_role_arn = "arn:aws:iam::123456789012:role/nodes"
subnet_ids = ["subnet-1"]
scaling_config {
  desired_size = 1
  max_size = 1
  min_size = 1
}
remote_access {
  ec2_ssh_key = "ops"
  ${more}
}`
const table = (more: string) =>
  `name = "NAME"\nbilling_mode = "PAY_PER_REQUEST"\nhash_key = "id"\nattribute {\n  name = "id"\n  type = "S"\n}\n${more}`
const LB = 'arn:aws:elasticloadbalancing:eu-central-1:123456789012'
const listener = (more: string) => `load_balancer_arn = "${LB}:loadbalancer/app/a/1"
port = 443
protocol = "HTTPS"
certificate_arn = "arn:aws:acm:eu-central-1:123456789012:certificate/c"
${more}
default_action {
  type = "forward"
  target_group_arn = "${LB}:targetgroup/t/1"
}`
const plainListener = (action: string) =>
  `load_balancer_arn = "${LB}:loadbalancer/app/a/1"\nport = 80\nprotocol = "HTTP"\ndefault_action {\n  ${action}\n}`
const dax = (more: string) =>
  `cluster_name = "NAME"\nnode_type = "dax.t3.small"\nreplication_factor = 1\niam_role_arn = "arn:aws:iam::123456789012:role/dax"\n${more}`
const port = (rule: string, bad: string, fine: string): RuleCase => ({
  rule: `aws.network.${rule}`,
  type: 'aws_security_group',
  bad,
  fine,
})
const rulePort = (rule: string, bad: string, fine: string): RuleCase => ({
  rule: `aws.network.${rule}`,
  type: 'aws_vpc_security_group_ingress_rule',
  bad: `security_group_id = "sg-1"\n${bad}`,
  fine: `security_group_id = "sg-1"\n${fine}`,
})

/** One for each rule of AWS that a plan of new resources can break; further ones where a rule reads several forms. */
export const RULE_CASES: readonly RuleCase[] = [
  {
    rule: 'aws.compute.public-function-url',
    type: 'aws_lambda_function_url',
    bad: 'function_name = "f"\nauthorization_type = "NONE"',
    fine: 'function_name = "f"\nauthorization_type = "AWS_IAM"',
  },
  {
    rule: 'aws.network.plain-http-listener',
    type: 'aws_lb_listener',
    bad: plainListener(`type = "forward"\n  target_group_arn = "${LB}:targetgroup/t/1"`),
    fine: plainListener(
      'type = "redirect"\n  redirect {\n    port = "443"\n    protocol = "HTTPS"\n    status_code = "HTTP_301"\n  }',
    ),
  },
  {
    rule: 'aws.iam.service-without-source',
    type: 'aws_lambda_permission',
    bad: 'action = "lambda:InvokeFunction"\nfunction_name = "f"\nprincipal = "s3.amazonaws.com"',
    fine: 'action = "lambda:InvokeFunction"\nfunction_name = "f"\nprincipal = "s3.amazonaws.com"\nsource_account = "123456789012"',
  },
  {
    rule: 'aws.network.cluster-address',
    type: 'aws_eks_cluster',
    bad: cluster('public_access_cidrs = ["192.0.2.0/24"]'),
    fine: cluster('public_access_cidrs = ["192.0.2.0/24"]\n  endpoint_public_access = false'),
  },
  {
    rule: 'aws.storage.shared-outside',
    type: 'aws_ami_launch_permission',
    bad: 'image_id = "ami-1"\naccount_id = "123456789012"',
    fine: 'image_id = "ami-1"\ngroup = "all"',
  },
  {
    rule: 'aws.database.public-brokers',
    type: 'aws_msk_cluster',
    bad: brokers('SERVICE_PROVIDED_EIPS'),
    fine: brokers('DISABLED'),
  },
  {
    rule: 'aws.database.public-instance',
    type: 'aws_db_instance',
    bad: database('publicly_accessible = true'),
    fine: database(''),
  },
  {
    rule: 'aws.database.public-search-domain',
    type: 'aws_opensearch_domain',
    bad: `domain_name = "NAME"\naccess_policies = ${anyone()}`,
    fine: `domain_name = "NAME"\naccess_policies = ${anyone(ofOffice)}`,
  },
  {
    rule: 'aws.encryption.disabled',
    type: 'aws_db_instance',
    bad: database('storage_encrypted = false'),
    fine: database('storage_encrypted = true'),
  },
  {
    rule: 'aws.encryption.disabled',
    type: 'aws_kinesis_stream',
    bad: 'name = "NAME"\nshard_count = 1\nencryption_type = "NONE"',
    fine: 'name = "NAME"\nshard_count = 1\nencryption_type = "KMS"\nkms_key_id = "alias/aws/kinesis"',
  },
  {
    rule: 'aws.encryption.disabled',
    type: 'aws_sqs_queue',
    bad: 'name = "NAME"\nsqs_managed_sse_enabled = false',
    fine: 'name = "NAME"',
  },
  {
    rule: 'aws.encryption.disabled',
    type: 'aws_launch_template',
    bad: 'name = "NAME"\nblock_device_mappings {\n  ebs {\n    encrypted = false\n  }\n}',
    fine: 'name = "NAME"\nblock_device_mappings {\n  ebs {\n    volume_size = 8\n  }\n}',
  },
  {
    rule: 'aws.encryption.missing',
    type: 'aws_db_instance',
    bad: database(''),
    fine: database('storage_encrypted = true'),
  },
  {
    rule: 'aws.encryption.missing',
    type: 'aws_efs_file_system',
    bad: 'creation_token = "NAME"',
    fine: 'creation_token = "NAME"\nencrypted = true',
  },
  {
    rule: 'aws.encryption.missing',
    type: 'aws_kinesis_stream',
    bad: 'name = "NAME"\nshard_count = 1',
    fine: 'name = "NAME"\nshard_count = 1\nencryption_type = "KMS"\nkms_key_id = "alias/aws/kinesis"',
  },
  {
    rule: 'aws.encryption.missing',
    type: 'aws_ebs_volume',
    bad: 'availability_zone = "eu-central-1a"\nsize = 1',
    fine: 'availability_zone = "eu-central-1a"\nsize = 1\nencrypted = true',
  },
  {
    rule: 'aws.encryption.missing',
    type: 'aws_neptune_cluster',
    bad: 'cluster_identifier = "NAME"\nskip_final_snapshot = true',
    fine: 'cluster_identifier = "NAME"\nskip_final_snapshot = true\nstorage_encrypted = true',
  },
  {
    rule: 'aws.encryption.missing',
    type: 'aws_elasticache_replication_group',
    bad: 'replication_group_id = "NAME"\ndescription = "d"\nnode_type = "cache.t3.micro"',
    fine: 'replication_group_id = "NAME"\ndescription = "d"\nnode_type = "cache.t3.micro"\nat_rest_encryption_enabled = true',
  },
  {
    rule: 'aws.iam.access-key',
    type: 'aws_iam_access_key',
    bad: 'user = "u"',
    fine: 'user = "u"\nstatus = "Inactive"',
  },
  {
    rule: 'aws.iam.admin-attachment',
    type: 'aws_iam_role_policy_attachment',
    bad: managed('AdministratorAccess'),
    fine: managed('ReadOnlyAccess'),
  },
  {
    rule: 'aws.iam.broad-attachment',
    type: 'aws_iam_role_policy_attachment',
    bad: managed('PowerUserAccess'),
    fine: managed('ReadOnlyAccess'),
  },
  {
    rule: 'aws.iam.admin-policy',
    type: 'aws_iam_policy',
    bad: `name = "NAME"\npolicy = ${allow('*', '*')}`,
    fine: `name = "NAME"\npolicy = ${allow('s3:GetObject', '*')}`,
  },
  {
    rule: 'aws.iam.admin-policy',
    type: 'aws_iam_policy',
    bad: 'name = "NAME"\npolicy = data.aws_iam_policy_document.admin.json',
    fine: 'name = "NAME"\npolicy = data.aws_iam_policy_document.narrow.json',
  },
  {
    rule: 'aws.iam.escalation',
    type: 'aws_iam_policy',
    bad: `name = "NAME"\npolicy = ${allow('iam:PassRole', 'arn:aws:iam::123456789012:role/*')}`,
    fine: `name = "NAME"\npolicy = ${allow('iam:PassRole', 'arn:aws:iam::123456789012:role/web')}`,
  },
  {
    rule: 'aws.iam.full-iam',
    type: 'aws_iam_policy',
    bad: 'name = "NAME"\npolicy = data.aws_iam_policy_document.late.json',
    fine: `name = "NAME"\npolicy = ${allow('iam:Get*', '*')}`,
  },
  {
    rule: 'aws.iam.open-token-trust',
    type: 'aws_iam_role',
    bad: tokenTrust('repo:*'),
    fine: tokenTrust('repo:acme/web:*'),
  },
  {
    rule: 'aws.iam.wide-token-trust',
    type: 'aws_iam_role',
    bad: tokenTrust('repo:acme/*'),
    fine: tokenTrust('repo:acme/web:*'),
  },
  {
    rule: 'aws.iam.not-action',
    type: 'aws_iam_policy',
    bad: `name = "NAME"\npolicy = ${policy('Effect = "Allow", NotAction = ["iam:*"], Resource = "*"')}`,
    fine: `name = "NAME"\npolicy = ${policy('Effect = "Deny", NotAction = ["iam:*"], Resource = "*"')}`,
  },
  {
    rule: 'aws.iam.service-wildcard',
    type: 'aws_iam_role_policy',
    bad: `role = "r"\npolicy = ${allow('s3:*', '*')}`,
    fine: `role = "r"\npolicy = ${allow('s3:*', 'arn:aws:s3:::reports/*')}`,
  },
  {
    rule: 'aws.iam.open-trust-policy',
    type: 'aws_iam_role',
    bad: trust('{ AWS = "*" }'),
    fine: trust('{ AWS = "arn:aws:iam::123456789012:root" }'),
  },
  {
    rule: 'aws.iam.public-lambda-permission',
    type: 'aws_lambda_permission',
    bad: 'function_name = "f"\naction = "lambda:InvokeFunction"\nprincipal = "*"',
    fine: 'function_name = "f"\naction = "lambda:InvokeFunction"\nprincipal = "*"\nsource_account = "123456789012"',
  },
  {
    rule: 'aws.iam.public-resource-policy',
    type: 'aws_sns_topic_policy',
    bad: `arn = "arn:aws:sns:eu-central-1:123456789012:t"\npolicy = ${anyone()}`,
    fine: `arn = "arn:aws:sns:eu-central-1:123456789012:t"\npolicy = ${anyone(ofAccount)}`,
  },
  {
    rule: 'aws.iam.public-resource-policy',
    type: 'aws_sqs_queue',
    bad: `name = "NAME"\npolicy = ${anyone()}`,
    fine: `name = "NAME"\npolicy = ${anyone(ofAccount)}`,
  },
  {
    rule: 'aws.iam.public-resource-policy',
    type: 'aws_sqs_queue_policy',
    bad: 'queue_url = "https://q"\npolicy = data.aws_iam_policy_document.public.json',
    fine: 'queue_url = "https://q"\npolicy = data.aws_iam_policy_document.owner.json',
  },
  port('open-admin-port', opening('0.0.0.0/0', 22), opening('198.51.100.0/24', 22)),
  port('open-all-ports', opening('0.0.0.0/0', 0, 0, '-1'), opening('10.0.0.0/8', 0, 0, '-1')),
  port('open-database-port', opening('0.0.0.0/0', 5432), opening('10.0.0.0/8', 5432)),
  port('open-other-port', opening('0.0.0.0/0', 8080), opening('0.0.0.0/0', 443)),
  rulePort(
    'open-admin-port',
    'cidr_ipv6 = "::/0"\nip_protocol = "tcp"\nfrom_port = 3389\nto_port = 3389',
    'referenced_security_group_id = "sg-2"\nip_protocol = "tcp"\nfrom_port = 3389\nto_port = 3389',
  ),
  rulePort(
    'open-all-ports',
    'cidr_ipv4 = "0.0.0.0/0"\nip_protocol = "-1"',
    'cidr_ipv4 = "10.0.0.0/8"\nip_protocol = "-1"',
  ),
  {
    rule: 'aws.network.public-cluster-endpoint',
    type: 'aws_eks_cluster',
    bad: cluster('public_access_cidrs = ["0.0.0.0/0"]'),
    fine: cluster('public_access_cidrs = ["198.51.100.0/24"]'),
  },
  {
    rule: 'aws.stateful.backups-off',
    type: 'aws_db_instance',
    bad: database('backup_retention_period = 0'),
    fine: database('backup_retention_period = 7'),
  },
  {
    rule: 'aws.storage.force-destroy',
    type: 'aws_s3_bucket',
    bad: 'bucket = "world-NAME"\nforce_destroy = true',
    fine: 'bucket = "world-NAME"',
  },
  {
    rule: 'aws.storage.force-destroy',
    type: 'aws_ecr_repository',
    bad: 'name = "NAME"\nforce_delete = true',
    fine: 'name = "NAME"',
  },
  {
    rule: 'aws.storage.public-access-allowed',
    type: 'aws_s3_bucket_public_access_block',
    bad: 'bucket = "b"',
    fine: 'bucket = "b"\nblock_public_acls = true\nblock_public_policy = true\nignore_public_acls = true\nrestrict_public_buckets = true',
  },
  {
    rule: 'aws.storage.public-bucket-acl',
    type: 'aws_s3_bucket_acl',
    bad: 'bucket = "b"\nacl = "public-read"',
    fine: 'bucket = "b"\nacl = "private"',
  },
  {
    rule: 'aws.storage.public-bucket-acl',
    type: 'aws_s3_bucket_acl',
    bad: 'bucket = "b"\naccess_control_policy {\n  owner {\n    id = "o"\n  }\n  grant {\n    permission = "READ"\n    grantee {\n      type = "Group"\n      uri = "http://acs.amazonaws.com/groups/global/AllUsers"\n    }\n  }\n}',
    fine: 'bucket = "b"\naccess_control_policy {\n  owner {\n    id = "o"\n  }\n  grant {\n    permission = "WRITE"\n    grantee {\n      type = "Group"\n      uri = "http://acs.amazonaws.com/groups/s3/LogDelivery"\n    }\n  }\n}',
  },
  {
    rule: 'aws.storage.public-bucket-policy',
    type: 'aws_s3_bucket_policy',
    bad: `bucket = "b"\npolicy = ${anyone()}`,
    fine: `bucket = "b"\npolicy = ${anyone(ofAccount)}`,
  },
  {
    rule: 'aws.storage.public-snapshot',
    type: 'aws_db_snapshot',
    bad: 'db_instance_identifier = "d"\ndb_snapshot_identifier = "NAME"\nshared_accounts = ["all"]',
    fine: 'db_instance_identifier = "d"\ndb_snapshot_identifier = "NAME"\nshared_accounts = ["210987654321"]',
  },
  {
    rule: 'aws.storage.public-snapshot',
    type: 'aws_ami_launch_permission',
    bad: 'image_id = "ami-1"\ngroup = "all"',
    fine: 'image_id = "ami-1"\naccount_id = "210987654321"',
  },
  {
    rule: 'aws.access.no-sign-in',
    type: 'aws_api_gateway_method',
    bad: 'rest_api_id = "a"\nresource_id = "r"\nhttp_method = "POST"\nauthorization = "NONE"',
    fine: 'rest_api_id = "a"\nresource_id = "r"\nhttp_method = "POST"\nauthorization = "AWS_IAM"',
  },
  {
    rule: 'aws.compute.metadata-without-token',
    type: 'aws_launch_template',
    bad: 'image_id = "ami-1"',
    fine: 'image_id = "ami-1"\nmetadata_options {\n  http_tokens = "required"\n}',
  },
  {
    rule: 'aws.compute.privileged',
    type: 'aws_ecs_task_definition',
    bad: task('privileged = true'),
    fine: task('privileged = false'),
  },
  { rule: 'aws.encryption.no-key-rotation', type: 'aws_kms_key', bad: '', fine: 'enable_key_rotation = true' },
  {
    rule: 'aws.evidence.incomplete',
    type: 'aws_cloudtrail',
    bad: trail(''),
    fine: trail('is_multi_region_trail = true\nenable_log_file_validation = true'),
  },
  { rule: 'aws.evidence.stopped', type: 'aws_cloudtrail', bad: trail('enable_logging = false'), fine: trail('') },
  {
    rule: 'aws.logging.missing',
    type: 'aws_cloudtrail',
    bad: trail(''),
    fine: trail(
      'cloud_watch_logs_group_arn = "arn:aws:logs:eu-central-1:123456789012:log-group:t:*"\ncloud_watch_logs_role_arn = "arn:aws:iam::123456789012:role/t"',
    ),
  },
  {
    rule: 'aws.network.open-access-list',
    type: 'aws_network_acl_rule',
    bad: entry('0.0.0.0/0'),
    fine: entry('10.0.0.0/8'),
  },
  {
    rule: 'aws.network.open-node-ssh',
    type: 'aws_eks_node_group',
    bad: nodes(''),
    fine: nodes('source_security_group_ids = ["sg-1"]'),
  },
  {
    rule: 'aws.network.public-cluster-endpoint',
    type: 'aws_eks_cluster',
    bad: cluster(''),
    fine: cluster('endpoint_public_access = false\nendpoint_private_access = true'),
  },
  {
    rule: 'aws.network.public-endpoint',
    type: 'aws_transfer_server',
    bad: '',
    fine: 'endpoint_type = "VPC"\nendpoint_details {\n  vpc_id = "vpc-1"\n}',
  },
  {
    rule: 'aws.network.public-machine',
    type: 'aws_instance',
    bad: 'ami = "ami-1"\ninstance_type = "t3.micro"\nassociate_public_ip_address = true',
    fine: 'ami = "ami-1"\ninstance_type = "t3.micro"\nassociate_public_ip_address = false',
  },
  {
    rule: 'aws.stateful.no-backups',
    type: 'aws_dynamodb_table',
    bad: table(''),
    fine: table('point_in_time_recovery {\n  enabled = true\n}'),
  },
  {
    rule: 'aws.stateful.unprotected',
    type: 'aws_dynamodb_table',
    bad: table(''),
    fine: table('deletion_protection_enabled = true'),
  },
  {
    rule: 'aws.transit.old-tls',
    type: 'aws_lb_listener',
    bad: listener(''),
    fine: listener('ssl_policy = "ELBSecurityPolicy-TLS13-1-2-2021-06"'),
  },
  {
    rule: 'aws.transit.plain',
    type: 'aws_msk_cluster',
    bad: `${brokers('DISABLED')}\nencryption_info {\n  encryption_in_transit {\n    client_broker = "PLAINTEXT"\n  }\n}`,
    fine: brokers('DISABLED'),
  },
  {
    rule: 'aws.transit.plain-by-default',
    type: 'aws_dax_cluster',
    bad: dax(''),
    fine: dax('cluster_endpoint_encryption_type = "TLS"'),
  },
]

const DOCUMENTS = `data "aws_iam_policy_document" "admin" {
  statement {
    actions   = ["*"]
    resources = ["*"]
  }
}

data "aws_iam_policy_document" "narrow" {
  statement {
    actions   = ["s3:GetObject"]
    resources = ["arn:aws:s3:::reports/*"]
  }
}

resource "aws_s3_bucket" "late" {
  bucket_prefix = "late"
}

data "aws_iam_policy_document" "late" {
  source_policy_documents = [data.aws_iam_policy_document.public.json]
  statement {
    actions   = ["iam:*"]
    resources = ["*"]
  }
}

data "aws_iam_policy_document" "public" {
  statement {
    actions   = ["sqs:SendMessage"]
    resources = ["*", aws_s3_bucket.late.arn]
    principals {
      type        = "AWS"
      identifiers = ["*"]
    }
  }
}

data "aws_iam_policy_document" "owner" {
  source_policy_documents = [data.aws_iam_policy_document.public.json]
  statement {
    effect    = "Deny"
    actions   = ["sqs:*"]
    resources = ["*", aws_s3_bucket.late.arn]
    principals {
      type        = "AWS"
      identifiers = ["*"]
    }
    condition {
      test     = "StringNotEquals"
      variable = "aws:PrincipalAccount"
      values   = ["123456789012"]
    }
  }
}
`

const block = (type: string, name: string, body: string) =>
  `resource "${type}" "${name}" {\n${body.replaceAll('NAME', name.replaceAll('_', '-'))}\n}\n`

/** All cases as one root: `<type>.bad_<n>` and `<type>.fine_<n>`. */
export const RULE_CODE: string = [
  DOCUMENTS,
  ...RULE_CASES.flatMap(({ type, bad, fine }, index) => [
    block(type, `bad_${index}`, bad),
    block(type, `fine_${index}`, fine),
  ]),
].join('\n')
